"""Kernels of ambient people who react: their ways as the model needs them, and their motion."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.actors.crowd._crossings import Crossings
from jaywalk.actors.crowd._kernels import (
    _boxes_near,
    _face_road,
    _lies,
    _locate,
    _marks_change,
    _round_boxes,
    _set_pace,
    _steer,
    light_lets,
)
from jaywalk.actors.crowd.state import (
    ARRIVED,
    CROSSING,
    DOWN,
    GAVE_UP,
    PATH_STEP_M,
    RELEASED,
    RESTED,
    STANDING,
    STUCK,
    WAITING,
    WALKING,
    CrowdRows,
    CrowdSurroundings,
)
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    EVADES,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    STEPS_BACK,
    WAITS,
    YIELDS,
    Reactions,
    Traits,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import nearest_turn
from jaywalk.town.ground import Ground
from jaywalk.town.walkways import CROSSWALK, ROAD, WalkGrid, underfoot

_AHEAD_M: Final = 1.0
_NEAR_ROAD_M: Final = 20.0  # people begin to think about the road this far before it
_JUDGED_M: Final = 3.0  # from here on the gap is judged for the way across the road
_KERB_M: Final = 0.7  # from the waiting place to the kerb, where the path does not show it
_STEPPED_ON_M: Final = 0.15  # beyond the kerb a person is on the road
_EDGE_M: Final = 0.2  # who waits nearer to the road steps back ...
_BACK_MPS: Final = 0.5
_SAMPLE_M: Final = 0.1
_BODIES_M: Final = 0.45  # nobody walks nearer to the middle of somebody ahead
_HOLD_MPS2: Final = 3.0
_STUCK_S: Final = 4.0
_SLOW_MPS: Final = 0.1
_AT_LIGHTS: Final = 2.0  # factor on the patience of people who wait for a light
_EVADE_MPS2: Final = 6.0
_EVADE_RAD_PER_S: Final = 12.0


@kernel
def measure_road(people: CrowdRows, i: int, grid: WalkGrid, road: FloatArray) -> None:
    """Write where the path enters and leaves the road, along it; infinite without a crossing."""
    road[0] = road[1] = np.inf
    start = people.cross_from[i]
    if start == np.inf:
        return
    last = people.path_count[i] - 1
    at = max(start - 0.3, 0.0)
    while at < last * PATH_STEP_M:
        k = min(int(at / PATH_STEP_M), last - 1)
        u = at / PATH_STEP_M - k
        x = people.path[i, k, 0] + u * (people.path[i, k + 1, 0] - people.path[i, k, 0])
        y = people.path[i, k, 1] + u * (people.path[i, k + 1, 1] - people.path[i, k, 1])
        ground = underfoot(grid, x, y)
        if ground in (ROAD, CROSSWALK):
            if road[0] == np.inf:
                road[0] = at
            road[1] = at + _SAMPLE_M
        at += _SAMPLE_M
    if road[0] == np.inf:
        road[0] = road[1] = start + _KERB_M


@kernel
def perceive(
    people: CrowdRows,
    rows: Reactions,
    traits: Traits,
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    ground: Ground,
    last: FloatArray,
    road: FloatArray,
    delta_s: float,
) -> None:
    """Set places, ways and permissions of all people in the rows of the model."""
    for i in range(len(people.x)):
        rows.vx[i] = rows.vy[i] = 0.0
        if not math.isnan(last[i, 0]):
            rows.vx[i] = (people.x[i] - last[i, 0]) / delta_s
            rows.vy[i] = (people.y[i] - last[i, 1]) / delta_s
        last[i, 0], last[i, 1] = people.x[i], people.y[i]
        rows.x[i], rows.y[i], rows.yaw[i] = people.x[i], people.y[i], people.heading[i]
        rows.active[i] = False
        if people.state[i] == RELEASED or people.state[i] == DOWN:
            continue
        if _lies(people, ground, i):
            people.state[i], people.pace[i] = DOWN, 0.0
            continue
        rows.active[i] = True
        rows.to_x[i] = rows.to_y[i] = np.nan
        rows.kerb_m[i], rows.onto_m[i] = np.inf, np.inf
        rows.may_go[i] = True
        if people.state[i] == STANDING:
            people.timer[i] -= delta_s
            if people.timer[i] <= 0.0 and people.need[i] == 0:
                people.need[i] = RESTED
            rows.where[i], rows.haste[i] = OFF_ROAD, 0.0
            rows.aim_x[i] = people.x[i] + np.cos(people.heading[i])
            rows.aim_y[i] = people.y[i] + np.sin(people.heading[i])
            continue
        rows.haste[i] = 1.0
        _find_way(people, rows, traits, seen, crossings, grid, road, i)


@kernel
def _find_way(
    people: CrowdRows,
    rows: Reactions,
    traits: Traits,
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    road: FloatArray,
    i: int,
) -> None:
    """Set the way ahead of a walking person and its relation to the road."""
    if rows.decision[i] == STEPS_BACK or people.state[i] == WAITING:
        people.at[i] = max(people.at[i] - 2, 0)  # they may have moved backwards
    _locate(people, i)
    along, ref = people.along[i], people.cross_ref[i]
    enter, leave = road[i, 0], road[i, 1]
    rows.painted[i] = ref >= 0 and crossings.crosswalk[ref] >= 0
    rows.where[i], rows.left_m[i] = OFF_ROAD, 4.0
    if people.cross_from[i] < np.inf and along < leave:
        rows.left_m[i] = leave - max(along, enter)
        if along >= enter + _STEPPED_ON_M:
            rows.where[i], rows.kerb_m[i], rows.onto_m[i] = ON_ROAD, 0.0, along - enter
        elif enter - along < _NEAR_ROAD_M:
            rows.where[i], rows.kerb_m[i] = AT_KERB, enter - along
    elif underfoot(grid, people.x[i], people.y[i]) == ROAD:
        rows.where[i] = ON_ROAD
        rows.left_m[i] = max((people.path_count[i] - 1) * PATH_STEP_M - along, 4.0)
    k = min(math.ceil((along + _AHEAD_M) / PATH_STEP_M), people.path_count[i] - 1)
    course = math.atan2(people.path[i, k, 1] - people.y[i], people.path[i, k, 0] - people.x[i])
    if rows.where[i] == ON_ROAD:
        boxes, count = _boxes_near(people, i, seen)
        course = _round_boxes(people, i, course, boxes, count)
    rows.aim_x[i] = people.x[i] + 2.0 * math.cos(course)
    rows.aim_y[i] = people.y[i] + 2.0 * math.sin(course)
    if rows.where[i] != AT_KERB:
        return
    if rows.kerb_m[i] < _JUDGED_M and ref >= 0:
        # The gap is judged for the way over the road, not for the last steps of the approach.
        rows.to_x[i], rows.to_y[i] = rows.aim_x[i], rows.aim_y[i]
        rows.aim_x[i] = people.x[i] + crossings.b[ref, 0] - crossings.a[ref, 0]
        rows.aim_y[i] = people.y[i] + crossings.b[ref, 1] - crossings.a[ref, 1]
    lit = rows.painted[i] and crossings.lights[ref, 0] >= 0
    if lit and people.obeys[i] == 1:
        needed_s = rows.left_m[i] / traits.free_mps[i]
        lights = crossings.lights[ref]
        rows.may_go[i] = light_lets(seen.red_s, seen.red_length_s, lights, needed_s)


@kernel
def carry_out(
    people: CrowdRows,
    rows: Reactions,
    traits: Traits,
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    road: FloatArray,
    delta_s: float,
) -> None:
    """Turn decisions into states, headings and speeds."""
    people.changed[:] = False
    for i in range(len(people.x)):
        if not rows.active[i]:
            continue
        if rows.decision[i] == EVADES:
            _evade(people, rows, i, delta_s)
        elif people.state[i] == STANDING:
            _set_pace(people, i, people.heading[i], 0.0, delta_s)
        elif traits.attention[i] == OBLIVIOUS:
            _go_blindly(people, rows, i, seen, crossings, grid, delta_s)
        else:
            _walk(people, rows, traits, i, crossings, road[i, 0], delta_s)
        if people.pace[i] > 0.0:
            _hold_back(people, seen, i, delta_s)
        _marks_change(people, i)


@kernel
def _evade(people: CrowdRows, rows: Reactions, i: int, delta_s: float) -> None:
    """Leave the way of a vehicle as fast as a body can."""
    turn = nearest_turn(rows.course[i] - people.heading[i])
    most = _EVADE_RAD_PER_S * delta_s
    people.heading[i] = nearest_turn(people.heading[i] + min(max(turn, -most), most))
    people.pace[i] = min(people.pace[i] + _EVADE_MPS2 * delta_s, rows.speed[i])


@kernel
def _hold_back(people: CrowdRows, seen: CrowdSurroundings, i: int, delta_s: float) -> None:
    """Brake before somebody who is right ahead, for example because they have just turned."""
    cos, sin = math.cos(people.heading[i]), math.sin(people.heading[i])
    most = people.pace[i]
    for j in range(len(people.x) + len(seen.other_people)):
        if j == i:
            continue
        if j < len(people.x):
            dx, dy = people.x[j] - people.x[i], people.y[j] - people.y[i]
        else:
            other = seen.other_people[j - len(people.x)]
            dx, dy = other[0] - people.x[i], other[1] - people.y[i]
        ahead, aside = dx * cos + dy * sin, abs(dy * cos - dx * sin)
        if ahead > 0.0 and aside < _BODIES_M:
            most = min(most, math.sqrt(2.0 * _HOLD_MPS2 * max(ahead - _BODIES_M, 0.0)))
    people.pace[i] = max(most, people.pace[i] - 2.0 * _HOLD_MPS2 * delta_s)


@kernel
def _go_blindly(
    people: CrowdRows,
    rows: Reactions,
    i: int,
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    delta_s: float,
) -> None:
    """Walk around people and standing things, but never look at vehicles."""
    people.speed[i] = rows.wanted[i]
    if people.state[i] == WALKING and people.along[i] >= people.cross_from[i] - 0.25:
        people.state[i] = CROSSING
    _end_path(people, i)
    _steer(people, i, rows.vx, rows.vy, seen, crossings, grid, delta_s)


@kernel
def _end_path(people: CrowdRows, i: int) -> None:
    """End a crossing at the other side, and a walk at its goal."""
    if people.state[i] == CROSSING:
        if people.along[i] >= people.cross_to[i]:
            people.state[i], people.cross_from[i] = WALKING, np.inf
    elif people.along[i] >= (people.path_count[i] - 1) * PATH_STEP_M - 0.35:
        people.need[i], people.state[i], people.timer[i] = ARRIVED, STANDING, 0.0


@kernel
def _walk(
    people: CrowdRows,
    rows: Reactions,
    traits: Traits,
    i: int,
    crossings: Crossings,
    enter_m: float,
    delta_s: float,
) -> None:
    """Walk, wait or cross with the speed and the course that the model has chosen."""
    decision, course, speed = rows.decision[i], rows.course[i], rows.speed[i]
    if rows.where[i] == AT_KERB:
        people.state[i] = WALKING
        if decision == WAITS:
            people.state[i] = WAITING
        elif decision == COMMITTED and people.along[i] >= people.cross_from[i] - 0.25:
            people.state[i] = CROSSING
        lit = rows.painted[i] and crossings.lights[people.cross_ref[i], 0] >= 0
        if rows.waited_s[i] > traits.patience_s[i] * (_AT_LIGHTS if lit else 1.0):
            people.need[i], people.state[i], people.timer[i] = GAVE_UP, STANDING, 0.0
            speed = 0.0
    elif people.cross_from[i] < np.inf and people.along[i] >= enter_m:
        people.state[i] = CROSSING
    _end_path(people, i)
    if people.state[i] == WAITING and speed < _SLOW_MPS:
        if rows.kerb_m[i] > _EDGE_M:
            _face_road(people, i, crossings, delta_s)
            return
        ref = people.cross_ref[i]  # too near to the road: back to the sidewalk
        dx = crossings.a[ref, 0] - crossings.b[ref, 0]
        dy = crossings.a[ref, 1] - crossings.b[ref, 1]
        course, speed = math.atan2(dy, dx), _BACK_MPS
    if people.state[i] == STANDING:
        speed = 0.0
    _count_blocked(people, rows, i, speed, delta_s)
    _set_pace(people, i, course if speed > 0.0 else people.heading[i], speed, delta_s)


@kernel
def _count_blocked(
    people: CrowdRows, rows: Reactions, i: int, speed: float, delta_s: float
) -> None:
    """Ask for another plan if people or things have been in the way for long."""
    stands = people.state[i] == WAITING or people.state[i] == STANDING
    if (stands or rows.where[i] == AT_KERB) and rows.wanted[i] < 0.5 * rows.free[i]:
        return
    if speed < _SLOW_MPS:
        # Who lets a vehicle pass is in no hurry to find another way.
        people.blocked[i] += (0.3 if rows.decision[i] == YIELDS else 1.0) * delta_s
    elif rows.share[i] < 1.0:
        people.blocked[i] += 0.3 * delta_s
    else:
        people.blocked[i] = max(people.blocked[i] - delta_s, 0.0)
    if people.blocked[i] > _STUCK_S:
        people.need[i], people.blocked[i] = STUCK, 0.0
