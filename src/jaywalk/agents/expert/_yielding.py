"""Yielding at junctions: the ego enters in gaps of the streams that cross its line.

:class:`Memory` stores how long each actor has stood and whether it has ever moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving._lanes import Lanes
from jaywalk.agents.driving.perception import VEHICLE, EgoVehicle, Observation
from jaywalk.agents.driving.route_line import STEP_M
from jaywalk.agents.expert._passages import Controls, Passage, Rule
from jaywalk.agents.expert._rollouts import MILD_MPS2
from jaywalk.core.arrays import FloatArray

_MOVES_MPS: Final = 0.3


@dataclass(slots=True)
class Memory:
    """Standing times of other actors; call :meth:`update` once per tick."""

    delta_s: float
    _stood: dict[int, float] = field(default_factory=dict, init=False)
    _moved: set[int] = field(default_factory=set, init=False)

    def update(self, seen: Observation) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the standing time of each actor in seconds, and whether it has ever moved."""
        ids, still = seen.actor_id.tolist(), (seen.speed_mps < _MOVES_MPS).tolist()
        before = self._stood
        self._stood = {
            actor: before.get(actor, 0.0) + self.delta_s if stands else 0.0
            for actor, stands in zip(ids, still, strict=True)
        }
        self._moved.update(actor for actor, stands in zip(ids, still, strict=True) if not stands)
        stood = np.array([self._stood[actor] for actor in ids])
        return stood, np.array([actor in self._moved for actor in ids], dtype=np.bool_)


_LOOK_M: Final = 25.0  # junctions farther than this plus the braking distance are ignored
_AFTER_S: Final = 0.7  # the ego arrives at least this long after another car has left
_BEFORE_S: Final = 1.0  # or has left this long before another car arrives
_PER_MPS_S: Final = 0.3  # more for a faster car that continues behind in the same lane
_START_MPS2: Final = 1.5
_START_S: Final = 2.0  # a car that has stood longer is waiting
_PULL_MPS2: Final = 3.2
_SLOW_MPS2: Final = 3.0  # braking of a car that is too fast for a bend
_BEYOND_M: Final = 15.0
_HARD_MPS2: Final = 4.5
_LATE_MPS2: Final = 2.5
_BRAKES_MPS2: Final = -0.5
_STILL_MPS: Final = 0.5
_TURN_S: Final = 2.5
_TURN_MPS: Final = (1.5, 7.5)  # faster cars cannot turn
_EXIT_M: Final = 3.0
_PATIENCE_S: Final = 20.0
_FIRM_MPS2: Final = 3.5  # braking that the ego may cause after a very long wait
_REACT_S: Final = 0.8  # after this time
_APART_M: Final = 3.0  # distance that must remain to the ego
_APART_S: Final = 0.5


