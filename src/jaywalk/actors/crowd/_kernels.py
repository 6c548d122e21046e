"""Compiled decisions of the crowd for one tick: position on the path, crossing and direction."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd._crossings import LIGHTS, Crossings
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
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import nearest_turn
from jaywalk.geometry.box import box_distance
from jaywalk.town.ground import Ground, surface_height
from jaywalk.town.walkways import NOWHERE, ROAD, WalkGrid, solid_gap, underfoot

_LYING: Final = 0.55  # a person whose middle is below this share of its height lies
_LOOK: Final = 5  # path points searched for the present position
_AHEAD_M: Final = 1.0
_BRISK: Final = 1.12  # factor on the walking speed while on the road
_NEAR_M: Final = 5.0
_TOUCH_M: Final = 0.75  # between the middles of two passing people
_BUMP_M: Final = 0.5
_SOON_S: Final = 3.0
_BODY_M: Final = 0.32
_ACCELERATION_MPS2: Final = 2.5
_TURN_RAD_PER_S: Final = 5.0
_CREEP_MPS: Final = 0.02
_STUCK_S: Final = 4.0
_STOPPED_MPS: Final = 0.3
_REACTION_S: Final = 1.0
_BEHIND_S: Final = 1.0  # wait this long after a car has passed
_YIELD_MPS2: Final = 2.0  # braking that people at a crosswalk expect of drivers
_NEIGHBOURS: Final = 12
_TURNS: Final = (0.0, 0.25, -0.25, 0.5, -0.5, 0.85, -0.85, 1.25, -1.25, 1.8, -1.8)
_ROUND_M: Final = 0.7  # room beside a car when people walk around it
_LEFT_COST: Final = 0.04  # people who meet pass on the right
_HARD: Final = 5.0  # a cost above this means that an obstacle is in the way
_AT_LIGHTS: Final = 2.0  # factor on the patience of people who wait for a light
_RED_S: Final = 14.0  # assumed red phase of a light until one was observed


@kernel
def advance(
    people: CrowdRows,
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    ground: Ground,
    delta_s: float,
) -> None:
    """Decide for all people; fills heading, pace, need and changed.

    ``delta_s`` is the time since their last decision, in seconds.
    """
    vx, vy = people.pace * np.cos(people.heading), people.pace * np.sin(people.heading)
    people.changed[:] = False
    for i in range(len(people.x)):
        if people.state[i] == RELEASED or people.state[i] == DOWN:
            continue
        if _lies(people, ground, i):
            people.state[i], people.pace[i] = DOWN, 0.0
            continue
        if people.state[i] == STANDING:
            people.timer[i] -= delta_s
            if people.timer[i] <= 0.0 and people.need[i] == 0:
                people.need[i] = RESTED
            _set_pace(people, i, people.heading[i], 0.0, delta_s)
        else:
            _locate(people, i)
            _progress(people, i, seen, crossings, delta_s)
            _steer(people, i, vx, vy, seen, crossings, grid, delta_s)
        _marks_change(people, i)


@kernel
def _lies(people: CrowdRows, ground: Ground, i: int) -> bool:
    """Return True if a person has been knocked down."""
    floor = surface_height(ground, people.x[i], people.y[i], people.z[i])
    return bool(people.z[i] - floor < _LYING * people.half_height[i])


@kernel
def _marks_change(people: CrowdRows, i: int) -> None:
    """Mark a person whose control must be sent."""
    turned = abs(nearest_turn(people.heading[i] - people.sent_heading[i]))
    if people.pace[i] == 0.0:
        people.changed[i] = people.sent_pace[i] != 0.0
    else:
        step = abs(people.pace[i] - people.sent_pace[i])
        people.changed[i] = step > 0.04 or turned > 0.035 or people.sent_pace[i] == 0.0


@kernel
def _locate(people: CrowdRows, i: int) -> None:
    """Advance the index on the path to the person's present position."""
    path, last = people.path[i], people.path_count[i] - 1
    best, where = np.inf, people.at[i]
    along = people.along[i]
    for k in range(people.at[i], min(people.at[i] + _LOOK, last)):
        dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
        wx, wy = people.x[i] - path[k, 0], people.y[i] - path[k, 1]
        u = min(max((wx * dx + wy * dy) / max(dx * dx + dy * dy, 1e-9), 0.0), 1.0)
        gap = (wx - u * dx) ** 2 + (wy - u * dy) ** 2
        if gap < best - 1e-6:
            best, where, along = gap, k, (k + u) * PATH_STEP_M
    people.at[i], people.along[i] = where, along


