"""Samples of people's behaviour: speed, acceleration, turning, stopping and accepted gaps.

Inputs are tracks of people and vehicles seen from above, with a common clock per clip.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.core.errors import DataError

STEP_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTrack:
    """One person or vehicle.

    Attributes:
        clip: Recording or episode; tracks of one clip share a clock.
        time_s: Increasing times [n].
        xy_m: Positions [n, 2].
    """

    clip: str
    time_s: NDArray[np.float64]
    xy_m: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.xy_m.shape != (len(self.time_s), 2) or len(self.time_s) < 2:
            raise DataError(
                f"A track of clip '{self.clip}' has {len(self.time_s)} times and positions of "
                f"shape {self.xy_m.shape}; expected at least two times and [n, 2]."
            )
        if not (np.diff(self.time_s) > 0).all():
            raise DataError(f"A track of clip '{self.clip}' has times that do not increase.")

    def resampled(self) -> tuple[int, NDArray[np.float64]]:
        """Positions at multiples of 0.1 s: number of the first one, and the positions."""
        first = int(np.ceil(self.time_s[0] / STEP_S - 1e-6))
        last = int(np.floor(self.time_s[-1] / STEP_S + 1e-6))
        times = np.arange(first, last + 1) * STEP_S
        xy = [np.interp(times, self.time_s, self.xy_m[:, k]) for k in range(2)]
        return first, np.stack(xy, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSet:
    """People of several clips, and the vehicles around them."""

    name: str
    people: tuple[PersonTrack, ...]
    vehicles: tuple[PersonTrack, ...] = ()

    def __post_init__(self) -> None:
        if not self.people:
            raise DataError(f"Set '{self.name}' has no people to compare.")


FEATURES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "speed_mps": (0.0, 4.0),
        "acceleration_mps2": (-3.0, 3.0),
        "turning_radps": (-2.0, 2.0),
        "standing_share": (0.0, 1.0),
        "stops_and_starts_per_min": (0.0, 20.0),
        "detour": (0.0, 1.0),
        "accepted_gap_s": (-10.0, 10.0),
    }
)
"""Features with the range in which they are compared; values outside count as its ends.

``detour`` is 1 minus distance over length of the path. ``accepted_gap_s`` is the time between a
person who comes onto a vehicle's path and the vehicle at that place, positive if the person is
first; only vehicles within ten seconds count.
"""

WINDOW_S = 8.0
"""Tracks are looked at in pieces no longer than this, so that long and short ones compare."""

_BASE_STEPS = 5
_STANDING_MPS = 0.25
_WALKING_MPS = 0.5
_REACH_M = 1.5
_GAP_S = 10.0
_MARGIN_STEPS = 10
_MIN_STEPS = 2 * _BASE_STEPS + 2

Samples = dict[str, NDArray[np.float64]]


def _change(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Change over half a second, per second: short enough for steps, long enough for noise."""
    return np.asarray((values[_BASE_STEPS:] - values[:-_BASE_STEPS]) / (_BASE_STEPS * STEP_S))


def _switches(speed_mps: NDArray[np.float64]) -> int:
    """Stops and starts, with two thresholds so that noise does not count."""
    count, standing = 0, bool(speed_mps[0] < _STANDING_MPS)
    for speed in speed_mps:
        if standing and speed > _WALKING_MPS:
            count, standing = count + 1, False
        elif not standing and speed < _STANDING_MPS:
            count, standing = count + 1, True
    return count


