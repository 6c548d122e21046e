"""Studies of flaws of the realism score, which run on any data."""
