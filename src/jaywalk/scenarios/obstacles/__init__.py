"""Scenarios with something standing in the lane."""
