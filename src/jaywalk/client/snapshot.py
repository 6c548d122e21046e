"""Rows of numbers from a snapshot, for actors whose ids are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.pose import yaw_rad

if TYPE_CHECKING:
    import carla


def pose_rows(snapshot: carla.WorldSnapshot, ids: Iterable[int]) -> FloatArray | None:
    """Return x, y, yaw (rad) and velocity of each actor ``(N, 5)``; None if one is missing."""
    rows = []
    for actor in ids:
        state = snapshot.find(actor)
        if state is None:
            return None
        pose, velocity = state.get_transform(), state.get_velocity()
        place = pose.location
        rows.append((place.x, place.y, yaw_rad(pose), velocity.x, velocity.y))
    return np.array(rows, dtype=np.float64).reshape(-1, 5)


def place_boxes(boxes: FloatArray, centres: FloatArray, rows: FloatArray) -> None:
    """Write centre, direction and velocity of boxes (x, y, cos, sin, _, _, vx, vy) in place.

    Args:
        boxes: One row per actor.
        centres: Centre of each box in its actor's own frame.
        rows: Result of :func:`pose_rows`.
    """
    cos, sin = np.cos(rows[:, 2]), np.sin(rows[:, 2])
    ahead, side = centres[:, 0], centres[:, 1]
    boxes[:, 0] = rows[:, 0] + ahead * cos - side * sin
    boxes[:, 1] = rows[:, 1] + ahead * sin + side * cos
    boxes[:, 2], boxes[:, 3], boxes[:, 6:8] = cos, sin, rows[:, 3:5]
