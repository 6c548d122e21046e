"""Baseline drivers: blind, bold, cruise, timid and comfort-zone."""
