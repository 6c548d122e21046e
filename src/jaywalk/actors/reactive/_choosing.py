"""Kernel of the choice of a velocity against moving vehicles, people and standing things."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.actors.reactive._deciding import BODY_M, MOVING_MPS, wish_of
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    HURRIES,
    MEMORY,
    OBLIVIOUS,
    ON_ROAD,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.town.walkways import NOWHERE, ROAD, WalkGrid, solid_gap, underfoot

_NEAR_CAR_M: Final = 30.0
_NEAR_PERSON_M: Final = 4.0
_NEAR_THING_M: Final = 3.5
_PEOPLE: Final = 12
_THINGS: Final = 12
_KERB_M: Final = 1.5  # nearer to the kerb, the decision to cross keeps people off the road
_TURN_RAD: Final = 0.2
_TURNS: Final = 6  # on each side
_STEP_S: Final = 0.2
_MOST_STEPS: Final = 20
_LEVELS: Final = (1.0, 0.75, 0.5, 0.25, 1.12, 1.25, 0.0, 1.6, 2.2)  # of the wanted speed
_STANDS, _RUNS = 6, 7  # places in _LEVELS: only straight on; only people who may run
_GROUP_TOUCH: Final = 0.7  # people of one group walk closer together


@kernel
def choose(
    tick: int,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    other: FloatArray,
    thing: FloatArray,
    grid: WalkGrid,
    every: int,
) -> None:
    """Choose course and speed near the wish; each person decides on every ``every``-th tick.

    ``other`` holds people who are not controlled here, (k, 4): x, y, vx, vy; ``thing`` boxes (b, 6)
    that stand still.
    """
    steps = min(max(math.ceil(settings.horizon_s / _STEP_S - 1e-9), 1), _MOST_STEPS)
    car_way, way = np.empty((MEMORY, _MOST_STEPS, 4)), np.empty((_MOST_STEPS, 2))
    size, near = np.empty((MEMORY, 3)), np.empty((_PEOPLE, 5))
    box = np.empty((_THINGS, 6))
    for i in range(len(people.x)):
        if not people.active[i] or people.stays[i] or (tick + i) % every != 0:
            continue
        people.share[i], people.turn[i] = 1.0, 0.0
        if traits.attention[i] == OBLIVIOUS:
            continue
        if people.wanted[i] <= 0.0 and not people.keeps_path[i]:
            continue
        cars = _cars_near(people, traits, settings, i, steps, car_way, size)
        count = _people_near(people, traits, i, other, near)
        things = 0 if people.keeps_path[i] else _things_near(people, i, thing, box)
        if cars == 0 and count == 0 and people.keeps_path[i]:
            continue
        ux, uy = wish_of(people, i)
        _search(
            people,
            traits,
            settings,
            i,
            math.atan2(uy, ux),
            car_way[:cars, :steps],
            size,
            near[:count],
            box[:things],
            grid,
            way[:steps],
        )


@kernel
def _cars_near(
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    steps: int,
    way: FloatArray,
    size: FloatArray,
) -> int:
    """Predict the moving vehicles that a person could come near to: x, y, cos and sin by step.

    ``size`` becomes half length, half width and the distance from which a vehicle does not matter.
    """
    count = 0
    margin = settings.margin_m * traits.margin[i]
    reach = steps * _STEP_S * max(math.hypot(people.vx[i], people.vy[i]), 1.25 * people.wanted[i])
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        car = people.belief[i, m]
        v = math.hypot(car[6], car[7])
        away = math.hypot(car[0] - people.x[i], car[1] - people.y[i])
        if v < MOVING_MPS or away >= min(_NEAR_CAR_M, 8.0 + 3.0 * v):
            continue
        radius = math.hypot(car[4], car[5]) + BODY_M + margin
        x, y, c, s = car[0], car[1], car[2], car[3]
        v = car[6] * c + car[7] * s
        slows = min(car[9], 0.0) * _STEP_S if car[9] < -0.5 and v > 0.0 else 0.0
        turn_c, turn_s = math.cos(car[8] * _STEP_S), math.sin(car[8] * _STEP_S)
        comes = False
        for k in range(steps):
            c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
            v = max(v + slows, 0.0) if slows < 0.0 else v
            x += v * c * _STEP_S
            y += v * s * _STEP_S
            way[count, k, 0], way[count, k, 1] = x, y
            way[count, k, 2], way[count, k, 3] = c, s
            dx, dy = x - people.x[i], y - people.y[i]
            comes = comes or dx * dx + dy * dy < (radius + reach) ** 2
        if comes:
            size[count, 0], size[count, 1], size[count, 2] = car[4], car[5], radius
            count += 1
    return count


@kernel
def _people_near(
    people: Reactions, traits: Traits, i: int, other: FloatArray, near: FloatArray
) -> int:
    """Write offset and velocity of people within a few metres, and how close they may come."""
    count = 0
    for j in range(len(people.x)):
        dx, dy = people.x[j] - people.x[i], people.y[j] - people.y[i]
        if j != i and dx * dx + dy * dy < _NEAR_PERSON_M**2 and count < _PEOPLE:
            near[count, 0], near[count, 1] = dx, dy
            near[count, 2], near[count, 3] = people.vx[j], people.vy[j]
            same = traits.group[i] >= 0 and traits.group[i] == traits.group[j]
            near[count, 4] = _GROUP_TOUCH if same else 1.0
            count += 1
    for j in range(len(other)):
        dx, dy = other[j, 0] - people.x[i], other[j, 1] - people.y[i]
        if dx * dx + dy * dy < _NEAR_PERSON_M**2 and count < _PEOPLE:
            near[count, 0], near[count, 1] = dx, dy
            near[count, 2], near[count, 3], near[count, 4] = other[j, 2], other[j, 3], 1.0
            count += 1
    return count


@kernel
def _things_near(people: Reactions, i: int, thing: FloatArray, box: FloatArray) -> int:
    count = 0
    for k in range(len(thing)):
        if count < _THINGS and _room(people.x[i], people.y[i], thing[k]) < _NEAR_THING_M:
            box[count] = thing[k]
            count += 1
    return count


@kernel
def _search(
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    wish: float,
    car_way: FloatArray,
    size: FloatArray,
    near: FloatArray,
    box: FloatArray,
    grid: WalkGrid,
    way: FloatArray,
) -> None:
    """Search courses outward from the wish, each with a few speeds; the cheapest wins."""
    wanted, free = people.wanted[i], people.free[i]
    fastest = settings.fastest * free + 1e-9
    levels = len(_LEVELS) if traits.runs[i] and people.decision[i] == HURRIES else _RUNS
    margin = settings.margin_m * traits.margin[i]
    best, chosen, share = math.inf, 0.0, 1.0
    for step in range(2 * _TURNS + 1):
        side = 1.0 if step % 2 == 1 else -1.0
        turn = side * _TURN_RAD * ((step + 1) // 2)
        base = settings.turn_cost * abs(turn)
        if base >= best:
            break
        if step > 0 or not people.keeps_path[i]:
            base += _ground_cost(people, i, wish + turn, box, grid)
        cos, sin = math.cos(wish + turn), math.sin(wish + turn)
        for level in range(levels):
            if level == _STANDS and step > 0:
                continue
            v = wanted * _LEVELS[level]
            if _LEVELS[level] > 1.0 and level < _RUNS and v > fastest:
                continue
            ux, uy = v * cos, v * sin
            # Whoever stands still meets no wall.
            cost = base if level != _STANDS else settings.turn_cost * abs(turn)
            cost += settings.slow_cost * abs(v - wanted) / max(free, 0.1)
            cost += settings.change_cost * math.hypot(ux - people.vx[i], uy - people.vy[i])
            if cost >= best:
                continue
            _walk_on(people, settings, i, ux, uy, way)
            met = _meets_cars(settings, margin, best - cost, car_way, size, way)
            if cost + met < best:
                met += _meets_people(people, settings, i, best - cost - met, near, way)
            if step == 0 and level == 0 and met == 0.0 and base == 0.0:
                return  # straight on as wanted, and nothing is met: the usual case
            if cost + met < best - 1e-9:
                best, chosen, share = cost + met, turn, _LEVELS[level]
    people.share[i], people.turn[i] = share, chosen


@kernel
def _walk_on(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    ux: float,
    uy: float,
    way: FloatArray,
) -> None:
    """Write the places of a person who changes to velocity (ux, uy), by step."""
    follow = 1.0 - math.exp(-_STEP_S / settings.lag_s)
    x, y, wx, wy = people.x[i], people.y[i], people.vx[i], people.vy[i]
    for k in range(len(way)):
        wx += (ux - wx) * follow
        wy += (uy - wy) * follow
        x += wx * _STEP_S
        y += wy * _STEP_S
        way[k, 0], way[k, 1] = x, y


@kernel
def _meets_cars(
    settings: ReactionSettings,
    margin: float,
    most: float,
    car_way: FloatArray,
    size: FloatArray,
    way: FloatArray,
) -> float:
    """Cost of contacts with vehicles and of small distances; what exceeds ``most`` is not exact."""
    total = 0.0
    for j in range(len(car_way)):
        worst = 0.0
        for k in range(len(way)):
            dx, dy = way[k, 0] - car_way[j, k, 0], way[k, 1] - car_way[j, k, 1]
            if dx * dx + dy * dy > size[j, 2] * size[j, 2]:
                continue
            c, s = car_way[j, k, 2], car_way[j, k, 3]
            along = max(abs(dx * c + dy * s) - size[j, 0], 0.0)
            aside = max(abs(dy * c - dx * s) - size[j, 1], 0.0)
            gap = math.hypot(along, aside) - BODY_M
            t = (k + 1) * _STEP_S
            if gap <= 0.0:
                worst = max(worst, settings.contact_cost / (0.3 + t))
                break  # later contacts cost less
            if gap < margin:
                worst = max(worst, settings.margin_cost * (1.0 - gap / margin) / (0.5 + t))
        total += worst
        if total >= most:
            break
    return total


@kernel
def _meets_people(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    most: float,
    near: FloatArray,
    way: FloatArray,
) -> float:
    """Cost of meeting people; each of them is expected to do half of the avoidance."""
    total = 0.0
    for j in range(len(near)):
        touch = 2.0 * BODY_M * near[j, 4]
        margin = settings.person_margin_m * near[j, 4]
        worst, now = 0.0, math.hypot(near[j, 0], near[j, 1])
        for k in range(len(way)):
            t = (k + 1) * _STEP_S
            dx = near[j, 0] + near[j, 2] * t - (way[k, 0] - people.x[i])
            dy = near[j, 1] + near[j, 3] * t - (way[k, 1] - people.y[i])
            away = math.hypot(dx, dy)
            if away >= touch + margin or (away >= now and t > 0.3):
                continue  # far enough, or moving apart already
            if away < touch:
                worst = max(worst, settings.person_cost / (0.3 + t))
            else:
                share = 1.0 - (away - touch) / margin
                worst = max(worst, 0.25 * settings.person_cost * share / (0.5 + t))
        total += worst
        if total >= most:
            break
    return total


@kernel
def _ground_cost(
    people: Reactions, i: int, course: float, box: FloatArray, grid: WalkGrid
) -> float:
    """Cost of walls, of things that stand still, and of leaving the sidewalk, on a course."""
    cost = 0.0
    keeps_off = people.where[i] != ON_ROAD
    if people.where[i] == AT_KERB and not people.keeps_path[i]:
        keeps_off = people.kerb_m[i] > _KERB_M
    here = solid_gap(grid, people.x[i], people.y[i])
    for step in range(1, 4):
        x = people.x[i] + 0.4 * step * math.cos(course)
        y = people.y[i] + 0.4 * step * math.sin(course)
        gap = solid_gap(grid, x, y)
        if gap < BODY_M and gap <= here:
            cost += 4.0 / step
        what = underfoot(grid, x, y)
        if keeps_off and what == ROAD:
            cost += 2.5 / step
        elif keeps_off and what == NOWHERE:
            cost += 0.3 / step
        for k in range(len(box)):
            room = _room(x, y, box[k])
            if room < BODY_M + 0.1 and room <= _room(people.x[i], people.y[i], box[k]):
                cost += 4.0 / step
    return cost


@kernel
def _room(x: float, y: float, box: FloatArray) -> float:
    """Distance of a point from a box."""
    return float(box_distance(x, y, box[0], box[1], box[2], box[3], box[4], box[5]))
