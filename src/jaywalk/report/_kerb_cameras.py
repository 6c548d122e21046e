"""Cameras of the pictures of a posed person: one at the kerb, one above.

Frame: CARLA's, left-handed, in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray

_NEAR_M: Final = 0.4
_EYE_M: Final = 1.7
_BACK_M: Final = 7.5


@dataclass(frozen=True, slots=True, kw_only=True)
class KerbCamera:
    """Pinhole camera at a place, directed along a yaw.

    Attributes:
        place_m: x, y, z of the eye.
        focal_px: Focal length.
        size_px: Width and height.
        tilt_rad: Downward tilt.
    """

    place_m: tuple[float, float, float]
    yaw_rad: float
    focal_px: float
    size_px: tuple[int, int]
    tilt_rad: float = 0.0

    def see(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pixels (n, 2) and depths (n,) of points (n, 3); behind the eye depths are negative."""
        forward, right, up = self._axes(points_m)
        depth = np.maximum(forward, 1e-6)
        u = 0.5 * self.size_px[0] + self.focal_px * right / depth
        v = 0.5 * self.size_px[1] - self.focal_px * up / depth
        return np.column_stack([u, v]), forward

    def outline(self, ring_m: FloatArray) -> FloatArray:
        """Pixels of a ring (n, 3), cut off where it passes behind the eye; may be empty."""
        forward, right, up = self._axes(ring_m)
        shape = np.column_stack([forward, right, up])
        kept: list[FloatArray] = []
        for a, b in zip(shape, np.roll(shape, -1, axis=0), strict=True):
            if a[0] >= _NEAR_M:
                kept.append(a)
            if (a[0] >= _NEAR_M) != (b[0] >= _NEAR_M):
                kept.append(a + (_NEAR_M - a[0]) / (b[0] - a[0]) * (b - a))
        if len(kept) < 3:
            return np.zeros((0, 2))
        cut = np.array(kept)
        u = 0.5 * self.size_px[0] + self.focal_px * cut[:, 1] / cut[:, 0]
        v = 0.5 * self.size_px[1] - self.focal_px * cut[:, 2] / cut[:, 0]
        return np.column_stack([u, v])

    def _axes(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        d = points_m - np.array(self.place_m)
        cos, sin = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        level, right = d[:, 0] * cos + d[:, 1] * sin, d[:, 1] * cos - d[:, 0] * sin
        ct, st = math.cos(self.tilt_rad), math.sin(self.tilt_rad)
        return level * ct - d[:, 2] * st, right, level * st + d[:, 2] * ct


@dataclass(frozen=True, slots=True, kw_only=True)
class SkyCamera:
    """Straight from above: ``up_rad`` is the yaw that points up in the picture."""

    middle_m: tuple[float, float]
    up_rad: float
    px_per_m: float
    size_px: tuple[int, int]

    def see(self, points_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pixels (n, 2) of points (n, 2 or 3), and ones."""
        d = points_m[:, :2] - np.array(self.middle_m)
        cos, sin = math.cos(self.up_rad), math.sin(self.up_rad)
        up, right = d[:, 0] * cos + d[:, 1] * sin, d[:, 1] * cos - d[:, 0] * sin
        u = 0.5 * self.size_px[0] + self.px_per_m * right
        v = 0.5 * self.size_px[1] - self.px_per_m * up
        return np.column_stack([u, v]), np.ones(len(u))

    def outline(self, ring_m: FloatArray) -> FloatArray:
        """Pixels of a ring."""
        return self.see(ring_m)[0]


Camera = KerbCamera | SkyCamera


def camera_beside(
    start: FloatArray, middle: FloatArray, yaw: float, span: float, size_px: tuple[int, int]
) -> KerbCamera:
    """Return a camera at the kerb where a person starts, directed across the road at their path."""
    back = max(_BACK_M, 0.85 * span)
    x = float(start[0] - math.sin(yaw) * back - 2.0 * math.cos(yaw))
    y = float(start[1] + math.cos(yaw) * back - 2.0 * math.sin(yaw))
    ahead = math.atan2(float(middle[1]) - y, float(middle[0]) - x)
    width, height = size_px
    away = math.hypot(float(middle[0]) - x, float(middle[1]) - y)
    focal = min(0.85 * width * away / (span + 4.0), 0.75 * height * away / 2.4)
    return KerbCamera(
        place_m=(x, y, float(start[2]) + _EYE_M),
        yaw_rad=ahead,
        focal_px=focal,
        size_px=(width, height),
        tilt_rad=math.atan2(_EYE_M - 0.9, away),
    )
