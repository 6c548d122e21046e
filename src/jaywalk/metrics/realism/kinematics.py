"""Speeds and accelerations by central differences, in single precision.

Single precision is part of the definition: under the 2023 configuration a bin edge of the
accelerations lies at zero, where the rounding of the official code decides the bin.
"""

from __future__ import annotations

import numpy as np

from jaywalk.metrics.realism.scene import STEP_S, BoolArray, FloatArray

_PI = np.float32(np.pi)
_TWO_PI = np.float32(2.0 * np.pi)
_DT = np.float32(STEP_S)
_DT2 = np.float32(STEP_S**2)


def central_difference(values: FloatArray) -> FloatArray:
    """Half the difference between the neighbours along the last axis; NaN at both ends."""
    out = np.full(values.shape, np.nan, dtype=np.float32)
    out[..., 1:-1] = (values[..., 2:] - values[..., :-2]) / np.float32(2.0)
    return out


def wrap(angle_rad: FloatArray) -> FloatArray:
    """Angles in [-pi, pi)."""
    return np.asarray(np.mod(angle_rad + _PI, _TWO_PI) - _PI, dtype=np.float32)


def linear_speed(x_m: FloatArray, y_m: FloatArray, z_m: FloatArray | None = None) -> FloatArray:
    """Norm of the velocity, in space or (without z) in the plane."""
    dx, dy = central_difference(x_m), central_difference(y_m)
    squares = dx * dx + dy * dy
    if z_m is not None:
        dz = central_difference(z_m)
        squares = squares + dz * dz
    return np.asarray(np.sqrt(squares) / _DT, dtype=np.float32)


def linear_acceleration(speed_mps: FloatArray) -> FloatArray:
    """Signed change of the speed."""
    return central_difference(speed_mps) / _DT


def _angular_step(heading_rad: FloatArray) -> FloatArray:
    return wrap(central_difference(heading_rad) * np.float32(2.0)) / np.float32(2.0)


def angular_speed(heading_rad: FloatArray) -> FloatArray:
    """Wrapped change of heading over two steps, halved, per second."""
    return _angular_step(heading_rad) / _DT


def angular_acceleration(heading_rad: FloatArray) -> FloatArray:
    """The same operator applied to the change of heading per step."""
    return _angular_step(_angular_step(heading_rad)) / _DT2


def difference_validity(valid: BoolArray) -> BoolArray:
    """Where both neighbours are valid; False at both ends."""
    out = np.zeros_like(valid)
    out[..., 1:-1] = valid[..., 2:] & valid[..., :-2]
    return out