@kernel
def _progress(
    people: CrowdRows, i: int, seen: CrowdSurroundings, crossings: Crossings, delta_s: float
) -> None:
    """Handle kerbs, crossings and the end of the path."""
    state, along = people.state[i], people.along[i]
    if state == WALKING and along >= people.cross_from[i] - 0.25:
        people.state[i], people.waited[i] = WAITING, 0.0
    if people.state[i] == WAITING:
        if _may_cross(people, i, seen, crossings):
            people.state[i] = CROSSING
        else:
            people.waited[i] += delta_s
            lit = crossings.lights[people.cross_ref[i], 0] >= 0
            if people.waited[i] > people.patience[i] * (_AT_LIGHTS if lit else 1.0):
                people.need[i] = GAVE_UP
                people.state[i], people.timer[i] = STANDING, 0.0
    if state == CROSSING and along >= people.cross_to[i]:
        people.state[i], people.cross_from[i] = WALKING, np.inf
    if state == WALKING and along >= (people.path_count[i] - 1) * PATH_STEP_M - 0.35:
        people.need[i], people.state[i], people.timer[i] = ARRIVED, STANDING, 0.0


@kernel
def _may_cross(people: CrowdRows, i: int, seen: CrowdSurroundings, crossings: Crossings) -> bool:
    ref = people.cross_ref[i]
    if ref < 0:
        return False
    painted = crossings.crosswalk[ref] >= 0
    ax, ay = people.x[i], people.y[i]
    bx, by = crossings.b[ref, 0], crossings.b[ref, 1]
    length = max(np.hypot(bx - ax, by - ay), 1.0)
    pace = _BRISK * people.speed[i]
    lit = painted and crossings.lights[ref, 0] >= 0
    if lit and people.obeys[i] == 1:
        lets = light_lets(seen.red_s, seen.red_length_s, crossings.lights[ref], length / pace)
        if not lets:
            return False
    margin = people.margin[i] * max(1.0 - people.waited[i] / 40.0, 0.4)
    ux, uy = (bx - ax) / length, (by - ay) / length
    for j in range(len(seen.vehicles)):
        if _endangers(seen.vehicles[j], ax, ay, ux, uy, length, pace, margin, painted):
            return False
    return True


@kernel
def light_lets(
    red_s: FloatArray, red_length_s: FloatArray, lights: IntArray, needed_s: float
) -> bool:
    """Return True if all lights for cars are red and stay red for ``needed_s`` seconds.

    ``red_s`` and ``red_length_s`` are those of ``CrowdSurroundings``.
    """
    for k in range(LIGHTS):
        light = lights[k]
        if light < 0:
            break
        red = red_s[light]
        if red < 0.0:
            return False
        length = red_length_s[light] if red_length_s[light] > 0.0 else _RED_S
        if red > 2.0 and red + needed_s > length:
            return False
    return True


@kernel
def _endangers(
    car: NDArray[np.float64],
    ax: float,
    ay: float,
    ux: float,
    uy: float,
    length: float,
    pace: float,
    margin_s: float,
    painted: bool,
) -> bool:
    """Return True if a moving car comes too near to a person who walks from ``a`` along ``u``."""
    speed = np.hypot(car[6], car[7])
    if speed < _STOPPED_MPS:
        return False
    rx, ry = car[0] - ax, car[1] - ay
    reach = 30.0 + speed * (length / pace + margin_s)
    if rx * rx + ry * ry > reach * reach:
        return False
    half = car[5] + 0.6
    dx, dy = car[6] / speed, car[7] / speed
    cross = dx * uy - dy * ux
    if abs(cross) < 0.35:  # along the crossing: a turning car, or one beside the person
        w = rx * ux + ry * uy
        aside = abs(-rx * uy + ry * ux)
        return bool(-6.0 < w < length + 6.0 and aside < 4.0)
    # Intersection of the two lines: s ahead of the car, w ahead of the person.
    s = (uy * -rx - ux * -ry) / cross
    w = (dy * -rx - dx * -ry) / cross
    if w < -half or w > length + half or s < -car[4] - 1.0:
        return False
    front = s - car[4] - 0.5
    if painted and front > _REACTION_S * speed + speed * speed / (2.0 * _YIELD_MPS2):
        return False  # drivers stop at crosswalks, and this one still can without hard braking
    arrives, leaves = max(front, 0.0) / speed, (s + car[4] + 0.5) / speed
    enter, leave = max(w - half, 0.0) / pace, (w + half) / pace
    return bool(arrives < leave + margin_s and leaves > enter - _BEHIND_S)


