"""Jaywalk tests driving systems around people."""

from jaywalk.core.process import ensure_home

__version__ = "0.3.0"

ensure_home()  # before anything imports the carla wheel, which crashes without one
