"""Metrics of intention, action and risk models: accurate, timely, balanced, consistent.

All functions take multiplicities of pedestrians where an interval is wanted, so that a cluster
bootstrap is a matrix product and never a loop over samples.
"""