@kernel
def _steer(
    people: CrowdRows,
    i: int,
    vx: NDArray[np.float64],
    vy: NDArray[np.float64],
    seen: CrowdSurroundings,
    crossings: Crossings,
    grid: WalkGrid,
    delta_s: float,
) -> None:
    """Choose a direction near the wanted one that avoids people and obstacles."""
    state = people.state[i]
    if state == WAITING:
        _face_road(people, i, crossings, delta_s)
        return
    if state == STANDING:
        _set_pace(people, i, people.heading[i], 0.0, delta_s)
        return
    pace = people.speed[i] * (_BRISK if state == CROSSING else 1.0)
    aim_m = people.along[i] + _AHEAD_M
    if state == WALKING:
        aim_m = min(aim_m, people.cross_from[i])
    k = min(int(np.ceil(aim_m / PATH_STEP_M)), people.path_count[i] - 1)
    wanted = np.arctan2(people.path[i, k, 1] - people.y[i], people.path[i, k, 0] - people.x[i])
    near, count = _neighbours(people, i, vx, vy, seen)
    boxes, box_count = _boxes_near(people, i, seen)
    on_road = state == CROSSING or underfoot(grid, people.x[i], people.y[i]) in (NOWHERE, ROAD)
    if state == CROSSING:
        wanted = _round_boxes(people, i, wanted, boxes, box_count)
    best, heading, chosen = np.inf, wanted, pace
    for turn in _TURNS:
        course = wanted + turn
        hard = _in_the_way(people, i, course, grid, boxes, box_count, on_road)
        base = 0.6 * abs(turn) + (_LEFT_COST if turn < 0.0 else 0.0) + hard
        base += 0.15 * abs(nearest_turn(course - people.heading[i]))
        for slow in range(2):
            v = pace if slow == 0 else 0.45 * pace
            cost = base + 0.5 * slow
            if cost < best:
                cost += _meets(people, i, v * np.cos(course), v * np.sin(course), near, count)
            if cost < best - 1e-9:
                best, heading, chosen = cost, course, v
        if turn == 0.0 and best < 0.05:
            break
    stand = 1.6 + _meets(people, i, 0.0, 0.0, near, count) - 0.5 * people.blocked[i]
    if best >= _HARD or best > stand:
        heading, chosen = people.heading[i], 0.0
        people.blocked[i] += delta_s
    elif chosen < pace:
        people.blocked[i] += 0.3 * delta_s
    else:
        people.blocked[i] = max(people.blocked[i] - delta_s, 0.0)
    if people.blocked[i] > _STUCK_S:
        people.need[i], people.blocked[i] = STUCK, 0.0
    _set_pace(people, i, heading, chosen, delta_s)


@kernel
def _neighbours(
    people: CrowdRows,
    i: int,
    vx: NDArray[np.float64],
    vy: NDArray[np.float64],
    seen: CrowdSurroundings,
) -> tuple[NDArray[np.float64], int]:
    """Return offset and velocity of the people within a few metres."""
    near = np.empty((_NEIGHBOURS, 4))
    count = 0
    for j in range(len(people.x)):
        dx, dy = people.x[j] - people.x[i], people.y[j] - people.y[i]
        if j != i and dx * dx + dy * dy < _NEAR_M * _NEAR_M and count < _NEIGHBOURS:
            near[count, 0], near[count, 1], near[count, 2], near[count, 3] = dx, dy, vx[j], vy[j]
            count += 1
    for j in range(len(seen.other_people)):
        dx, dy = seen.other_people[j, 0] - people.x[i], seen.other_people[j, 1] - people.y[i]
        if dx * dx + dy * dy < _NEAR_M * _NEAR_M and count < _NEIGHBOURS:
            near[count, 0], near[count, 1] = dx, dy
            near[count, 2], near[count, 3] = seen.other_people[j, 2], seen.other_people[j, 3]
            count += 1
    return near, count


@kernel
def _boxes_near(
    people: CrowdRows, i: int, seen: CrowdSurroundings
) -> tuple[NDArray[np.float64], int]:
    """Return standing cars and props within reach; people do not dodge moving cars."""
    near = np.empty((_NEIGHBOURS, 6))
    count = 0
    for j in range(len(seen.vehicles)):
        car = seen.vehicles[j]
        dx, dy = car[0] - people.x[i], car[1] - people.y[i]
        if abs(dx) + abs(dy) > 12.0 or count >= _NEIGHBOURS:
            continue
        if car[6] * car[6] + car[7] * car[7] < _STOPPED_MPS * _STOPPED_MPS:
            near[count] = car[:6]
            count += 1
    for j in range(len(seen.props)):
        dx, dy = seen.props[j, 0] - people.x[i], seen.props[j, 1] - people.y[i]
        if abs(dx) + abs(dy) < 12.0 and count < _NEIGHBOURS:
            near[count] = seen.props[j]
            count += 1
    return near, count


