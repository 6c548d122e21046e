"""Criteria of the public protocols, one file each: pure functions of a record."""
