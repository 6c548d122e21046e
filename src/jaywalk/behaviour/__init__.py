"""Intention, action and risk on JAAD and PIE: samples, factors and scores."""
