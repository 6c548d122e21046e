"""Jitter and acceleration of points; both depend on the rate: compare like with like."""

from __future__ import annotations

import numpy as np

from jaywalk.motion.rotation import FloatArray


def jitter_mps3(points_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the third difference of points (frames, ..., 3), per second cubed."""
    if len(points_m) < 4:
        return 0.0
    jerk = np.diff(points_m, n=3, axis=0) * rate_hz**3
    return float(np.linalg.norm(jerk, axis=-1).mean())


def acceleration_mps2(points_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the second difference."""
    if len(points_m) < 3:
        return 0.0
    second = np.diff(points_m, n=2, axis=0) * rate_hz**2
    return float(np.linalg.norm(second, axis=-1).mean())


def acceleration_error_mps2(points_m: FloatArray, truth_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the difference of accelerations."""
    if len(points_m) < 3:
        return 0.0
    error = np.diff(points_m - truth_m, n=2, axis=0) * rate_hz**2
    return float(np.linalg.norm(error, axis=-1).mean())
