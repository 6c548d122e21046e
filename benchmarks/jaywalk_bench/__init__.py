"""Measures Jaywalk from outside, as a client sees it."""
