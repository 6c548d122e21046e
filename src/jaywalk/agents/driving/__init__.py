"""Shared parts of our drivers: perception, route line, signals, following, controls."""
