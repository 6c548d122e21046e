"""Intervals and comparisons: exact and Wilson intervals, cluster bootstraps, paired tests."""
