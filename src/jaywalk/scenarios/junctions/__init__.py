"""Scenarios at junctions."""
