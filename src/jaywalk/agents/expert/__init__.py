"""The expert: a privileged rule-based driver."""
