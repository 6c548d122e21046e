"""Scenarios in which people or animals cross the road."""
