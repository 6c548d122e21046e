"""Car following: the intelligent driver model with a floor that stops in the room there is.

What lies in the corridor along a line: where it begins for each thing, and how far aside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.agents.driving.perception import Observation
from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.core.arrays import FloatArray, IntArray

_STRIDE = 2  # every second sample of the line: one metre
_OTHER_LEVEL_M = 3.0
BESIDE_M = 0.4  # what is so much behind the front is beside the car, not ahead of it


def gaps_along(
    line: RouteLine,
    first: int,
    last: int,
    xy_m: FloatArray,
    cos: FloatArray,
    sin: FloatArray,
    half_m: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Samples of the line and the distance of every box from each: ``(p,)`` and ``(p, n)``."""
    samples = np.arange(first, min(last, len(line)), _STRIDE)
    away = line.xy_m[samples][:, None, :] - xy_m[None, :, :]
    ahead = np.abs(away[:, :, 0] * cos + away[:, :, 1] * sin) - half_m[:, 0]
    aside = np.abs(away[:, :, 1] * cos - away[:, :, 0] * sin) - half_m[:, 1]
    return samples, np.hypot(np.maximum(ahead, 0.0), np.maximum(aside, 0.0))


def first_along(
    line: RouteLine, first: int, last: int, seen: Observation, side_m: FloatArray
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


_FULL_MPS2: Final = 7.5  # of a leader
_LAST_MPS2: Final = 4.5  # braking for what a leader might do begins when this much is needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a driver accelerates, brakes and keeps distance."""

    speed_factor: float = 0.9  # of the limit
    acceleration_mps2: float = 2.0
    braking_mps2: float = 2.5  # comfortable
    hardest_mps2: float = 8.0
    lateral_mps2: float = 2.6
    headway_s: float = 1.2
    standstill_gap_m: float = 2.0


def free_road(speed_mps: float, wanted_mps: float, manner: Manner) -> float:
    """Acceleration towards a wanted speed."""
    if wanted_mps < 0.1:
        return -manner.braking_mps2
    pull = manner.acceleration_mps2 * (1.0 - (speed_mps / wanted_mps) ** 4)
    if speed_mps <= wanted_mps:
        return pull
    # Above the wanted speed the fourth power brakes harder than anybody would.
    return max(pull, -manner.braking_mps2, 1.5 * (wanted_mps - speed_mps))


def follow(
    speed_mps: float,
    gap_m: float,
    lead_mps: float,
    manner: Manner,
    standstill_m: float | None = None,
    headway_s: float | None = None,
) -> float:
    """Acceleration behind something ``gap_m`` ahead that moves at ``lead_mps`` along the path.

    The model alone may brake too little when something appears suddenly, so it never brakes less
    than what just stops in the room left.
    """
    if math.isinf(gap_m):
        return math.inf
    least = manner.standstill_gap_m if standstill_m is None else standstill_m
    headway = manner.headway_s if headway_s is None else headway_s
    closing = speed_mps - lead_mps
    a, b = manner.acceleration_mps2, manner.braking_mps2
    wanted = speed_mps * headway + speed_mps * closing / (2.0 * math.sqrt(a * b))
    desired = least + max(wanted, 0.0)
    pull = a * (1.0 - (desired / max(gap_m, 0.1)) ** 2)
    # The model's cubic growth near the gap is no reason to brake harder than needed.
    pull = max(pull, -manner.braking_mps2 * 1.3)
    room = gap_m - 0.6 * least
    if closing > 0.0:
        needed = closing * closing / (2.0 * max(room, 0.2))
        if needed > 0.8 * b:
            pull = min(pull, -needed)
    # Should the leader brake as hard as cars can, there must be room to stop behind it.
    whole = speed_mps * speed_mps / (2.0 * max(room + lead_mps**2 / (2.0 * _FULL_MPS2), 0.3))
    if whole > _LAST_MPS2:
        pull = min(pull, -whole)
    if room <= 0.0:
        pull = min(pull, -b)
    return max(pull, -manner.hardest_mps2)


def stop_at(speed_mps: float, gap_m: float, manner: Manner) -> float:
    """Acceleration that comes to rest just before a line ``gap_m`` ahead."""
    if math.isinf(gap_m):
        return math.inf
    if gap_m <= 0.1:
        return -manner.hardest_mps2 if speed_mps > 1.0 else -manner.braking_mps2
    needed = speed_mps * speed_mps / (2.0 * gap_m)
    if needed > 0.75 * manner.braking_mps2:
        return max(-needed, -manner.hardest_mps2)
    # Not yet: approach at the speed from which the comfortable braking stops at the line.
    allowed = math.sqrt(2.0 * 0.75 * manner.braking_mps2 * gap_m)
    return min(manner.acceleration_mps2, 2.0 * (allowed - speed_mps))
