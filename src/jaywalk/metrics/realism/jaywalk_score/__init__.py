"""Jaywalk's own realism score."""
