"""Clips as people's lives: placed on the ground, joined without pops, many people at once."""
