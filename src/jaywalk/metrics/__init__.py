"""Metrics: pure functions of records and data sets, one file each."""
