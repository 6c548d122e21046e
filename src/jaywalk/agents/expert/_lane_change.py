"""Lane changes of the route, and making way for emergency vehicles.

A lane change needs a gap and is delayed if there is none. For an emergency vehicle that approaches
from behind, the ego moves to the next lane or to the edge of the road.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np

from jaywalk.agents.driving._frame import project
from jaywalk.agents.driving.perception import VEHICLE, EgoVehicle, Observation, Perception
from jaywalk.agents.driving.route_line import STEP_M, RouteLine, change_length, lay_change
from jaywalk.agents.expert._bypass import ASIDE, Bypass, BypassPath, transition_m
from jaywalk.agents.expert._bypass_room import Room, room_beside
from jaywalk.agents.expert._rollouts import MILD_MPS2
from jaywalk.geometry.pose import yaw_rad

_NEAR_M: Final = 60.0
_FASTER_MPS: Final = 0.5
_IN_LANE_M: Final = 2.0
_AGREE: Final = 0.7  # cosine of the angle between its heading and the line
_HOLD_M: Final = 60.0  # stay aside over this distance ...
_LEAST_HOLD_M: Final = 12.0  # ... and for less it is not worth it
_BEFORE_JUNCTION_M: Final = 8.0  # to be back in the lane
_LEAST_ASIDE_M: Final = 2.2  # room for another car to pass in the middle of the lane
_EDGE_M: Final = 0.1


@dataclass(slots=True)
class MakeWay:
    """Moves the ego aside while an emergency vehicle approaches."""

    bypass: Bypass
    perception: Perception

    def update(self, own: EgoVehicle, along_m: float, seen: Observation) -> None:
        """Move aside if an emergency vehicle approaches and there is room."""
        if self.bypass.way is not None or not self._comes(own, along_m, seen):
            return
        ways = [self._aside(own, along_m, right) for right in (True, False)]
        known = [way for way in ways if way is not None]
        # Prefer a lane to the edge of the road, on either side.
        for _, way in sorted(known, key=lambda pair: pair[0]):
            if self.bypass.take(way, own, along_m, seen):
                return

    def _comes(self, own: EgoVehicle, along_m: float, seen: Observation) -> bool:
        """Return whether one with its lights on approaches from behind in the ego's lane."""
        known = self.perception.emergency
        if not known:
            return False
        mine = seen.where(
            np.array([actor_id in known for actor_id in seen.actor_id.tolist()], np.bool_)
        )
        line, here = self.bypass.line, int(along_m / STEP_M)
        back = int((_NEAR_M + 20.0) / STEP_M)
        at, right, yaw = project(line, here - back, here + 2, mine.xy_m, mine.z_m)
        gap_m = along_m + own.rear_m - (at + mine.half_m[:, 0])
        pace = mine.velocity_mps[:, 0] * np.cos(yaw) + mine.velocity_mps[:, 1] * np.sin(yaw)
        agrees = mine.cos * np.cos(yaw) + mine.sin * np.sin(yaw) > _AGREE
        comes = (np.abs(right) < _IN_LANE_M) & agrees & (gap_m > 0.0) & (gap_m < _NEAR_M)
        comes &= (pace > own.speed_mps + _FASTER_MPS) | (gap_m < 0.5 * _NEAR_M)
        return bool(comes.any()) and bool(
            self.perception.lit() & set(mine.actor_id[comes].tolist())
        )

    def _aside(
        self, own: EgoVehicle, along_m: float, right: bool
    ) -> tuple[bool, BypassPath] | None:
        """Return whether only the road's edge is free on one side, and the path to it.

        The path ends before the next junction. None if there is neither a lane nor an edge.
        """
        line = self.bypass.line
        first = int(along_m / STEP_M)
        reach = first + int(2.0 * _HOLD_M / STEP_M)
        inside = np.flatnonzero(line.in_junction[first:reach])
        end_m = STEP_M * (first + int(inside[0])) if len(inside) else STEP_M * reach
        last = min(int(end_m / STEP_M), len(line) - 1)
        room = room_beside(self.bypass.carla_map, line, first, last - 1, right)
        offset = _offset_m(room, own.half_width_m)
        if offset < _LEAST_ASIDE_M:
            return None
        bend_m = transition_m(offset, own.speed_mps)
        from_m = along_m + bend_m + 1.0
        to_m = min(from_m + _HOLD_M, end_m - own.front_m - _BEFORE_JUNCTION_M)
        if to_m - from_m < _LEAST_HOLD_M:
            return None
        way = BypassPath(
            offset_m=offset if right else -offset,
            from_m=from_m,
            to_m=to_m,
            transition_m=bend_m,
            back_m=bend_m,
            kind=ASIDE,
        )
        return not room.traffic, way


def _offset_m(room: Room, half_width_m: float) -> float:
    """Return the offset to the middle of the next lane or to the edge; 0 if there is no room."""
    if room.traffic and not room.same_way:
        return 0.0
    middle_m = 0.5 * (room.own_m + room.all_m)
    return min(middle_m, room.all_m - half_width_m - _EDGE_M)


