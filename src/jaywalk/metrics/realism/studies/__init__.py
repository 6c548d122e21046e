"""The flaws of the realism score as experiments on any data."""