@dataclass(slots=True)
class Yielding:
    """Decisions at the junctions of one line."""

    passages: list[Passage]
    lanes: Lanes
    controls: Controls
    delta_s: float
    waited_s: float = field(default=0.0, init=False)
    caution: bool = field(default=False, init=False)  # an oncoming car may turn across
    because: list[int] = field(default_factory=list, init=False)  # vehicles that the ego waits for
    # Vehicles that have to brake a little because the ego went first, and up to where.
    trusted: frozenset[int] = field(default=frozenset(), init=False)
    _trusted_to_m: float = field(default=-math.inf, init=False)

    def next_passage(self, front_m: float) -> Passage | None:
        """Return the next junction on the line; None if there is none."""
        for passage in self.passages:
            if front_m < passage.entry_m + 1.0:
                return passage
        return None

    def is_crossing(self, along_m: float, own: EgoVehicle) -> bool:
        """Return whether the ego is at or in a junction with crossing streams."""
        front, tail = along_m + own.front_m, along_m + own.rear_m
        return any(
            passage.hold_m - 2.0 < front and tail < passage.exit_m and len(passage.rule) > 0
            for passage in self.passages
        )

    def is_inside(self, along_m: float, own: EgoVehicle) -> bool:
        """Return whether the ego's front is in a junction with crossing streams."""
        front = along_m + own.front_m
        return any(
            passage.entry_m + 1.0 <= front < passage.exit_m and len(passage.rule) > 0
            for passage in self.passages
        )

    def hold_gap_m(
        self,
        own: EgoVehicle,
        along_m: float,
        seen: Observation,
        stood_s: FloatArray,
        allowed_mps: FloatArray,
    ) -> float:
        """Return the room to the place where the ego must wait now; inf if it may go.

        Args:
            own: The ego.
            along_m: Its distance along the line.
            seen: Actors around it.
            stood_s: (n,) standing time of each actor.
            allowed_mps: Speed to drive at each sample of the line.
        """
        front, speed = along_m + own.front_m, max(own.speed_mps, 0.0)
        self.caution = False
        if along_m + own.rear_m > self._trusted_to_m:
            self.trusted = frozenset()
        passage = self.next_passage(front)
        if passage is None or passage.hold_m - front > _LOOK_M + speed * speed / 4.0:
            self.waited_s = 0.0
            return math.inf
        gap = self._place_m(passage) - front
        if speed * speed / (2.0 * _HARD_MPS2) > gap + 0.8:
            return math.inf  # too late to stop: continue
        if not self._must_wait(passage, own, along_m, seen, stood_s, allowed_mps):
            return math.inf
        if speed < _STILL_MPS and passage.hold_m - front < 4.0:
            self.waited_s += self.delta_s
        return max(gap, 0.0)

    def _place_m(self, passage: Passage) -> float:
        """Return where the front of the car waits now."""
        both_green = (passage.rule == Rule.IF_GREEN) & _given_way(passage)
        return passage.edge_m if bool(both_green.any()) else passage.hold_m

    def _must_wait(
        self,
        passage: Passage,
        own: EgoVehicle,
        along_m: float,
        seen: Observation,
        stood_s: FloatArray,
        allowed_mps: FloatArray,
    ) -> bool:
        if not len(passage.rule):
            return False
        cars = seen.kind == VEHICLE
        seen, stood_s = seen.where(cars), stood_s[cars]
        if not len(seen):
            return False
        away = self._their_ways_m(passage, seen)
        arrive, leave = _times(away, passage.room_m, seen, stood_s)
        if not np.isfinite(arrive).any():
            return False
        enter, out, own_pace = _own_times(passage, own, along_m, allowed_mps)
        pace = seen.speed_mps[None, :]
        could = passage.turns[:, None] & (arrive < enter[:, None] + _TURN_S)
        self.caution = bool((could & (pace > _TURN_MPS[0]) & (pace < _TURN_MPS[1])).any())
        impatient = 0.4 if self.waited_s > _PATIENCE_S else 1.0
        faster = np.maximum(seen.speed_mps[None, :] - own_pace[:, None], 0.0)
        before = _BEFORE_S + np.where(passage.merges[:, None], _PER_MPS_S * faster, 0.0)
        before = before * impatient
        conflict = np.isfinite(arrive)
        conflict &= (arrive - before < out[:, None]) & (
            leave + _AFTER_S * impatient > enter[:, None]
        )
        inside = arrive <= 0.3
        first = (passage.rule == Rule.FIRST_COME)[:, None]
        owed = _given_way(passage)[:, None] | (first & (arrive < enter[:, None] + 0.3))
        after = np.zeros_like(conflict)
        both_green = (passage.rule == Rule.IF_GREEN)[:, None]
        if self.waited_s > _PATIENCE_S:
            # Enter a stream without gaps where the next car need not brake hard.
            after = owed & both_green & ~inside & np.isfinite(arrive) & (arrive > enter[:, None])
            late = self.waited_s > 3.0 * _PATIENCE_S
            brakes = _FIRM_MPS2 if self.waited_s > 4.0 * _PATIENCE_S else MILD_MPS2
            there = _arrive_braking_s(away, seen, enter, brakes_mps2=brakes, gently=not late)
            after &= there > out[:, None]
        if self.waited_s > 2.0 * _PATIENCE_S:
            owed &= both_green & (seen.speed_mps > _STILL_MPS)
        ahead = conflict & (owed | inside) & ~after
        self.because = seen.actor_id[ahead.any(axis=0)].tolist()
        behind = [] if self.because else seen.actor_id[after.any(axis=0)].tolist()
        self.trusted = frozenset(behind)
        self._trusted_to_m = passage.exit_m + _BEYOND_M
        return bool(self.because)

    def _their_ways_m(self, passage: Passage, seen: Observation) -> FloatArray:
        """Return the distance of each front to each meeting place; inf if it never arrives."""
        yaw = np.arctan2(seen.sin, seen.cos)
        point, misfit = self.lanes.match(seen.xy_m, seen.z_m, yaw)
        soon, soon_misfit = self.lanes.match(
            seen.xy_m + 0.5 * seen.velocity_mps, seen.z_m, yaw + 0.5 * seen.yaw_rate_radps
        )
        segment, along = self.lanes.segment[point], self.lanes.along_m[point]
        away = np.where(misfit < 2.0, passage.upstream_m[:, segment] - along, np.inf)
        # Lanes overlap inside a junction: the predicted place selects the lane.
        later = passage.upstream_m[:, self.lanes.segment[soon]] - self.lanes.along_m[soon]
        later = later + 0.5 * seen.speed_mps
        away = np.where(np.isfinite(away) | (soon_misfit >= 2.0), away, later)
        away = away - seen.half_m[:, 0]
        gone = away < -(passage.room_m[:, None] + 2.0 * seen.half_m[:, 0])
        away = np.where(gone, np.inf, away)
        held = self._held_back(segment, along, seen)
        return np.asarray(np.where(held[None, :], np.inf, away))

    def _held_back(self, segment: NDArray[np.int64], along: FloatArray, seen: Observation) -> Any:
        """Return a mask of the vehicles that a light stops."""
        held = np.zeros(len(seen), np.bool_)
        for k, (number, at) in enumerate(zip(segment.tolist(), along.tolist(), strict=True)):
            light = self.controls.light.get(number)
            if light is None or light.state == carla.TrafficLightState.Green:
                continue
            speed = float(seen.speed_mps[k])
            left = self.lanes.length_m(number) - at - float(seen.half_m[k, 0])
            needed = speed * speed / (2.0 * max(left + 2.0, 0.1))
            # A vehicle that would have to brake by now and does not will not stop.
            brakes = seen.acceleration_mps2[k] < _BRAKES_MPS2
            held[k] = needed < (_HARD_MPS2 if brakes else _LATE_MPS2)
        return held


