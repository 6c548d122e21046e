"""Boxes, capsules and corridors: distances, overlaps, time to collision."""
