"""What reacting people know of their own way: the road ahead, the lights, the ego and the group."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from jaywalk.actors._surroundings import RedLights
from jaywalk.actors.crowd._kernels import light_lets
from jaywalk.actors.posed._activities import Activities, Activity, PersonState
from jaywalk.actors.posed._groups import Company
from jaywalk.actors.posed._ways import CrossingWalk
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import AT_KERB, OFF_ROAD, ON_ROAD
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.seeds import stream

_MEETING_S: Final = (-1.0, 6.0)  # the ego arrives this much later than the person
_SLOWEST_EGO_MPS: Final = 3.0
OVER_M: Final = 4.0  # from the kerb to the way of the ego
_RETIMED: Final = (0.85, 1.15)  # factor on the speed of somebody who is early or late ...
_RETIMED_UNTIL_S: Final = 3.0  # ... until this long before the road
_NEAR_ROAD_M: Final = 20.0  # people begin to think about the road this far before it
_STEPPED_ON_M: Final = 0.4  # beyond the measured kerb a person is on the road
_SPRING_PER_S: Final = 0.3  # haste of a member per metre behind the leader
_CHILD_SPRING_PER_S: Final = 0.6  # children hold on to their group
_BORDER_M: Final = 0.7  # people look to the next lane this far before its border
_HASTE: Final = (0.75, 1.25)
_OBEYING: Final = 0.9  # share of people who wait for the light, as in the crowd
_LIT_M: Final = 5.0  # largest distance of a crossing with lights from both ends of a way
_MOVING: Final = (
    Activity.WALKING,
    Activity.WAITING,
    Activity.BLOCKED,
    Activity.STEPPING_BACK,
    Activity.EVADING,
)


@dataclass(slots=True, kw_only=True)
class PeopleOnTheirWay(Activities):
    """Activities of people whose ways are known to a model of reactions.

    Attributes:
        model: Decisions; one row a person.
        company: Starting places and groups.
        lights: Traffic lights.
        route_m: (p, 2) route of the ego.
        route_along_m: (p,) distances along it.
    """

    model: ReactionModel
    company: Company
    lights: RedLights
    route_m: FloatArray
    route_along_m: FloatArray
    _route_at: int = field(default=0, init=False)
    _ego_along_m: float = field(default=0.0, init=False)
    _ego_mps: float = field(default=0.0, init=False)
    _ego_m: tuple[float, float] = field(default=(0.0, 0.0), init=False)
    _meeting_s: FloatArray = field(init=False)
    _watched_m: FloatArray = field(init=False)  # (n, 2) on the route, nearest to each person
    _lit: IntArray = field(init=False)  # row of the crossing whose lights count; -1: none

    def __post_init__(self) -> None:
        Activities.__post_init__(self)
        count = len(self.people)
        draws = [stream(self.seed, "habit", "meeting", k).random(2) for k in range(count)]
        low, high = _MEETING_S
        self._meeting_s = np.array([low + (high - low) * float(draw[0]) for draw in draws])
        self._lit = np.full(count, -1, np.int64)
        places = np.array([person.placed.a_m for person in self.people]).reshape(-1, 2)
        away = [np.hypot(*(self.route_m - place).T) for place in places]
        self._watched_m = self.route_m[[int(gap.argmin()) for gap in away]].reshape(-1, 2)
        for person, draw in zip(self.people, draws, strict=True):
            placed = person.placed
            if float(draw[1]) < _OBEYING and placed.b_m is not None:
                self._lit[placed.role.number] = self._lit_crossing(placed.a_m, placed.b_m)

    def _lit_crossing(self, a_m: tuple[float, float], b_m: tuple[float, float]) -> int:
        """Row of the crossing with lights that a way follows; -1: it follows none."""
        crossings = self.network.crossings
        away = np.hypot(*(crossings.a - a_m).T) + np.hypot(*(crossings.b - b_m).T)
        away[(crossings.crosswalk < 0) | (crossings.lights[:, 0] < 0)] = np.inf
        nearest = int(np.argmin(away)) if len(away) else -1
        return nearest if nearest >= 0 and away[nearest] < 2.0 * _LIT_M else -1

    def see_ego(self, ego_m: tuple[float, float], ego_mps: float) -> None:
        """Take note of the ego's place on its route; call once a tick, before ``is_due``."""
        window = slice(self._route_at, self._route_at + 120)
        gap = np.hypot(*(self.route_m[window] - ego_m).T)
        self._route_at += int(gap.argmin())
        self._ego_along_m = float(self.route_along_m[self._route_at])
        self._ego_mps, self._ego_m = ego_mps, ego_m

    def ego_s(self, person: PersonState) -> float:
        """Time of the ego to the place of a person's crossing; negative: it has passed."""
        ahead_m = person.placed.along_m - self._ego_along_m
        return ahead_m / max(self._ego_mps, _SLOWEST_EGO_MPS)

    def leader_of(self, person: PersonState) -> PersonState | None:
        """Leader of a person's group; None for leaders and people who are alone."""
        k = person.placed.role.number
        first = int(self.company.leader[k])
        return None if first < 0 or first == k else self.people[first]

    def fill(self, person: PersonState) -> None:
        """Set one person's path in the rows of the model."""
        rows, k = self.model.rows, person.placed.role.number
        walk = person.walk
        moves = person.activity in _MOVING or person.activity is Activity.ACTING
        rows.active[k] = person.activity is not Activity.DOWN
        rows.stays[k] = not moves or walk is None
        if walk is None or rows.stays[k]:
            self._fill_staying(k)
            return
        x, y = float(rows.x[k]), float(rows.y[k])
        bearing = walk.bearing_rad(x, y)
        rows.aim_x[k], rows.aim_y[k] = x + 2.0 * math.cos(bearing), y + 2.0 * math.sin(bearing)
        rows.onto_m[k] = math.inf
        if not isinstance(walk, CrossingWalk) or math.isnan(walk.road_m[0]):
            rows.where[k], rows.kerb_m[k] = (ON_ROAD if person.on_road else OFF_ROAD), math.inf
            rows.left_m[k], rows.haste[k] = 8.0, 1.0
            return
        along = walk.along_m(x, y)
        enter, leave = walk.road_m
        rows.painted[k] = walk.painted
        if along >= leave:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = OFF_ROAD, math.inf, 4.0
        elif along >= enter + _STEPPED_ON_M or person.on_road:
            rows.where[k], rows.kerb_m[k], rows.left_m[k] = ON_ROAD, 0.0, leave - along
            rows.onto_m[k] = max(along - enter, 0.0)
        else:
            near = enter - along < _NEAR_ROAD_M
            rows.where[k] = AT_KERB if near else OFF_ROAD
            rows.kerb_m[k], rows.left_m[k] = enter - along, leave - enter
        if rows.where[k] == AT_KERB and enter - along < 3.0:
            # The gap is judged for the way over the road, not for the last steps of the approach.
            rows.aim_x[k] = x + walk.path[-1, 0] - walk.via_m[0]
            rows.aim_y[k] = y + walk.path[-1, 1] - walk.via_m[1]
        self._set_next_lane(k, walk, along)
        self._set_haste(person, along, enter)
        lit = int(self._lit[k])
        if lit >= 0 and rows.where[k] == AT_KERB and enter - along < _NEAR_ROAD_M:
            needed_s = (leave - enter) / float(self.model.traits.free_mps[k])
            lamps = self.network.crossings.lights[lit]
            lights = self.lights
            rows.may_go[k] = light_lets(lights.red_s, lights.red_length_s, lamps, needed_s)

    def _fill_staying(self, k: int) -> None:
        """Let a person who stays where they are face the road."""
        rows = self.model.rows
        rows.where[k], rows.kerb_m[k], rows.onto_m[k] = OFF_ROAD, math.inf, math.inf
        rows.aim_x[k], rows.aim_y[k] = self._watched_m[k]

    def _set_next_lane(self, k: int, walk: CrossingWalk, along: float) -> None:
        """Say from where the traffic of the next lane comes, and how many borders are reached."""
        rows = self.model.rows
        if not walk.lanes:
            return
        reached = sum(along >= border - _BORDER_M for border, _ in walk.lanes[1:])
        rows.lane[k], rows.near_side[k] = reached, walk.lanes[reached][1]

    def watched_m(self, k: int) -> tuple[float, float]:
        """Point of the road that a person faces while they stay where they are."""
        x, y = self._watched_m[k]
        return round(float(x), 2), round(float(y), 2)

    def _set_haste(self, person: PersonState, along: float, enter: float) -> None:
        """Hurry or dawdle to meet the ego at the road, or to stay with the group."""
        rows, k = self.model.rows, person.placed.role.number
        first = self.leader_of(person)
        rows.haste[k] = 1.0
        if first is not None:
            walk, row = first.walk, first.placed.role.number
            if isinstance(walk, CrossingWalk) and first.activity is Activity.WALKING:
                behind = walk.along_m(float(rows.x[row]), float(rows.y[row])) - along
                behind += float(self.company.ahead_m[k])
                child = person.placed.role.child
                spring = _CHILD_SPRING_PER_S if child else _SPRING_PER_S
                rows.haste[k] = min(max(1.0 + spring * behind, _HASTE[0]), _HASTE[1])
            return
        own_s = (enter - along) / float(self.model.traits.free_mps[k])
        ego_s = self.ego_s(person)
        if own_s > _RETIMED_UNTIL_S and ego_s > 0.0:
            own_s += OVER_M / float(self.model.traits.free_mps[k])
            wanted_s = max(ego_s - float(self._meeting_s[k]), 0.1)
            rows.haste[k] = min(max(own_s / wanted_s, _RETIMED[0]), _RETIMED[1])
