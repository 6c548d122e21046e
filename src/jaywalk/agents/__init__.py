"""Drivers: one file each, all through the ``carla`` package alone."""
