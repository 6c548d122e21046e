"""Poses in CARLA's world."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class CarlaPose(NamedTuple):
    """Position (metres) and rotation (degrees) in CARLA's left-handed world."""

    x: float
    y: float
    z: float
    pitch: float
    yaw: float
    roll: float


def yaw_rad(transform: Any) -> float:
    """Return the yaw of a ``carla.Transform`` in radians, clockwise from above."""
    return math.radians(transform.rotation.yaw)