@kernel
def _round_boxes(
    people: CrowdRows, i: int, wanted: float, boxes: NDArray[np.float64], box_count: int
) -> float:
    """Return the wanted direction, or that to the nearer end of a standing car in the way.

    Without this, people stay at the side of a car whose driver waits for them to go.
    """
    x, y = people.x[i], people.y[i]
    ahead_x, ahead_y = x + 0.6 * np.cos(wanted), y + 0.6 * np.sin(wanted)
    for k in range(box_count):
        box = boxes[k]
        room = box_distance(ahead_x, ahead_y, box[0], box[1], box[2], box[3], box[4], box[5])
        if room > _BODY_M + 0.15:
            continue
        dx, dy = x - box[0], y - box[1]
        along, aside = dx * box[2] + dy * box[3], dy * box[2] - dx * box[3]
        over = np.sin(wanted) * box[2] - np.cos(wanted) * box[3] >= 0.0  # the wanted side
        past = abs(along) > box[4] + 0.6 * _ROUND_M
        end = (box[4] + _ROUND_M) * (1.0 if along >= 0.0 else -1.0)
        side = (box[5] + _ROUND_M) * (1.0 if over == past else -1.0)
        u, v = end - along, side - aside
        return float(np.arctan2(u * box[3] + v * box[2], u * box[2] - v * box[3]))
    return wanted


@kernel
def _in_the_way(
    people: CrowdRows,
    i: int,
    course: float,
    grid: WalkGrid,
    boxes: NDArray[np.float64],
    box_count: int,
    on_road: bool,
) -> float:
    """Cost of walls, poles, standing cars, props and of leaving the sidewalk in a direction."""
    cos, sin = np.cos(course), np.sin(course)
    cost = 0.0
    here = solid_gap(grid, people.x[i], people.y[i])
    for step in range(1, 4):
        ahead = 0.35 * step
        x, y = people.x[i] + ahead * cos, people.y[i] + ahead * sin
        gap = solid_gap(grid, x, y)
        if gap < _BODY_M and gap <= here:
            cost += _HARD / step
        ground = underfoot(grid, x, y)
        if not on_road and ground == ROAD:
            cost += 2.5 / step
        elif ground == NOWHERE:
            cost += 0.7 / step
        for k in range(box_count):
            box = boxes[k]
            room = box_distance(x, y, box[0], box[1], box[2], box[3], box[4], box[5])
            if room < _BODY_M + 0.1:
                now = box_distance(
                    people.x[i], people.y[i], box[0], box[1], box[2], box[3], box[4], box[5]
                )
                if room <= now:
                    cost += _HARD / step
    return cost


@kernel
def _meets(
    people: CrowdRows, i: int, vx: float, vy: float, near: NDArray[np.float64], count: int
) -> float:
    """Cost of coming near to other people soon at a given velocity."""
    cost = 0.0
    for k in range(count):
        dx, dy = near[k, 0], near[k, 1]
        wx, wy = near[k, 2] - vx, near[k, 3] - vy
        gap0 = np.hypot(dx, dy)
        speed2 = wx * wx + wy * wy
        t = min(max(-(dx * wx + dy * wy) / speed2, 0.0), _SOON_S) if speed2 > 1e-6 else 0.0
        gap = np.hypot(dx + t * wx, dy + t * wy)
        if gap < _TOUCH_M and (t > 0.0 or gap0 < _TOUCH_M):
            weight = (_TOUCH_M - gap) / _TOUCH_M
            cost += weight * (3.0 / (0.5 + t) if t > 0.0 else 0.5)
            if gap < _BUMP_M and 0.0 < t < 0.6:
                cost += 6.0
    return cost


@kernel
def _face_road(people: CrowdRows, i: int, crossings: Crossings, delta_s: float) -> None:
    """Turn towards the other side; a body turns only while moving, so it moves slowly."""
    ref = people.cross_ref[i]
    wanted = np.arctan2(crossings.b[ref, 1] - people.y[i], crossings.b[ref, 0] - people.x[i])
    turn = nearest_turn(wanted - people.heading[i])
    if people.pace[i] > _CREEP_MPS or abs(turn) < 0.1:
        _set_pace(people, i, people.heading[i], 0.0, delta_s)
        return
    most = _TURN_RAD_PER_S * delta_s
    people.heading[i] = nearest_turn(people.heading[i] + min(max(turn, -most), most))
    people.pace[i] = _CREEP_MPS


@kernel
def _set_pace(people: CrowdRows, i: int, heading: float, pace: float, delta_s: float) -> None:
    """Turn and change speed within the limits of a body."""
    turn = nearest_turn(heading - people.heading[i])
    most = _TURN_RAD_PER_S * delta_s
    if abs(turn) > 1.2 and pace > 0.0:
        pace = min(pace, 0.25)
    people.heading[i] = nearest_turn(people.heading[i] + min(max(turn, -most), most))
    step = _ACCELERATION_MPS2 * delta_s
    change = min(max(pace - people.pace[i], -2.0 * step), step)
    people.pace[i] += change
    if pace == 0.0 and people.pace[i] < 0.1:
        people.pace[i] = 0.0
