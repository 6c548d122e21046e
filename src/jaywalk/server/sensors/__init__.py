"""Sensors of the world and the geometry that they measure."""
