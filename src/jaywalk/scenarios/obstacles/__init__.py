"""Scenarios with standing obstacles on the lane."""
