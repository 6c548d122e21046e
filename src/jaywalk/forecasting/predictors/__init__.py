"""Predictors by name, and those that need no training."""
