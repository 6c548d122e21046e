"""The two coordinate frames of the project and the conversions between them.

CARLA:  left-handed, x forward, y right, z up, metres and degrees; Unreal's rotator order.
Ours:   right-handed, x forward, y left, z up, metres and radians (OpenDRIVE's frame).
"""

from __future__ import annotations

import numpy as np

from jaywalk.core.arrays import FloatArray


def carla_to_right_handed(points_carla_m: FloatArray) -> FloatArray:
    """Convert points (..., 2 or 3) between the two frames; the function is its own inverse."""
    points = np.array(points_carla_m, dtype=np.float64)
    points[..., 1] = -points[..., 1]
    return points


def carla_yaw_to_rad(yaw_deg: FloatArray | float) -> FloatArray:
    """Convert CARLA yaw (degrees, clockwise from above) to radians counter-clockwise."""
    return -np.deg2rad(np.asarray(yaw_deg, dtype=np.float64))