_LATER_M: Final = 6.0
_BESIDE_M: Final = 1.6
_BEHIND_S: Final = 2.5  # per difference of speed to a faster car
_ROOM_M: Final = 3.0
_HEADWAY_S: Final = 0.5
_FARTHEST_M: Final = 80.0  # maximum delay of a change
_PATIENCE_S: Final = 8.0  # wait at the last possible start; after it other cars may have to brake
_STANDS_MPS: Final = 0.5
_PULL_MPS2: Final = 3.0
_APART_M: Final = 2.5
_TRUSTED_M: Final = 10.0  # beyond the change


@dataclass(slots=True)
class LaneChanges:
    """The lane changes of one line and their starts."""

    line: RouteLine
    carla_map: Any
    delta_s: float = 0.05
    begin: list[int] = field(default_factory=list)
    latest: list[int] = field(default_factory=list)
    trusted: frozenset[int] = field(default=frozenset(), init=False)  # cars that may brake
    _trusted_to_m: float = field(default=-math.inf, init=False)
    _waited_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Start each change where the route has it; find its latest start on continuing lanes."""
        self.begin = [int(change) for change in self.line.change_from]
        self.latest = [self._latest(change) for change in self.begin]

    def _latest(self, change: int) -> int:
        aside = self._aside_m(change)
        length = change_length(self.line, change, aside)
        last = change
        following = self.line.change_from[self.line.change_from > change]
        stop = int(following[0]) if len(following) else len(self.line)
        for k in range(change, min(change + int(_FARTHEST_M / STEP_M), stop), 8):
            if self.line.in_junction[k] or not self._old_lane_at(k, aside):
                break
            last = k
        return max(change, last - int(length / STEP_M))

    def _aside_m(self, change: int) -> float:
        """Return the offset of the old lane to the right of the new one, in metres."""
        yaw = self.line.base_yaw_rad[change]
        gap = self.line.base_m[change - 1, :2] - self.line.base_m[change, :2]
        return float(-gap[0] * np.sin(yaw) + gap[1] * np.cos(yaw))

    def _old_lane_at(self, sample: int, aside_m: float) -> bool:
        yaw = self.line.base_yaw_rad[sample]
        x, y, z = self.line.base_m[sample]
        place = carla.Location(
            float(x - aside_m * np.sin(yaw)), float(y + aside_m * np.cos(yaw)), float(z)
        )
        waypoint = self.carla_map.get_waypoint(place, project_to_road=False)
        if waypoint is None or waypoint.is_junction:
            return False
        return bool(np.cos(yaw_rad(waypoint.transform) - yaw) > 0.7)

    def update(self, own: EgoVehicle, along_m: float, seen: Observation) -> float:
        """Delay the next change if its lane is taken; return the room to the wait, or inf."""
        here = int(along_m / STEP_M)
        if along_m > self._trusted_to_m:
            self.trusted = frozenset()
        for number, change in enumerate(self.line.change_from.tolist()):
            begin = self.begin[number]
            if here >= begin:
                continue
            speed = max(own.speed_mps, 0.0)
            if (begin - here) * STEP_M > 12.0 + 1.5 * speed:
                return math.inf
            if self._is_clear(own, along_m, seen, change):
                self._waited_s = 0.0 if speed > _STANDS_MPS else self._waited_s
                return math.inf
            later = here + int((_LATER_M + 0.7 * speed) / STEP_M)
            if later <= begin:
                return math.inf
            if later > self.latest[number]:
                self._waited_s += self.delta_s if speed < _STANDS_MPS else 0.0
                return max((self.latest[number] - here) * STEP_M - 1.0, 0.0)
            self.begin[number] = later
            lay_change(self.line, change, later)
            self.line.refresh(change)
            return math.inf
        return math.inf

    def _is_clear(self, own: EgoVehicle, along_m: float, seen: Observation, change: int) -> bool:
        """Return whether the new lane is free beside the ego, behind (faster cars) and ahead.

        After a long wait it is enough that cars from behind need not brake hard.
        """
        cars = seen.where(seen.kind == VEHICLE)
        here = int(along_m / STEP_M)
        at, right, yaw = project(self.line, here - 140, here + 80, cars.xy_m, cars.z_m)
        aside = self._aside_m(change)
        beside = np.where(at >= change * STEP_M, right, right + aside)
        in_lane = (np.abs(beside) < _BESIDE_M) & (np.abs(np.where(np.isfinite(right), 0, 9)) < 1)
        pace = cars.velocity_mps[:, 0] * np.cos(yaw) + cars.velocity_mps[:, 1] * np.sin(yaw)
        speed = max(own.speed_mps, 0.0)
        behind = along_m + own.rear_m - (at + cars.half_m[:, 0])
        ahead = at - cars.half_m[:, 0] - along_m - own.front_m
        room_behind = _ROOM_M + _HEADWAY_S * pace + _BEHIND_S * np.maximum(pace - speed, 0.0)
        room_ahead = _ROOM_M + 0.3 * speed + 1.5 * np.maximum(speed - pace, 0.0)
        taken = in_lane & (behind < room_behind) & (ahead < room_ahead)
        if self._waited_s > _PATIENCE_S:
            closing = np.maximum(pace - speed, 0.0)
            needed = _APART_M + closing**2 / (2.0 * (_PULL_MPS2 + MILD_MPS2))
            joins = taken & (behind > needed)
            if bool(joins.any()) and not bool((taken & ~joins).any()):
                self.trusted = frozenset(cars.actor_id[joins].tolist())
                self._trusted_to_m = along_m + change_length(self.line, change, aside) + _TRUSTED_M
                return True
        return not bool(taken.any())