def _given_way(passage: Passage) -> NDArray[np.bool_]:
    """Return the streams that the ego yields to now."""
    given: NDArray[np.bool_] = np.asarray(passage.rule == Rule.GIVE_WAY)
    if _is_green(passage.own_light):
        green = np.array([_is_green(light) for light in passage.lights], np.bool_)
        given |= (passage.rule == Rule.IF_GREEN) & green
    return given


def _is_green(light: Any) -> bool:
    return light is not None and light.state == carla.TrafficLightState.Green


def _arrive_braking_s(
    away_m: FloatArray, seen: Observation, enter_s: FloatArray, *, brakes_mps2: float, gently: bool
) -> FloatArray:
    """Return the arrival time of each vehicle if it brakes for the ego; inf if it stops before.

    It brakes only once the ego has arrived, not for an ego that might cross.

    Args:
        away_m: (s, n) distance to each meeting place.
        seen: The vehicles.
        enter_s: (s,) arrival time of the ego.
        brakes_mps2: Their deceleration.
        gently: Whether they keep half a second of distance.
    """
    speed = np.maximum(seen.speed_mps, 0.1)[None, :]
    react = np.maximum(enter_s, _REACT_S)[:, None]
    apart = _APART_M + (_APART_S * speed if gently else 0.0)
    left = np.maximum(away_m - apart, 0.0) - speed * react
    root = speed * speed - 2.0 * brakes_mps2 * left
    with np.errstate(invalid="ignore"):
        late = react + (speed - np.sqrt(np.maximum(root, 0.0))) / brakes_mps2
        soon = np.maximum(left + speed * react, 0.0) / speed
    return np.asarray(np.where(root < 0.0, np.inf, np.where(left > 0.0, late, soon)))


