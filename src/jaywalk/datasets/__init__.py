"""Readers of public datasets, one file each, into typed tables."""
