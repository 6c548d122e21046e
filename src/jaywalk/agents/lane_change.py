"""When to change lanes: only into a gap, later if there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.forecast import MILD_MPS2
from jaywalk.agents.frame import project
from jaywalk.agents.perception import VEHICLE, Own, Seen
from jaywalk.agents.route_line import STEP_M, RouteLine, change_length, lay_change

FloatArray = NDArray[np.float64]

_LATER_M: Final = 6.0
_BESIDE_M: Final = 1.6
_BEHIND_S: Final = 2.5  # for one that comes faster
_ROOM_M: Final = 3.0
_HEADWAY_S: Final = 0.5
_FARTHEST_M: Final = 80.0  # a change is put off by this at most
_PATIENCE_S: Final = 8.0  # of standing at the last place to begin; then others may have to brake
_STANDS_MPS: Final = 0.5
_PULL_MPS2: Final = 3.0
_APART_M: Final = 2.5
_TRUSTED_M: Final = 10.0  # beyond the change


@dataclass(slots=True)
class LaneChanges:
    """The changes of one line, and where each begins."""

    line: RouteLine
    carla_map: Any
    delta_s: float = 0.05
    begin: list[int] = field(default_factory=list)
    latest: list[int] = field(default_factory=list)
    trusted: frozenset[int] = field(default=frozenset(), init=False)  # who has to brake a little
    _trusted_to_m: float = field(default=-math.inf, init=False)
    _waited_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Each begins where the route has it, and may begin as long as both lanes go on."""
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
        """Where the old lane lies, right of the new one."""
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
        return bool(np.cos(np.deg2rad(waypoint.transform.rotation.yaw) - yaw) > 0.7)

    def update(self, own: Own, along_m: float, seen: Seen) -> float:
        """Put the next change off when its lane is taken; room to where one must wait, or inf."""
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

    def _is_clear(self, own: Own, along_m: float, seen: Seen, change: int) -> bool:
        """Whether nobody in the other lane is beside, close behind and faster, or close ahead.

        After a while it is enough that who comes from behind need not brake hard.
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
