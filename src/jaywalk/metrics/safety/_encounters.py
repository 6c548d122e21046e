"""Encounters on shared ground: order of passage, time between the bodies and angle of their paths.

Two bodies share ground where the areas they sweep overlap. The post-encroachment time (PET) of a
piece of ground is the time from the first body's departure to the second body's arrival. The PET of
an encounter is the smallest over its ground. It is found by moving both bodies, not with a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.encroachment import finer_gap, later_use
from jaywalk.metrics.safety._way import directions
from jaywalk.record.tracks import TURN, VX, VY, EpisodeTracks, X, Y

_BRAKING_S = 0.5  # over which the present braking of a body is measured
_HOLE_TICKS = 2  # runs of shared ground this close to each other are one


@dataclass(frozen=True, slots=True, kw_only=True)
class EncounterRules:
    """Rules that decide which encounters count as crossing or cutting in.

    Attributes:
        window_s: Use of the ground after more than this time is not an encounter.
        same_way_deg: Directions closer than this are the same: following.
        opposite_deg: Directions farther apart than this are opposite: a body that takes the ground
            of an oncoming body after it has passed does not endanger it.
        entering_s: Ground taken until this long after the ego has turned into the other's path
            counts as cutting in; ground taken later is following.
        outside_s: The ego must have been outside of that path for this long before.
        join_s: A body that goes in the ego's direction this long after has joined behind the ego.
        rolling_mps: A slower body is not approaching; it sets off behind the ego. So does one ...
        settled_s: ... that was slower at some moment of this time before.
        limit_s: Only a body expected within this time is cut off. It equals the limit on PET.
        ego_mps: A slower ego, at walking pace, endangers no person or vehicle.
    """

    window_s: float = 5.0
    same_way_deg: float = 30.0
    opposite_deg: float = 150.0
    entering_s: float = 1.0
    outside_s: float = 0.5
    join_s: float = 2.0
    rolling_mps: float = 0.5
    settled_s: float = 1.0
    limit_s: float = 1.0
    ego_mps: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoEncounter:
    """One meeting on crossing ways.

    Attributes:
        other: Index of the body.
        ego_first: Whether the ego used the ground first (it cut in), or second.
        pet_s: Smallest time between the two uses.
        tick_at: Index of the tick at which the second arrived.
        x_m: Position of the second body at that time (x).
        y_m: Position of the second body at that time (y).
    """

    other: int
    ego_first: bool
    pet_s: float
    tick_at: int
    x_m: float
    y_m: float


def find_encounters(
    tracks: EpisodeTracks, rules: EncounterRules | None = None
) -> list[EgoEncounter]:
    """Return encounters in which the ego crossed behind a body or cut it off, ordered by time."""
    rules = rules or EncounterRules()
    ego_way = directions(tracks, tracks.ego)
    encounters: list[EgoEncounter] = []
    for other in tracks.others:
        if tracks.kind[other] == "prop" or not _comes_near(tracks, other):
            continue
        pair = _Pair(tracks, other, ego_way, rules)
        encounters += pair.ego_second()
        encounters += pair.ego_first()
    return sorted(encounters, key=lambda met: (met.tick_at, met.other))


def _comes_near(tracks: EpisodeTracks, other: int) -> bool:
    """Return whether the boxes around both tracks touch and the other body moves; a cheap test."""
    here = tracks.present[other]
    if not here.any() or float(tracks.speed_mps(other)[here].max()) < 0.1:
        return False
    mine, theirs = tracks.ego_pose[:, :2], tracks.pose[other][here][:, :2]
    reach = float(np.hypot(*tracks.shape[tracks.ego, :2]) + np.hypot(*tracks.shape[other, :2]))
    apart = np.maximum(mine.min(axis=0) - theirs.max(axis=0), theirs.min(axis=0) - mine.max(axis=0))
    return bool(np.all(apart < reach))


class _Pair:
    """The ego and one other, with both ways."""

    def __init__(
        self, tracks: EpisodeTracks, other: int, ego_way: FloatArray, rules: EncounterRules
    ) -> None:
        self._tracks, self._other, self._rules = tracks, other, rules
        self._ego_way, self._way = ego_way, directions(tracks, other)
        self._ego_speed = tracks.speed_mps(tracks.ego)
        self._is_person = tracks.kind[other] == "walker"

    def _later(self, first: int, second: int) -> tuple[FloatArray, IntArray]:
        tracks = self._tracks
        gap_s, at = later_use(
            tracks.time_s,
            tracks.pose[first],
            tracks.shape[first],
            tracks.present[first],
            tracks.pose[second],
            tracks.shape[second],
            tracks.present[second],
            self._rules.window_s,
        )
        return gap_s, at

    def _angle_deg(self, ego_tick: int, other_tick: int) -> float:
        dot = float(self._ego_way[ego_tick] @ self._way[other_tick])
        return float(np.degrees(np.arccos(np.clip(dot, -1.0, 1.0))))

    def _fine(self, first: int, second: int, i: int, k: int) -> float:
        tracks = self._tracks
        return float(
            finer_gap(
                tracks.time_s,
                tracks.pose[first],
                tracks.shape[first],
                i,
                tracks.pose[second],
                tracks.shape[second],
                k,
            )
        )

    def _encounter(self, ego_first: bool, pet_s: float, tick_at: int) -> EgoEncounter:
        second = self._other if ego_first else self._tracks.ego
        x, y = self._tracks.pose[second, tick_at, [X, Y]]
        return EgoEncounter(
            other=self._other,
            ego_first=ego_first,
            pet_s=pet_s,
            tick_at=tick_at,
            x_m=float(x),
            y_m=float(y),
        )

    # -- the ego second ---------------------------------------------------------------------------

    def ego_second(self) -> list[EgoEncounter]:
        """Return encounters in which the other body crossed the ego's path before the ego."""
        tracks, rules = self._tracks, self._rules
        gap_s, at = self._later(self._other, tracks.ego)
        met = []
        for low, high in _runs(np.isfinite(gap_s)):
            if not tracks.present[self._other, high + 1]:
                continue  # it did not leave, it was removed
            ends = (
                self._angle_deg(int(at[low]), low),
                self._angle_deg(int(at[high]), high),
            )
            if not all(rules.same_way_deg <= angle <= rules.opposite_deg for angle in ends):
                continue  # a leader that turned off, or a body that pulled in ahead: following
            k = low + int(np.argmin(gap_s[low : high + 1]))
            if self._ego_speed[int(at[k])] < rules.ego_mps:
                continue
            pet_s = self._fine(self._other, tracks.ego, k, int(at[k]))
            met.append(self._encounter(False, pet_s, int(at[k])))
        return met

    # -- the ego first ----------------------------------------------------------------------------

    def ego_first(self) -> list[EgoEncounter]:
        """Return encounters in which the ego took ground that the approaching body then reached."""
        gap_s, at = self._later(self._tracks.ego, self._other)
        met = []
        for low, high in _runs(np.isfinite(gap_s)):
            ticks = self._taken(low, high, at)
            if not len(ticks):
                continue
            i = int(ticks[np.argmin(gap_s[ticks])])
            k = int(at[i])
            if self._ego_speed[ticks].max() < self._rules.ego_mps:
                continue
            if self._joins(low, i, k) or not self._is_coming(low, i):
                continue
            pet_s = self._fine(self._tracks.ego, self._other, i, k)
            met.append(self._encounter(True, pet_s, k))
        return met

    def _taken(self, low: int, high: int, at: IntArray) -> IntArray:
        """Return ticks of a run in which the ego crossed or entered the path, without following."""
        rules, time_s = self._rules, self._tracks.time_s
        ticks = np.arange(low, high + 1)
        ticks = ticks[at[ticks] >= 0]
        across = np.array(
            [self._angle_deg(int(i), int(at[i])) >= rules.same_way_deg for i in ticks]
        )
        if across.any():
            until_s = time_s[ticks[np.flatnonzero(across)[-1]]] + rules.entering_s
        elif time_s[low] - time_s[0] >= rules.outside_s:
            until_s = time_s[low] + rules.entering_s
        else:
            return np.empty(0, np.int64)
        return np.asarray(ticks[across | (time_s[ticks] <= until_s)])

    def _joins(self, low: int, i: int, k: int) -> bool:
        """Return whether a vehicle turned into the ego's path behind the ego."""
        tracks, rules = self._tracks, self._rules
        if self._is_person:
            return False
        here = np.flatnonzero(
            tracks.present[self._other] & (tracks.time_s <= tracks.time_s[k] + rules.join_s)
        )
        after = self._angle_deg(i, int(here[-1]))
        return after < rules.same_way_deg <= self._angle_deg(i, low)

    def _is_coming(self, low: int, i: int) -> bool:
        """Return whether the other body was approaching the ground when the ego entered it.

        Its motion at that moment is extrapolated: same direction or curvature, same braking.
        """
        tracks, rules = self._tracks, self._rules
        start = tracks.pose[self._other, low]
        speed = tracks.speed_mps(self._other)
        since = int(np.searchsorted(tracks.time_s, tracks.time_s[low] - rules.settled_s - 1e-9))
        recent = slice(since, low + 1)
        if not tracks.present[self._other, recent].all():
            return False
        if speed[recent].min() < rules.rolling_mps:
            return False
        before = int(np.searchsorted(tracks.time_s, tracks.time_s[low] - _BRAKING_S))
        span_s = max(float(tracks.time_s[low] - tracks.time_s[before]), 1e-3)
        braking_mps2 = max(float(speed[before] - speed[low]) / span_s, 0.0)
        turn = 0.0 if self._is_person else float(start[TURN])
        until_s = float(tracks.time_s[i] - tracks.time_s[low]) + rules.limit_s
        after_s = np.arange(0.0, until_s + 1e-9, 0.05, dtype=np.float64)
        place = go_on(start, turn, braking_mps2, after_s)
        half_x, half_y, is_round = tracks.shape[self._other]
        if not is_round:
            place = place + half_x * np.column_stack(_heading(start, turn, place))
        for tick in range(low, i + 1):
            soon = after_s <= tracks.time_s[tick] - tracks.time_s[low] + rules.limit_s
            if np.any(_distance_to_box(place[soon], tracks, tick) <= half_y):
                return True
        return False


