"""Jaywalk tests driving systems around people."""

__version__ = "0.1.0"
