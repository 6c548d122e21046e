"""Attributes of walkers that CARLA does not have."""

from typing import Final

#: Things that a person holds, pushes or wears, separated by spaces, as in ``phone rucksack``.
CARRIES: Final = "carries"
