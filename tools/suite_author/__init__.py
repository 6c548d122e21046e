"""Authoring of the shipped suites."""
