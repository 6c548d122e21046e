"""Scenarios as one readable file: written, read, checked, paired, and turned into route files."""
