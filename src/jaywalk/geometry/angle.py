"""Wrapping of angles into one turn. The functions take numbers and arrays.

Compiled kernels use :func:`nearest_turn`. It rounds to the nearest whole turn, so its results can
differ from those of :func:`wrap_angle` in the last bit.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel

_Angle = TypeVar("_Angle", float, FloatArray)


def wrap_angle(angle_rad: _Angle) -> _Angle:
    """Return the angle in [-pi, pi)."""
    return (angle_rad + math.pi) % (2.0 * math.pi) - math.pi


def wrap_degrees(angle_deg: _Angle) -> _Angle:
    """Return the angle in [-180, 180) degrees."""
    return (angle_deg + 180.0) % 360.0 - 180.0


@kernel
def nearest_turn(angle_rad: float) -> float:
    """Subtract the nearest number of whole turns; the result lies between -pi and pi."""
    return float(angle_rad - 2.0 * np.pi * np.round(angle_rad / (2.0 * np.pi)))
