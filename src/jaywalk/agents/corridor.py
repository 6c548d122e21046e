"""What lies in the corridor along a line: where it begins for each thing, and how far aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import Seen
from jaywalk.agents.route_line import STEP_M, RouteLine

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_STRIDE = 2  # every second sample of the line: one metre
_OTHER_LEVEL_M = 3.0
BESIDE_M = 0.4  # what is so much behind the front is beside the car, not ahead of it


def gaps_along(
    line: RouteLine, first: int, last: int, xy_m: FloatArray, cos: FloatArray, sin: FloatArray,
    half_m: FloatArray,
) -> tuple[IntArray, FloatArray]:  # fmt: skip
    """Samples of the line and the distance of every box from each: ``(p,)`` and ``(p, n)``."""
    samples = np.arange(first, min(last, len(line)), _STRIDE)
    away = line.xy_m[samples][:, None, :] - xy_m[None, :, :]
    ahead = np.abs(away[:, :, 0] * cos + away[:, :, 1] * sin) - half_m[:, 0]
    aside = np.abs(away[:, :, 1] * cos - away[:, :, 0] * sin) - half_m[:, 1]
    return samples, np.hypot(np.maximum(ahead, 0.0), np.maximum(aside, 0.0))


def first_along(
    line: RouteLine, first: int, last: int, seen: Seen, side_m: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where each thing's corridor begins on the line (inf: nowhere), and its least distance.

    Args:
        line: The line.
        first: Sample from which on to look.
        last: Sample before which to stop.
        seen: Things.
        side_m: (n,) how near to the line each counts as in the corridor.
    """
    if not len(seen) or last <= first:
        return np.full(len(seen), np.inf), np.full(len(seen), np.inf)
    samples, gaps = gaps_along(line, first, last, seen.xy_m, seen.cos, seen.sin, seen.half_m)
    level = np.abs(line.base_m[samples][:, 2:3] - seen.z_m[None, :]) < _OTHER_LEVEL_M
    gaps = np.where(level, gaps, np.inf)
    hit = gaps <= side_m
    at = samples[np.argmax(hit, axis=0)] * STEP_M
    return np.where(hit.any(axis=0), at, np.inf), gaps.min(axis=0)


def speed_along(line: RouteLine, along_m: FloatArray, velocity_mps: FloatArray) -> FloatArray:
    """Speed of things in the direction of the line where they are; forwards only."""
    at = np.clip(np.nan_to_num(along_m, posinf=0.0) / STEP_M, 0, len(line) - 1).astype(np.int64)
    yaw = line.yaw_rad[at]
    ahead = velocity_mps[:, 0] * np.cos(yaw) + velocity_mps[:, 1] * np.sin(yaw)
    return np.asarray(np.maximum(ahead, 0.0))
