"""Metrics: pure functions of records and result files; they never see a simulator."""
