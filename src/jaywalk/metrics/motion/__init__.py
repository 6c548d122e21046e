"""Metrics of natural motion: feet, ground, smoothness, gait, distance between collections."""