def go_on(
    start: FloatArray, turn_rps: float, braking_mps2: float, after_s: FloatArray
) -> FloatArray:
    """Return positions (k, 2) of a body that keeps its curvature and braking until it stands."""
    vx, vy = float(start[VX]), float(start[VY])
    speed = float(np.hypot(vx, vy))
    if speed < 1e-6:
        return np.tile(start[[X, Y]], (len(after_s), 1))
    moving_s = after_s if braking_mps2 <= 0.0 else np.minimum(after_s, speed / braking_mps2)
    way_m = speed * moving_s - 0.5 * braking_mps2 * moving_s**2
    angle = turn_rps / speed * way_m
    if abs(turn_rps) < 1e-4:
        along, aside = way_m, np.zeros_like(way_m)
    else:
        radius_m = speed / turn_rps
        along, aside = radius_m * np.sin(angle), radius_m * (1.0 - np.cos(angle))
    ux, uy = vx / speed, vy / speed
    return np.column_stack([start[X] + along * ux - aside * uy, start[Y] + along * uy + aside * ux])


def _heading(
    start: FloatArray, turn_rps: float, place: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Directions along a way made by :func:`go_on`."""
    speed = float(np.hypot(start[VX], start[VY]))
    chord = np.hypot(place[:, 0] - start[X], place[:, 1] - start[Y])
    # The chord of an arc subtends twice the sine of half its angle.
    half = np.arcsin(np.clip(0.5 * chord * turn_rps / speed, -1.0, 1.0))
    angle = np.arctan2(start[VY], start[VX]) + 2.0 * half
    return np.cos(angle), np.sin(angle)


def _distance_to_box(points: FloatArray, tracks: EpisodeTracks, tick: int) -> FloatArray:
    x, y, _, cos, sin, *_ = tracks.ego_pose[tick]
    half_x, half_y = tracks.shape[tracks.ego, :2]
    dx, dy = points[:, 0] - x, points[:, 1] - y
    along = np.maximum(np.abs(dx * cos + dy * sin) - half_x, 0.0)
    across = np.maximum(np.abs(-dx * sin + dy * cos) - half_y, 0.0)
    return np.asarray(np.hypot(along, across))


def _runs(on: BoolArray) -> list[tuple[int, int]]:
    """First and last index of each run, small holes closed."""
    index = np.flatnonzero(on)
    if not len(index):
        return []
    breaks = np.flatnonzero(np.diff(index) > _HOLE_TICKS + 1)
    starts = np.r_[index[0], index[breaks + 1]]
    stops = np.r_[index[breaks], index[-1]]
    return list(zip(starts.tolist(), stops.tolist(), strict=True))
