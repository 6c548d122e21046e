"""What a distribution shift costs: scores of pairs of routes that differ only in the shift."""
