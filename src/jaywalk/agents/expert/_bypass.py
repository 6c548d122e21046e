"""Bypass of obstacles: in the ego's lane, in the next lane, or in the opposite lane.

A bypass is an additional offset of the line. The driver starts it only when it is clear, and keeps
checking while on it. Where there is no room, the driver waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving._frame import project
from jaywalk.agents.driving._lanes import Lanes
from jaywalk.agents.driving.perception import PERSON, VEHICLE, EgoVehicle, Observation
from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.agents.expert._bypass_room import Room, StandingObstacle, room_beside
from jaywalk.agents.expert._passages import upstream_m
from jaywalk.core.arrays import FloatArray

_SIDE_M: Final = 0.45
_CLOSE_SIDE_M: Final = 0.32  # after a wait, if the ego can then stay in its lane
_PATIENCE_TICKS: Final = 160
_PERSON_SIDE_M: Final = 0.9
_OVER_EDGE_M: Final = 0.25  # this far over the marking still counts as in the lane
_LOOK_M: Final = 45.0
_PER_OFFSET: Final = 3.2  # metres of transition per metre of offset
_TRANSITION_M: Final = (5.0, 28.0)
_LATERAL_MPS2: Final = 3.0  # on a transition
_LEAST_PER_OFFSET: Final = 1.3
_WAIT_PER_OFFSET: Final = 2.8  # room to keep for the bypass while waiting
_BACK_MPS: Final = 8.0  # the transition back is smooth at this speed
_CLEAR_M: Final = 0.8
ASIDE: Final = "aside"  # kind of a bypass that makes way for another vehicle
_PASS_MPS: Final = {
    "own": 9.0,
    "close": 4.0,
    "same": 12.0,
    "edge": 9.0,
    "opposite": 11.0,
    ASIDE: 8.0,
}
_PULL_MPS2: Final = 3.6
_SPARE_S: Final = 0.8  # between the return to the lane and the next oncoming vehicle
_AFTER_S: Final = 0.4  # between the rear of the last oncoming vehicle and the entry into its lane
_ENTER_SHARE: Final = 0.35  # share of a transition after which the ego is in the next lane
_SIGHT_M: Final = 160.0
_IN_LANE_M: Final = 0.35
_BEFORE_JUNCTION_M: Final = 1.0  # the ego is back in its lane this far before a junction
_ROOM_TO_RETURN_M: Final = 1.0
_STUCK_TICKS: Final = 60
_DECIDE_S: Final = {"own": 6.0, "close": 6.0, "same": 3.5, "edge": 2.5, "opposite": 1.6}
_DECIDE_M: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BypassPath:
    """A bypass: offset of the line between two places, and the lane that it uses."""

    offset_m: float
    from_m: float  # full offset from here
    to_m: float  # to here
    transition_m: float
    back_m: float  # length of the transition back
    kind: str  # "own", "close" (in the lane with less room), "same", "opposite", "edge" or ASIDE

    @property
    def in_lane(self) -> bool:
        """Return whether the ego stays in its lane."""
        return self.kind in ("own", "close")

    @property
    def end_m(self) -> float:
        """Distance along the line at which the ego is back on its line."""
        return self.to_m + self.back_m


@dataclass(slots=True)
class Bypass:
    """Choice and state of the bypass on one line."""

    line: RouteLine
    carla_map: Any
    lanes: Lanes
    way: BypassPath | None = field(default=None, init=False)
    _end_m: float = field(default=-1.0, init=False)
    _laid: tuple[int, FloatArray] = field(default_factory=lambda: (0, np.zeros(0)), init=False)
    _limits: FloatArray = field(default_factory=lambda: np.zeros(0), init=False)
    _stood: int = field(default=0, init=False)  # ticks
    _waited: int = field(default=0, init=False)  # ticks
    _rooms: dict[tuple[tuple[int, ...], bool], Room] = field(default_factory=dict, init=False)

    @property
    def top_mps(self) -> float:
        """Speed on the present bypass; inf if there is none."""
        return math.inf if self.way is None else _PASS_MPS[self.way.kind]

    @property
    def hurries(self) -> bool:
        """Return whether the ego is on a bypass in the opposite lane."""
        return self.way is not None and self.way.kind == "opposite"

    def update(
        self,
        own: EgoVehicle,
        along_m: float,
        seen: Observation,
        blocking: NDArray[np.bool_],
        standing: NDArray[np.bool_],
    ) -> float:
        """Start a bypass if possible; return the room to the place to wait for it, or inf.

        Args:
            own: The ego.
            along_m: Its distance along the line.
            seen: Actors around it.
            blocking: (n,) mask of actors that block the line and will not move.
            standing: (n,) mask of standing actors, on the line or beside it.
        """
        if self.way is not None:
            self._reconsider(self.way, own, along_m, seen)
        if self.way is not None or not blocking.any():
            return math.inf
        things = self._standing(along_m, seen, blocking, standing)
        begin = float(np.min(things.from_m[things.blocks]))
        front = along_m + own.front_m
        if begin - front > _LOOK_M:
            return math.inf
        ways = self._ways(things, own)
        self._waited = self._waited + 1 if own.speed_mps < 0.3 else 0
        if self._waited > _PATIENCE_TICKS:
            ways = self._close_ways(things, own) + ways
        for way in ways:
            fitted = self._fitted(way, own, along_m)
            if fitted is None:
                continue
            if fitted.from_m - fitted.transition_m - along_m > _decide_m(fitted, own.speed_mps):
                continue  # too early: other vehicles may still come
            if self._is_clear(fitted, own, along_m, seen):
                self._lay(fitted, along_m)
                return math.inf
        if not ways:
            return math.inf  # no bypass: car following stops behind the obstacle
        least = _WAIT_PER_OFFSET * min(abs(way.offset_m) for way in ways) + 3.0
        return max(begin - max(least, 5.5) - front, 0.0)

    def take(self, way: BypassPath, own: EgoVehicle, along_m: float, seen: Observation) -> bool:
        """Start a bypass if it fits and is clear; return whether it was started."""
        fitted = self._fitted(way, own, along_m)
        if fitted is None or not self._is_clear(fitted, own, along_m, seen):
            return False
        self._lay(fitted, along_m)
        return True

    def _reconsider(
        self, way: BypassPath, own: EgoVehicle, along_m: float, seen: Observation
    ) -> None:
        """Drop the bypass at its end, or cancel it while the ego is still in its lane."""
        if along_m > self._end_m:
            self.way = None
            return
        stands = own.speed_mps < 0.2 and along_m < way.from_m - _ROOM_TO_RETURN_M
        self._stood += 1 if stands else -self._stood
        here = self.line.offset_m[int(along_m / STEP_M)] - self._before(int(along_m / STEP_M))
        in_lane = abs(here) < _IN_LANE_M and along_m < way.from_m
        if (in_lane and not self._is_clear(way, own, along_m, seen)) or self._stood > _STUCK_TICKS:
            first, laid = self._laid
            self.line.offset_m[first : first + len(laid)] -= laid
            self.line.limit_mps[first : first + len(laid)] = self._limits
            self.line.refresh(first, first + len(laid))
            self.way, self._stood = None, 0

    def _before(self, sample: int) -> float:
        """Return the offset of the line at a sample without the bypass."""
        first, laid = self._laid
        inside = first <= sample < first + len(laid)
        bump = float(laid[sample - first]) if inside else 0.0
        return float(self.line.offset_m[sample]) - bump

    def _standing(
        self,
        along_m: float,
        seen: Observation,
        blocking: NDArray[np.bool_],
        standing: NDArray[np.bool_],
    ) -> StandingObstacle:
        """Return the standing actors ahead in coordinates of the line."""
        wanted = blocking | standing
        some = seen.where(wanted)
        first = int(along_m / STEP_M)
        last = first + int((_LOOK_M + 60.0) / STEP_M)
        at, right, yaw = project(self.line, first - 10, last, some.xy_m, some.z_m)
        cos = np.abs(some.cos * np.cos(yaw) + some.sin * np.sin(yaw))
        sin = np.abs(some.sin * np.cos(yaw) - some.cos * np.sin(yaw))
        ahead = some.half_m[:, 0] * cos + some.half_m[:, 1] * sin
        aside = some.half_m[:, 0] * sin + some.half_m[:, 1] * cos
        return StandingObstacle(
            from_m=at - ahead,
            to_m=at + ahead,
            left_m=right - aside,
            right_m=right + aside,
            side_m=np.where(some.kind == PERSON, _PERSON_SIDE_M, _SIDE_M),
            blocks=blocking[wanted],
            actor_id=some.actor_id,
        )

    def _ways(self, things: StandingObstacle, own: EgoVehicle) -> list[BypassPath]:
        """Return the bypasses that fit on the road, the simplest first."""
        ways = []
        for right in (False, True):
            obstacle = things.grown(right, 2.0 * own.half_width_m)
            reach = obstacle.edge_m + own.half_width_m
            if reach <= 0.0:
                continue
            key = (obstacle.ids, right)
            if key not in self._rooms:
                first = int((obstacle.from_m - 8.0) / STEP_M)
                last = int((obstacle.to_m + 8.0) / STEP_M)
                self._rooms[key] = room_beside(self.carla_map, self.line, first, last, right)
            kind = _kind(self._rooms[key], reach + own.half_width_m)
            if kind is None:
                continue
            ways.append(
                BypassPath(
                    offset_m=reach if right else -reach,
                    from_m=obstacle.from_m - own.front_m - _CLEAR_M,
                    to_m=obstacle.to_m - own.rear_m + _CLEAR_M,
                    transition_m=transition_m(reach, own.speed_mps),
                    back_m=transition_m(reach, _BACK_MPS),
                    kind=kind,
                )
            )
        rank = {"own": 0, "same": 1, "edge": 2, "opposite": 3}
        return sorted(ways, key=lambda way: (rank[way.kind], abs(way.offset_m)))

    def _close_ways(self, things: StandingObstacle, own: EgoVehicle) -> list[BypassPath]:
        """Return bypasses in the ego's lane with less room than usual to objects, not to people."""
        side_m = np.where(things.side_m > _SIDE_M, things.side_m, _CLOSE_SIDE_M)
        ways = self._ways(replace(things, side_m=side_m), own)
        return [replace(way, kind="close") for way in ways if way.kind == "own"]

    def _fitted(self, way: BypassPath, own: EgoVehicle, along_m: float) -> BypassPath | None:
        """Return the bypass with transitions that fit before and after it; None without room."""
        least = _LEAST_PER_OFFSET * abs(way.offset_m)
        room = way.from_m - along_m - 0.5
        back_m = self._back_m(way, own)
        if min(room, back_m) < least:
            return None
        way = replace(way, back_m=back_m)
        first, last = int(along_m / STEP_M), int(way.end_m / STEP_M)
        if last >= len(self.line):
            return None
        if not way.in_lane and bool(self.line.in_junction[first : last + 1].any()):
            return None
        changes = self.line.change_from
        if bool(np.any((changes > first - 60) & (changes < last + 20))):
            return None
        return replace(way, transition_m=min(way.transition_m, room))

    def _back_m(self, way: BypassPath, own: EgoVehicle) -> float:
        """Return the length of the transition back, shorter if it must end before a junction."""
        first = int(way.to_m / STEP_M)
        inside = self.line.in_junction[first : int((way.end_m + own.front_m) / STEP_M) + 2]
        if way.in_lane or not inside.any():
            return way.back_m
        return min(STEP_M * int(np.argmax(inside)) - own.front_m - _BEFORE_JUNCTION_M, way.back_m)

    def _is_clear(
        self, way: BypassPath, own: EgoVehicle, along_m: float, seen: Observation
    ) -> bool:
        if way.in_lane:
            return True
        cars = seen.where(seen.kind == VEHICLE)
        if way.kind == "opposite":
            return self._oncoming_clear(way, own, along_m, cars)
        here = int(along_m / STEP_M)
        at, right, yaw = project(self.line, here - 120, here + 120, cars.xy_m, cars.z_m)
        beside = np.abs(right - way.offset_m) < own.half_width_m + cars.half_m[:, 1] + 0.3
        pace = cars.velocity_mps[:, 0] * np.cos(yaw) + cars.velocity_mps[:, 1] * np.sin(yaw)
        speed = max(own.speed_mps, 0.0)
        behind = along_m + own.rear_m - (at + cars.half_m[:, 0])
        ahead = at - cars.half_m[:, 0] - along_m - own.front_m
        room = 3.0 + 0.5 * pace + 2.5 * np.maximum(pace - speed, 0.0)
        taken = beside & (behind < room) & (ahead < 3.0) & (np.abs(pace) > 0.3)
        standing = beside & (np.abs(pace) <= 0.3) & (at > along_m) & (at < way.to_m)
        return not bool((taken | standing).any())

    def _oncoming_clear(
        self, way: BypassPath, own: EgoVehicle, along_m: float, cars: Observation
    ) -> bool:
        """Return whether no vehicle comes in the opposite lane before the ego is back."""
        if not len(cars):
            return True
        back_m = way.to_m + 0.6 * way.back_m
        k = min(int(back_m / STEP_M), len(self.line) - 1)
        yaw = float(self.line.base_yaw_rad[k])
        place = self.line.base_m[k : k + 1, :2] + way.offset_m * np.array(
            [[-np.sin(yaw), np.cos(yaw)]]
        )
        point, misfit = self.lanes.match(
            place, self.line.base_m[k : k + 1, 2], np.array([yaw + np.pi])
        )
        if misfit[0] > 2.5:
            return False
        segment = int(self.lanes.segment[point[0]])
        upstream = upstream_m(self.lanes, segment, float(self.lanes.along_m[point[0]]), _SIGHT_M)
        theirs, fit = self.lanes.match(cars.xy_m, cars.z_m, np.arctan2(cars.sin, cars.cos))
        away = upstream[self.lanes.segment[theirs]] - self.lanes.along_m[theirs]
        away = np.where((fit < 2.0) & (away > -200.0), away, np.inf)
        # Distances of their fronts and rears to the place where the ego is back in its lane.
        front, tail = away - cars.half_m[:, 0], away + cars.half_m[:, 0]
        enter_m = way.from_m - (1.0 - _ENTER_SHARE) * way.transition_m
        enter_s = self._needed_s(way, own, along_m, enter_m - own.front_m)
        back_s = self._needed_s(way, own, along_m, back_m - own.rear_m)
        speed = cars.speed_mps
        gone = tail + (back_m - enter_m) < speed * max(enter_s - _AFTER_S, 0.0)
        comes = front < speed * (back_s + _SPARE_S)
        return not bool((np.isfinite(away) & ~gone & comes).any())

    def _needed_s(self, way: BypassPath, own: EgoVehicle, along_m: float, to_m: float) -> float:
        """Return the time until the ego reaches a place on the bypass at feasible speeds."""
        out_mps = _bend_mps(way.offset_m, way.transition_m)
        back_mps = _bend_mps(way.offset_m, way.back_m)
        top, speed, spent_s, at = self._pass_mps(way), max(own.speed_mps, 0.0), 0.0, along_m
        while at < to_m:
            bends = out_mps if at < way.from_m else back_mps if at > way.to_m else top
            after = min(math.sqrt(speed * speed + 2.0 * _PULL_MPS2), max(min(bends, top), 2.0))
            spent_s += 2.0 / max(speed + after, 0.5)
            speed, at = after, at + 1.0
        return spent_s

    def _pass_mps(self, way: BypassPath) -> float:
        """Return the speed on a bypass: the maximum of its kind, or the limit if lower.

        In the opposite lane the limit is ignored, to keep the time there short.
        """
        if way.kind == "opposite":
            return _PASS_MPS[way.kind]
        at = min(max(int(way.from_m / STEP_M), 0), len(self.line) - 1)
        return max(min(_PASS_MPS[way.kind], float(self.line.limit_mps[at])), 3.0)

    def _lay(self, way: BypassPath, along_m: float) -> None:
        first = int((way.from_m - way.transition_m) / STEP_M)
        last = min(int(way.end_m / STEP_M) + 1, len(self.line))
        first = max(first, int(along_m / STEP_M))
        at = STEP_M * np.arange(first, last)
        up = np.clip(1.0 - (way.from_m - at) / way.transition_m, 0.0, 1.0)
        down = np.clip(1.0 - (at - way.to_m) / way.back_m, 0.0, 1.0)
        share = np.minimum(up, down)
        laid = way.offset_m * share**2 * (3.0 - 2.0 * share)
        self._laid, self._stood = (first, laid), 0
        self._limits = self.line.limit_mps[first:last].copy()
        if way.kind == "opposite":  # keep the time there short
            self.line.limit_mps[first:last] = np.maximum(self._limits, _PASS_MPS[way.kind])
        self.line.offset_m[first:last] += laid
        self.line.refresh(first, last)
        self.way, self._end_m = way, way.end_m


def _decide_m(way: BypassPath, speed_mps: float) -> float:
    """Return the distance before the start of a bypass at which it is decided."""
    return _DECIDE_M + _DECIDE_S[way.kind] * max(speed_mps, 0.0)


def transition_m(offset_m: float, speed_mps: float) -> float:
    """Return the length for a smooth transition to an offset at a speed, in metres."""
    smooth = max(speed_mps, 0.0) * math.sqrt(6.0 * offset_m / _LATERAL_MPS2)
    return min(max(_PER_OFFSET * offset_m, smooth, _TRANSITION_M[0]), _TRANSITION_M[1])


def _bend_mps(offset_m: float, transition_m: float) -> float:
    """Return the maximum speed on a transition."""
    return transition_m * math.sqrt(_LATERAL_MPS2 / (6.0 * max(abs(offset_m), 0.1)))


def _kind(room: Room, needed_m: float) -> str | None:
    """Return the kind of a bypass that reaches this far aside; None if there is no room."""
    if needed_m <= room.own_m + _OVER_EDGE_M:
        return "own"
    if needed_m > room.all_m + 0.1:
        return None
    if not room.traffic:
        return "edge"
    return "same" if room.same_way else "opposite"
