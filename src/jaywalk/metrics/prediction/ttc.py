"""Time to collision along a path: distance ahead over speed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

STANDING_MPS = 1e-3
RELEVANT_TTC_S = 5.0
RELEVANT_LATERAL_M = 15.0


def time_to_collision(distance_m: ArrayLike, speed_mps: ArrayLike) -> NDArray[np.float64]:
    """Seconds until a vehicle at this speed has driven the distance; infinite when it stands."""
    distance, speed = np.broadcast_arrays(
        np.asarray(distance_m, dtype=np.float64), np.asarray(speed_mps, dtype=np.float64)
    )
    moving = speed > STANDING_MPS
    return np.where(moving, distance / np.where(moving, speed, 1.0), np.inf)


def is_relevant(
    ahead_m: ArrayLike, lateral_m: ArrayLike, speed_mps: ArrayLike
) -> NDArray[np.bool_]:
    """Whether a person matters to the vehicle now: ahead, nearer than 5 s, within 15 m sideways."""
    ahead = np.asarray(ahead_m, dtype=np.float64)
    near: NDArray[np.bool_] = time_to_collision(ahead, speed_mps) < RELEVANT_TTC_S
    beside: NDArray[np.bool_] = np.abs(np.asarray(lateral_m)) <= RELEVANT_LATERAL_M
    return near & beside & (ahead > 0.0)
