"""Poses in CARLA's world."""

from __future__ import annotations

from typing import NamedTuple


class CarlaPose(NamedTuple):
    """Position (metres) and rotation (degrees) in CARLA's left-handed world."""

    x: float
    y: float
    z: float
    pitch: float
    yaw: float
    roll: float
