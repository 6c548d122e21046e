"""Car following and the search for actors in the corridor along a line.

The acceleration follows the intelligent driver model, but is never too weak to stop in the room
left. For each actor, the search returns the place where it begins to occupy the corridor and its
least distance from the line.
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
BESIDE_M = 0.4  # an actor this far behind the front is beside the car, not ahead of it


def gaps_along(
    line: RouteLine,
    first: int,
    last: int,
    xy_m: FloatArray,
    cos: FloatArray,
    sin: FloatArray,
    half_m: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Return samples of the line ``(p,)`` and the distance of every box from each, ``(p, n)``."""
    samples = np.arange(first, min(last, len(line)), _STRIDE)
    away = line.xy_m[samples][:, None, :] - xy_m[None, :, :]
    ahead = np.abs(away[:, :, 0] * cos + away[:, :, 1] * sin) - half_m[:, 0]
    aside = np.abs(away[:, :, 1] * cos - away[:, :, 0] * sin) - half_m[:, 1]
    return samples, np.hypot(np.maximum(ahead, 0.0), np.maximum(aside, 0.0))


def first_along(
    line: RouteLine, first: int, last: int, seen: Observation, side_m: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where each actor first occupies the corridor (inf if never) and its least distance.

    Args:
        line: The line.
        first: First sample to check.
        last: Sample before which the search ends.
        seen: Actors.
        side_m: (n,) distance from the line within which each actor counts as in the corridor.
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
    """Return the speed of actors along the line at their places; 0 if they move backwards."""
    at = np.clip(np.nan_to_num(along_m, posinf=0.0) / STEP_M, 0, len(line) - 1).astype(np.int64)
    yaw = line.yaw_rad[at]
    ahead = velocity_mps[:, 0] * np.cos(yaw) + velocity_mps[:, 1] * np.sin(yaw)
    return np.asarray(np.maximum(ahead, 0.0))


_FULL_MPS2: Final = 7.5  # of a leader
_LAST_MPS2: Final = 4.5  # braking for a possible stop of a leader begins when it needs this much


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """Acceleration, braking and distance settings of a driver."""

    speed_factor: float = 0.9  # of the limit
    acceleration_mps2: float = 2.0
    braking_mps2: float = 2.5  # comfortable
    hardest_mps2: float = 8.0
    lateral_mps2: float = 2.6
    headway_s: float = 1.2
    standstill_gap_m: float = 2.0


def free_road(speed_mps: float, wanted_mps: float, manner: Manner) -> float:
    """Return the acceleration towards a wanted speed."""
    if wanted_mps < 0.1:
        return -manner.braking_mps2
    pull = manner.acceleration_mps2 * (1.0 - (speed_mps / wanted_mps) ** 4)
    if speed_mps <= wanted_mps:
        return pull
    # Above the wanted speed the fourth power brakes harder than any person would.
    return max(pull, -manner.braking_mps2, 1.5 * (wanted_mps - speed_mps))


def follow(
    speed_mps: float,
    gap_m: float,
    lead_mps: float,
    manner: Manner,
    standstill_m: float | None = None,
    headway_s: float | None = None,
) -> float:
    """Return the acceleration behind a leader ``gap_m`` ahead with speed ``lead_mps``.

    The model alone may brake too little when a leader appears suddenly. The result therefore
    always brakes hard enough to stop in the room left.
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
    # Near the gap the model grows fast; do not brake harder than needed.
    pull = max(pull, -manner.braking_mps2 * 1.3)
    room = gap_m - 0.6 * least
    if closing > 0.0:
        needed = closing * closing / (2.0 * max(room, 0.2))
        if needed > 0.8 * b:
            pull = min(pull, -needed)
    # If the leader brakes as hard as cars can, there must be room to stop behind it.
    whole = speed_mps * speed_mps / (2.0 * max(room + lead_mps**2 / (2.0 * _FULL_MPS2), 0.3))
    if whole > _LAST_MPS2:
        pull = min(pull, -whole)
    if room <= 0.0:
        pull = min(pull, -b)
    return max(pull, -manner.hardest_mps2)


def stop_at(speed_mps: float, gap_m: float, manner: Manner) -> float:
    """Return the acceleration that stops just before a line ``gap_m`` ahead."""
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
