"""Coordinates relative to a line: distance along it, and offset to the right of the lane centre."""

from __future__ import annotations

import numpy as np

from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.core.arrays import FloatArray

_STRIDE = 3


def project(
    line: RouteLine, first: int, last: int, xy_m: FloatArray, z_m: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return distance along, offset to the right and heading of the base line for each place.

    Places on another level are infinitely far to the right.
    """
    samples = np.arange(max(first, 0), min(last, len(line)), _STRIDE)
    if not len(xy_m) or not len(samples):
        return np.zeros(len(xy_m)), np.full(len(xy_m), np.inf), np.zeros(len(xy_m))
    base = line.base_m[samples]
    away = (xy_m[:, None, 0] - base[None, :, 0]) ** 2 + (xy_m[:, None, 1] - base[None, :, 1]) ** 2
    k = samples[np.argmin(away, axis=1)]
    yaw = line.base_yaw_rad[k]
    dx, dy = xy_m[:, 0] - line.base_m[k, 0], xy_m[:, 1] - line.base_m[k, 1]
    along = k * STEP_M + dx * np.cos(yaw) + dy * np.sin(yaw)
    right = -dx * np.sin(yaw) + dy * np.cos(yaw)
    level = np.abs(line.base_m[k, 2] - z_m) < 3.0
    return along, np.where(level, right, np.inf), yaw
