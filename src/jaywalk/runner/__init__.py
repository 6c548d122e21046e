"""Episodes in, records out."""
