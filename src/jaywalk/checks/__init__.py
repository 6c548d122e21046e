"""Checks a user runs: agent wiring, machine health, scenario staging and picture sheets."""
