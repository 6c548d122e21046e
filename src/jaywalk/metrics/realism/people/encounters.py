"""Encounters: a person crosses the path of a vehicle, and both pass the same place soon.

Positions of vehicles are those of their box centre. All tracks have one row every tenth of a second
and share the clock of their scene.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import Path, arc_lengths, make_path, project
from jaywalk.metrics.realism.people.behaviour import STEP_S

BODY_M: Final = 0.3  # radius of a person
_GAP_S: Final = 10.0  # later passes are not encounters
_LONGEST_STAY_S: Final = 15.0
_SHORTEST_DRIVE_M: Final = 5.0
_SPACING_M: Final = 0.3
_NEAR_M: Final = 4.0
_BEFORE_S: Final = 3.0
_FREE_S: Final = (5.0, 2.0)  # window before the crossing that shows a person's own speed
_AFTER_S: Final = 1.5
_SMOOTHING: Final = 5  # steps
_SHORTEST_CHORD_M: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Track of a person; the first row lies at tenth of a second number ``start``."""

    start: int
    xy_m: FloatArray

    @property
    def end(self) -> int:
        """Number of the first tenth of a second after the track."""
        return self.start + len(self.xy_m)

    def speeds_mps(self) -> FloatArray:
        """Speed over half a second at every row."""
        return smoothed_speeds_mps(self.xy_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """Track of a vehicle with its box."""

    start: int
    xy_m: FloatArray
    yaw_rad: FloatArray
    half_length_m: float
    half_width_m: float

    @property
    def end(self) -> int:
        """Number of the first tenth of a second after the track."""
        return self.start + len(self.xy_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encounter:
    """One crossing of a vehicle's way.

    Attributes:
        enters: Tenth of a second in which the person comes onto the way.
        leaves: The same for the other side.
        gap_s: Time between the first leaving and the second arriving; positive where the person
            is first, 0 with ``together``.
        person_first: The person has left before the vehicle arrives.
        together: Both are there at the same time.
        distance_m: Smallest distance of the bodies.
        slowest_share: Smallest speed in the 3 s before, as a share of the person's own speed; NaN
            without a track long enough.
        deviation_m: Largest distance from the straight line of the crossing; NaN likewise.
    """

    enters: int
    leaves: int
    gap_s: float
    person_first: bool
    together: bool
    distance_m: float
    slowest_share: float
    deviation_m: float


def smoothed_speeds_mps(xy_m: FloatArray) -> FloatArray:
    """Speeds of positions a tenth of a second apart, smoothed over half a second."""
    if len(xy_m) < 2:
        return np.zeros(len(xy_m))
    half = _SMOOTHING // 2
    kernel = np.full(_SMOOTHING, 1.0 / _SMOOTHING)
    smooth = [np.convolve(np.pad(xy_m[:, k], half, mode="edge"), kernel, "valid") for k in range(2)]
    return np.asarray(np.hypot(*(np.gradient(one, STEP_S) for one in smooth)))


def body_distances_m(walk: Walk, drive: Drive) -> FloatArray:
    """Distances of a person's body from a vehicle's box while both are in view; may be empty."""
    first, last = max(walk.start, drive.start), min(walk.end, drive.end)
    if last <= first:
        return np.zeros(0)
    person = walk.xy_m[first - walk.start : last - walk.start]
    rows = slice(first - drive.start, last - drive.start)
    away = person - drive.xy_m[rows]
    cos, sin = np.cos(drive.yaw_rad[rows]), np.sin(drive.yaw_rad[rows])
    along = np.abs(away[:, 0] * cos + away[:, 1] * sin) - drive.half_length_m
    aside = np.abs(away[:, 1] * cos - away[:, 0] * sin) - drive.half_width_m
    return np.asarray(np.hypot(np.maximum(along, 0.0), np.maximum(aside, 0.0)) - BODY_M)


@dataclass(frozen=True, slots=True)
class DrivenWay:
    """The way that a vehicle drives, with the time at which its centre is at each place."""

    drive: Drive
    path: Path
    along_m: FloatArray  # of each row of the drive

    def passes(self, at_m: float) -> float:
        """Tenths of a second at which the centre passes a place; NaN outside the drive."""
        if not 0.0 < at_m < float(self.along_m[-1]):
            return math.nan
        return float(np.interp(at_m, self.along_m, np.arange(len(self.along_m)) + self.drive.start))


def driven_way(drive: Drive) -> DrivenWay | None:
    """Return the path of a vehicle, or None if it hardly moves."""
    along = arc_lengths(drive.xy_m)
    if along[-1] < _SHORTEST_DRIVE_M:
        return None
    return DrivenWay(drive, make_path(drive.xy_m, _SPACING_M), along)


def find_encounters(walk: Walk, drives: Iterable[DrivenWay]) -> list[tuple[int, Encounter]]:
    """Return the encounters of a person with each vehicle, with the number of the vehicle."""
    return [
        (number, one) for number, way in enumerate(drives) for one in encounters_with(walk, way)
    ]


def encounters_with(walk: Walk, way: DrivenWay) -> list[Encounter]:
    """Return the crossings of a vehicle's way from one side to the other, both borders seen."""
    points = way.path.points_m
    low, high = points.min(axis=0) - _NEAR_M, points.max(axis=0) + _NEAR_M
    if not ((walk.xy_m > low) & (walk.xy_m < high)).all(axis=1).any():
        return []
    seen = project(way.path, walk.xy_m)
    half = way.drive.half_width_m + BODY_M
    inside = (np.abs(seen.lateral_m) <= half) & ~seen.beyond
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int64), [0]])))
    encounters = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        crosses = a > 0 and b < len(inside) and b - a <= _LONGEST_STAY_S / STEP_S
        if not crosses or np.sign(seen.lateral_m[a - 1]) == np.sign(seen.lateral_m[b]):
            continue
        place = a + int(np.abs(seen.lateral_m[a:b]).argmin())
        one = _encounter(walk, way, a, b, float(seen.along_m[place]))
        if one is not None:
            encounters.append(one)
    return encounters


