"""Metrics of pedestrian forecasts, one file each: pure functions of arrays, without datasets."""