def _times(
    away_m: FloatArray, room_m: FloatArray, seen: Observation, stood_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    speed = seen.speed_mps[None, :]
    still = speed < _STILL_MPS
    pace = np.maximum(speed, 1.0)
    ahead = np.maximum(away_m, 0.0)
    length = room_m[:, None] + 2.0 * seen.half_m[:, 0]
    leave = (away_m + length) / pace
    arrive = ahead / pace
    # A standing car may start; a car that has stood for a while is waiting.
    starting = np.sqrt(2.0 * ahead / _START_MPS2)
    waits = still & (stood_s > _START_S)[None, :]
    arrive = np.where(still, np.where(waits, np.inf, starting), arrive)
    leave = np.where(still, starting + length / 3.0, leave)
    return arrive, leave


def _own_times(
    passage: Passage, own: EgoVehicle, along_m: float, allowed_mps: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ego's times of entry to and exit from each meeting place, and its entry speed."""
    way, time_s, pace = _drive(passage, own, along_m, allowed_mps)
    first = passage.from_m - along_m - own.front_m
    # A vehicle that continues in the same lane then follows the ego, so the entry is enough.
    last = np.where(passage.merges, passage.from_m, passage.to_m) - along_m - own.rear_m
    return np.interp(first, way, time_s), np.interp(last, way, time_s), np.interp(first, way, pace)


def _drive(
    passage: Passage, own: EgoVehicle, along_m: float, allowed_mps: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return metres, seconds and speed of the ego from here to beyond a junction."""
    here = int(along_m / STEP_M)
    allowed = allowed_mps[here : int((passage.exit_m + _BEYOND_M) / STEP_M)].copy()
    inside = max(int(passage.entry_m / STEP_M) - here, 0)
    slowest = allowed[inside : max(int(passage.exit_m / STEP_M) - here, inside + 1)]
    allowed[inside:] = slowest.min(initial=allowed[-1] if len(allowed) else 1.0)
    way = STEP_M * np.arange(len(allowed) + 1, dtype=np.float64)
    speed = max(own.speed_mps, 0.0)
    fastest = np.sqrt(speed**2 + 2.0 * _PULL_MPS2 * way)
    brakes = np.sqrt(np.maximum(speed**2 - 2.0 * _SLOW_MPS2 * way, 0.0))
    pace = np.maximum(np.minimum(np.append(allowed, allowed[-1:]), fastest), brakes)
    pace[0] = speed
    steps_s = STEP_M / np.maximum(0.5 * (pace[1:] + pace[:-1]), 0.5)
    return way, np.concatenate([[0.0], np.cumsum(steps_s)]), pace


def exit_gap_m(
    passage: Passage | None, own: EgoVehicle, along_m: float, at_m: FloatArray, lead_mps: FloatArray
) -> float:
    """Return the room to the waiting place if the junction's exit is taken; inf if it is free."""
    if passage is None:
        return math.inf
    front = along_m + own.front_m
    room = passage.exit_m + 2.0 * own.half_length_m + _EXIT_M
    blocked = (at_m > passage.entry_m) & (at_m < room) & (lead_mps < 1.0)
    speed = max(own.speed_mps, 0.0)
    gap = passage.hold_m - front
    if gap > 40.0 or not blocked.any() or speed * speed / (2.0 * _HARD_MPS2) > gap + 0.8:
        return math.inf
    return max(gap, 0.0)
