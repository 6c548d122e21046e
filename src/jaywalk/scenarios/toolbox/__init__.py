"""Scenario files: written, read, checked, paired, and converted to route files."""
