"""What a person does, as samples: speed, acceleration, turning, stopping, gaps taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism.people.tracks import STEP_S, PeopleSet, Track

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
person and a vehicle at the place where their paths meet, positive if the person is first.
"""

_BASE_STEPS = 5
_STANDING_MPS = 0.25
_WALKING_MPS = 0.5
_REACH_M = 1.5
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


def walking_samples(track: Track) -> Samples:
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


def _gap_s(
    person: tuple[int, NDArray[np.float64]], vehicle: tuple[int, NDArray[np.float64]]
) -> float | None:
    """Time from a person to a vehicle at the first place of the person on the vehicle's path."""
    away = np.linalg.norm(person[1][:, None] - vehicle[1][None], axis=-1)
    near = away < _REACH_M
    if not near.any():
        return None
    i = int(near.any(axis=1).argmax())
    j = int(near[i].argmax())
    if i == 0:
        return None
    return float((vehicle[0] + j) - (person[0] + i)) * STEP_S


def gap_samples(person: Track, vehicles: Sequence[Track]) -> NDArray[np.float64]:
    """Gaps between a person and the vehicles of the clip whose paths the person crosses."""
    here = person.resampled()
    gaps = [_gap_s(here, v.resampled()) for v in vehicles if v.clip == person.clip]
    return np.array([g for g in gaps if g is not None], dtype=np.float64)


def behaviour(people: PeopleSet) -> list[Samples]:
    """Samples of every person of a set whose track is long enough."""
    found = []
    for person in people.people:
        samples = walking_samples(person)
        if samples:
            found.append({**samples, "accepted_gap_s": gap_samples(person, people.vehicles)})
    return found
