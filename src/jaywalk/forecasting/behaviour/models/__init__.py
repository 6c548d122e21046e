"""Behaviour models by name."""
