"""Helpers above the wire, written against the ``carla`` package."""
