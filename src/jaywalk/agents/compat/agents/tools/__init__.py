"""Stands in for the package of this name when it is not installed."""
