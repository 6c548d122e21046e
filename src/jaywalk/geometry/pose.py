"""Pose of something in CARLA's world."""

from __future__ import annotations

from typing import NamedTuple


class CarlaPose(NamedTuple):
    """Place and rotation in CARLA's left-handed world: metres and degrees."""

    x: float
    y: float
    z: float
    pitch: float
    yaw: float
    roll: float
