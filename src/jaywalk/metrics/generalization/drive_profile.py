"""An ego's drive along its route: position, speed, braking, and excursions from its lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.criteria._scene import town_of
from jaywalk.metrics.driving.criteria._track import (
    CriteriaRoute,
    advance,
    criteria_route,
    forward_of,
)
from jaywalk.metrics.safety._braking import find_braking
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.tracks import HY, X, Y, load_tracks
from jaywalk.town.waypoints import LaneFinder

_WINDOW: Final = 5  # route points looked ahead
_LEAVES_M: Final = 0.1  # beyond the edge of the lane
_LEAST_S: Final = 0.3  # shorter excursions are noise
_MERGE_M: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedStretch:
    """Part of the route, metres along it; ``size`` is m/s lost or metres aside."""

    first_m: float
    last_m: float
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One drive; arrays have one row per tick."""

    time_s: FloatArray
    along_m: FloatArray  # never falls
    speed_mps: FloatArray
    brakings: tuple[ComparedStretch, ...]
    excursions: tuple[ComparedStretch, ...]  # where the body crossed an edge of the route's lane

    @property
    def reached_m(self) -> float:
        """Distance that the ego reached along the route (m)."""
        return float(self.along_m[-1])

    def mean_speed_mps(self, until_m: float) -> float:
        """Mean speed from the first metre driven to a distance along the route."""
        began = int(np.argmax(self.along_m > self.along_m[0]))
        ended = int(np.searchsorted(self.along_m, until_m))
        ended = min(ended, len(self.along_m) - 1)
        seconds = float(self.time_s[ended] - self.time_s[began])
        metres = float(self.along_m[ended] - self.along_m[began])
        return metres / seconds if seconds > 0.0 else float("nan")

    def speed_at(self, along_m: FloatArray) -> FloatArray:
        """Return the speed at which the ego first reached each distance."""
        rows = np.minimum(np.searchsorted(self.along_m, along_m), len(self.along_m) - 1)
        return np.asarray(self.speed_mps[rows])


def profile_of(record: Record) -> Profile:
    """Read a drive.

    Raises:
        DataError: The record has no ego or no dense route.
    """
    tracks = load_tracks(record)
    rows = record.route.collect()
    if tracks is None or rows.height < 2 or rows[c.YAW_DEG].has_nulls():
        raise DataError(f"{record.folder} has no ego or no dense route to compare drives along.")
    place = rows.select(c.X_M, c.Y_M, c.Z_M).to_numpy().astype(np.float64)
    angles = rows.select(c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG).fill_null(0.0).to_numpy()
    route = criteria_route(place, forward_of(angles))
    seen = tracks.present[tracks.ego]
    pose = tracks.ego_pose[seen]
    # Height does not matter here: the plane across the route decides.
    flat = criteria_route(place * (1.0, 1.0, 0.0), route.forward * (1.0, 1.0, 0.0))
    at = advance(flat, np.column_stack([pose[:, X], pose[:, Y], np.zeros(len(pose))]), _WINDOW)
    along_m = np.maximum.accumulate(route.arc_m[at] + _ahead_m(route, pose, at))
    time_s = tracks.time_s[seen]
    numbers = np.flatnonzero(seen)
    brakings = []
    for event in find_braking(record, tracks):
        first, last = (
            min(int(np.searchsorted(numbers, k)), len(numbers) - 1)
            for k in (event.start, event.end)
        )
        stretch = ComparedStretch(
            first_m=float(along_m[first]), last_m=float(along_m[last]), size=event.lost_mps
        )
        brakings.append(stretch)
    room_m = _room_m(record, route, float(tracks.shape[tracks.ego, HY]))
    return Profile(
        time_s=time_s,
        along_m=along_m,
        speed_mps=tracks.speed_mps(tracks.ego)[seen],
        brakings=tuple(brakings),
        excursions=tuple(excursions_of(time_s, along_m, _aside_m(route, pose, at), room_m[at])),
    )


def _ahead_m(route: CriteriaRoute, pose: FloatArray, at: NDArray[np.int64]) -> FloatArray:
    gap = pose[:, [X, Y]] - route.points_m[at, :2]
    return np.asarray(np.clip((gap * route.forward[at, :2]).sum(axis=1), 0.0, 1.0))


def _aside_m(route: CriteriaRoute, pose: FloatArray, at: NDArray[np.int64]) -> FloatArray:
    """To the right of the route's line, metres."""
    gap, way = pose[:, [X, Y]] - route.points_m[at, :2], route.forward[at, :2]
    return np.asarray(gap[:, 1] * way[:, 0] - gap[:, 0] * way[:, 1])


def _room_m(record: Record, route: CriteriaRoute, half_width_m: float) -> FloatArray:
    """Return the allowed lateral offset (m) at each point of the route; infinite in a junction."""
    town = town_of(record.shared_file("opendrive"), record.episode.town)
    lanes = LaneFinder(town.carla_map).under(route.points_m)
    room = 0.5 * lanes.width_m - half_width_m + _LEAVES_M
    return np.where(lanes.in_junction | np.isnan(room), np.inf, np.maximum(room, 0.2))


def excursions_of(
    time_s: FloatArray, along_m: FloatArray, aside_m: FloatArray, room_m: FloatArray
) -> list[ComparedStretch]:
    """Return stretches on which the ego exceeded the allowed offset; ``size``: largest offset."""
    out = np.abs(aside_m) > room_m
    edges = np.diff(np.r_[False, out, False].astype(np.int8))
    firsts, lasts = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    excursions: list[ComparedStretch] = []
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        if time_s[last] - time_s[first] < _LEAST_S:
            continue
        size = float(np.abs(aside_m[first : last + 1]).max())
        begin, end = float(along_m[first]), float(along_m[last])
        if excursions and begin - excursions[-1].last_m < _MERGE_M:
            begin, size = excursions[-1].first_m, max(size, excursions[-1].size)
            excursions.pop()
        excursions.append(ComparedStretch(first_m=begin, last_m=end, size=size))
    return excursions
