"""Comfort zones of vehicles, and lines of sight blocked by boxes.

The comfort zone is the part of a vehicle's path that it will reach within a time gap. It is the
region of interest (ROI) of Herman et al.: it starts at the front bumper, follows the path for
``gap_s`` times the speed, and is as wide as the driving corridor. A forecast for ``horizon_s``
moves it along the planned path at the present speed. Membership is decided by arc length and
lateral offset, never by a polygon, so that bends need no special case.

:func:`sight_blocked` tests lines of sight in the plane against boxes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.path import Path, Projection

CORRIDOR_WIDTH_M = 3.0
COMFORT_GAP_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComfortZone:
    """Part of a corridor by arc length; empty if ``end_m <= start_m``."""

    start_m: float
    end_m: float
    half_width_m: float

    @property
    def is_empty(self) -> bool:
        """True if the zone has no length, as for a vehicle that stands still."""
        return not self.end_m > self.start_m


def comfort_zone(
    front_m: float,
    speed_mps: float,
    horizon_s: float = 0.0,
    *,
    gap_s: float = COMFORT_GAP_S,
    rear_gap_s: float = 0.0,
    width_m: float = CORRIDOR_WIDTH_M,
) -> ComfortZone:
    """Return the zone after ``horizon_s`` of a vehicle that keeps its speed.

    Args:
        front_m: Arc length of the front bumper now.
        speed_mps: Speed now; 0 gives an empty zone, a negative one is an error (drop the sample).
        horizon_s: Time ahead; 0 gives the present zone.
        gap_s: Forward extent of the zone, as a time gap.
        rear_gap_s: Backward extent of the zone, as a time gap; off by default.
        width_m: Width of the corridor.
    """
    if not speed_mps >= 0.0:
        raise UsageError(f"speed {speed_mps!r} m/s: reversing has no comfort zone; drop the sample")
    centre = front_m + speed_mps * horizon_s
    return ComfortZone(
        start_m=centre - speed_mps * rear_gap_s,
        end_m=centre + speed_mps * gap_s,
        half_width_m=width_m / 2.0,
    )


def inside(zone: ComfortZone, seen: Projection) -> NDArray[np.bool_]:
    """Return a mask of the projected points in the zone, borders included."""
    if zone.is_empty:
        return np.zeros(seen.along_m.shape, dtype=np.bool_)
    return (
        (seen.along_m >= zone.start_m)
        & (seen.along_m <= zone.end_m)
        & (np.abs(seen.lateral_m) <= zone.half_width_m)
        & ~seen.beyond
    )


def reach_path(
    path: Path, speed_mps: float, longest_horizon_s: float = 4.0, gap_s: float = COMFORT_GAP_S
) -> Path:
    """Extend a path straight, so that it contains the zone of the longest horizon."""
    return path.extended(speed_mps * (longest_horizon_s + gap_s) + CORRIDOR_WIDTH_M)


def sight_blocked(
    eye_m: FloatArray,
    points_m: FloatArray,
    centre_m: FloatArray,
    yaw_rad: FloatArray,
    half_m: FloatArray,
) -> BoolArray:
    """Test for each point and box if the line of sight from an eye passes through the box.

    Args:
        eye_m: (2,) position of the eye.
        points_m: (points, 2) positions looked at.
        centre_m: (boxes, 2) centres of the boxes.
        yaw_rad: (boxes,) yaw of the boxes, in the axes of the points.
        half_m: (boxes, 2) half length and half width.

    Returns:
        (points, boxes) mask, True where blocked. A line that ends inside a box is blocked; a line
        that only touches a box is not.
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