def walking_samples(track: PersonTrack) -> Samples:
    """Samples of one person's walking; empty if the track is shorter than about a second."""
    _, xy = track.resampled()
    if len(xy) < _MIN_STEPS:
        return {}
    velocity = np.stack([_change(xy[:, 0]), _change(xy[:, 1])], axis=1)
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    heading = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0]))
    moving = (speed[_BASE_STEPS:] > _WALKING_MPS) & (speed[:-_BASE_STEPS] > _WALKING_MPS)
    length = float(np.hypot(*np.diff(xy[::_BASE_STEPS], axis=0).T).sum())
    direct = float(np.hypot(*(xy[(len(xy) - 1) // _BASE_STEPS * _BASE_STEPS] - xy[0])))
    minutes = len(speed) * STEP_S / 60.0
    return {
        "speed_mps": speed,
        "acceleration_mps2": _change(speed),
        "turning_radps": _change(heading)[moving],
        "standing_share": np.array([(speed < _STANDING_MPS).mean()]),
        "stops_and_starts_per_min": np.array([_switches(speed) / minutes]),
        "detour": np.array([1.0 - direct / length] if length > 1.0 else []),
    }


def _gaps_s(
    person: tuple[int, NDArray[np.float64]], vehicle: tuple[int, NDArray[np.float64]]
) -> list[float]:
    """Times from a person to a vehicle whenever the person comes onto the vehicle's path."""
    (start, way), (vehicle_start, path) = person, vehicle
    low, high = way.min(axis=0) - _REACH_M, way.max(axis=0) + _REACH_M
    near = np.flatnonzero(((path >= low) & (path <= high)).all(axis=1))
    if not len(near):
        return []
    gaps_s, on_path = [], True  # a person who begins on the path did not enter it
    for i, hits in enumerate(cKDTree(path[near]).query_ball_point(way, _REACH_M)):
        gaps = (vehicle_start + near[hits] - (start + i)) * STEP_S
        gaps = gaps[np.abs(gaps) <= _GAP_S]
        if len(gaps) and not on_path:
            gaps_s.append(float(gaps[np.abs(gaps).argmin()]))
        on_path = bool(len(gaps)) or (i == 0 and len(hits) > 0)
    return gaps_s


def gap_samples(person: PersonTrack, vehicles: Sequence[PersonTrack]) -> NDArray[np.float64]:
    """Gaps between a person and the vehicles of the clip whose paths the person comes onto."""
    here = person.resampled()
    same = (v.resampled() for v in vehicles if v.clip == person.clip)
    return np.array([gap for other in same for gap in _gaps_s(here, other)], dtype=np.float64)


def under_way(track: PersonTrack) -> PersonTrack | None:
    """A track from a second before its first step to a second after its last; None if none.

    Recorded people come into view walking; ours stand about first, until something begins.
    """
    first, xy = track.resampled()
    if len(xy) <= _BASE_STEPS:
        return None
    velocity = _change(xy)
    moving = np.flatnonzero(np.hypot(velocity[:, 0], velocity[:, 1]) > _WALKING_MPS)
    if not len(moving):
        return None
    low_s = (first + moving[0] - _MARGIN_STEPS) * STEP_S
    high_s = (first + moving[-1] + _BASE_STEPS + _MARGIN_STEPS) * STEP_S
    keep = (track.time_s >= low_s - 1e-6) & (track.time_s <= high_s + 1e-6)
    return PersonTrack(clip=track.clip, time_s=track.time_s[keep], xy_m=track.xy_m[keep])


def _pieces(track: PersonTrack) -> list[PersonTrack]:
    """A track in equal pieces of at most ``WINDOW_S``."""
    count = int(np.ceil((track.time_s[-1] - track.time_s[0]) / WINDOW_S - 1e-6))
    if count <= 1:
        return [track]
    cuts = np.linspace(track.time_s[0], track.time_s[-1], count + 1)
    at = np.unique(np.searchsorted(track.time_s, cuts - 1e-9))
    at[-1] = len(track.time_s) - 1
    return [
        PersonTrack(clip=track.clip, time_s=track.time_s[a : b + 1], xy_m=track.xy_m[a : b + 1])
        for a, b in itertools.pairwise(at.tolist())
        if b > a
    ]


def behaviour(people: PeopleSet) -> list[Samples]:
    """Samples of all walking people of a set, while they move, if the track is long enough."""
    around: dict[str, list[PersonTrack]] = {}
    for vehicle in people.vehicles:
        around.setdefault(vehicle.clip, []).append(vehicle)
    measured = []
    for whole in people.people:
        person = under_way(whole)
        if person is None:
            continue
        pieces = [samples for piece in _pieces(person) if (samples := walking_samples(piece))]
        if pieces:
            joined = {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]}
            gaps = gap_samples(person, around.get(person.clip, ()))
            measured.append({**joined, "accepted_gap_s": gaps})
    return measured