def _encounter(walk: Walk, way: DrivenWay, a: int, b: int, at_m: float) -> Encounter | None:
    enters, leaves = walk.start + a, walk.start + b
    front = way.passes(at_m - way.drive.half_length_m)
    rear = way.passes(at_m + way.drive.half_length_m)
    first = together = False
    if front >= leaves - 1:  # a tenth of a second is the resolution of the tracks
        gap_s, first = max(front - leaves, 0.0) * STEP_S, True
    elif rear <= enters + 1:
        gap_s = min(rear - enters, 0.0) * STEP_S
    elif front < leaves and rear > enters:
        gap_s, together = 0.0, True
    else:
        return None
    distances = body_distances_m(walk, way.drive)
    if abs(gap_s) > _GAP_S or len(distances) < 5:
        return None
    return Encounter(
        enters=enters,
        leaves=leaves,
        gap_s=gap_s,
        person_first=first,
        together=together,
        distance_m=float(distances.min()),
        slowest_share=_slowest_share(walk, a),
        deviation_m=_deviation_m(walk, a, b),
    )


def _slowest_share(walk: Walk, a: int) -> float:
    speeds = walk.speeds_mps()
    before = speeds[max(0, a - round(_BEFORE_S / STEP_S)) : max(a, 1)]
    free = speeds[max(0, a - round(_FREE_S[0] / STEP_S)) : max(0, a - round(_FREE_S[1] / STEP_S))]
    if len(before) < 15 or len(free) < 10:
        return math.nan
    own = float(np.median(free))
    return float(before.min()) / own if own > 0.3 else math.nan


def _deviation_m(walk: Walk, a: int, b: int) -> float:
    first = max(0, a - round(_BEFORE_S / STEP_S))
    last = min(len(walk.xy_m) - 1, b + round(_AFTER_S / STEP_S))
    chord = walk.xy_m[last] - walk.xy_m[first]
    length = float(np.hypot(*chord))
    if length <= _SHORTEST_CHORD_M:
        return math.nan
    away = walk.xy_m[first:last] - walk.xy_m[first]
    return float(np.abs(away[:, 0] * chord[1] - away[:, 1] * chord[0]).max() / length)
