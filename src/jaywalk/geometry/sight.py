"""Lines of sight in the plane: which of them pass through boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def sight_blocked(
    eye_m: FloatArray, points_m: FloatArray, centre_m: FloatArray, yaw_rad: FloatArray,
    half_m: FloatArray,
) -> BoolArray:  # fmt: skip
    """Whether the way from an eye to each point leads through each box.

    Args:
        eye_m: (2,) where one looks from.
        points_m: (points, 2) what one looks at.
        centre_m: (boxes, 2) middles of the boxes.
        yaw_rad: (boxes,) how they are turned, in the axes of the points.
        half_m: (boxes, 2) half their length and width.

    Returns:
        (points, boxes); a way that ends inside a box is blocked, one that only touches is not.
    """
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    low = np.zeros((len(points_m), len(centre_m)))
    high = np.ones_like(low)
    for axis, (x, y) in enumerate(((cos, sin), (-sin, cos))):
        start = (eye_m[0] - centre_m[:, 0]) * x + (eye_m[1] - centre_m[:, 1]) * y
        step = (points_m[:, None, 0] - eye_m[0]) * x + (points_m[:, None, 1] - eye_m[1]) * y
        step = np.where(np.abs(step) < 1e-9, 1e-9, step)
        first, second = (-half_m[:, axis] - start) / step, (half_m[:, axis] - start) / step
        low = np.maximum(low, np.minimum(first, second))
        high = np.minimum(high, np.maximum(first, second))
    return np.asarray(low < high)
