"""Kernels of decisions: when to step onto the road, who goes first, and which velocity to take."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.actors.reactive._noise import normal, uniform
from jaywalk.actors.reactive._seeing import perceived
from jaywalk.actors.reactive.traits import (
    AFTER,
    AT_KERB,
    CHILD,
    COMMITTED,
    EVADES,
    FIRST,
    GLANCING,
    HURRIES,
    MEMORY,
    NONE,
    OBLIVIOUS,
    ON_ROAD,
    PHONE,
    SENIOR,
    UNDECIDED,
    WAITS,
    WANTS,
    YIELDS,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.town.walkways import NOWHERE, ROAD, WalkGrid, solid_gap, underfoot

_EVIDENCE, _UNLOOKED = 11, 12  # purposes of random numbers
_BODY_M: Final = 0.3
_MOVING_MPS: Final = 0.3
_PARALLEL: Final = 0.2  # sine of the angle between two courses below which they do not cross
_NEAR_CAR_M: Final = 30.0
_NEAR_PERSON_M: Final = 4.0
_PEOPLE: Final = 12
_TURN_RAD: Final = 0.2
_TURNS: Final = 6  # on each side
_STEP_S: Final = 0.2
_DECIDE_M: Final = 0.9  # people decide before this distance from the road
_LARGE_M: Final = 3.2  # half length of a large vehicle
_EYE_CONTACT_MPS: Final = 3.0
_EYE_CONTACT_M: Final = 12.0
_SOON_S: Final = 12.0  # later vehicles do not matter


@kernel
def _conflict(x: float, y: float, ux: float, uy: float, car: FloatArray, out: FloatArray) -> bool:
    """Relation of a straight way along (ux, uy) to the swath of a moving vehicle.

    ``out`` is the distance of its front and of its tail from the conflict, the distance of the
    person to the near and to the far border of the swath, and the vehicle's speed. Returns False
    if the ways do not cross, or if the vehicle or the person has passed.
    """
    v = math.hypot(car[6], car[7])
    if v < _MOVING_MPS:
        return False
    dx, dy = car[6] / v, car[7] / v
    cross = dx * uy - dy * ux
    if abs(cross) < _PARALLEL:
        return False
    rx, ry = car[0] - x, car[1] - y
    s = (uy * -rx - ux * -ry) / cross
    w = (dy * -rx - dx * -ry) / cross
    slant = abs(dx * ux + dy * uy) / abs(cross)
    half = (car[5] + _BODY_M) / abs(cross)
    reach = car[4] + _BODY_M / abs(cross) + min(slant, 1.5) * car[5]
    out[0], out[1], out[2], out[3], out[4] = s - reach, s + reach, w - half, w + half, v
    return bool(out[1] > 0.0 and out[3] > 0.0)


@kernel
def decide(
    key: int,
    tick: int,
    time_s: float,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    shift_s: FloatArray,
) -> None:
    """Accumulate evidence at the kerb; order people and vehicles on the road.

    ``shift_s`` (n,) shifts the critical gaps for reasons outside the person: night, rain, others
    who step out. ``people.wanted`` becomes the wanted speed along the path.
    """
    car, way = np.empty(10), np.empty(5)
    for i in range(len(people.x)):
        if not people.active[i]:
            continue
        if traits.attention[i] == OBLIVIOUS:
            people.wanted[i] = traits.free_mps[i]
            people.decision[i] = COMMITTED if people.where[i] == ON_ROAD else WANTS
            people.evidence[i] = settings.threshold + 1.0
            continue
        if people.where[i] == ON_ROAD:
            _order(key, time_s, people, traits, settings, i, car, way)
        elif people.where[i] == AT_KERB:
            _accumulate(
                key, tick, time_s, delta_s, people, traits, settings, shift_s[i], i, car, way
            )
        else:
            people.decision[i], people.evidence[i] = NONE, 0.0
            people.gap_s[i], people.gap_id[i] = math.inf, 0
            people.wanted[i] = traits.free_mps[i]


@kernel
def _accumulate(
    key: int,
    tick: int,
    time_s: float,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    shift_s: float,
    i: int,
    car: FloatArray,
    way: FloatArray,
) -> None:
    """Decide at the kerb, or on the way to it, whether to step onto the road."""
    ux, uy = _wish(people, i)
    ahead = max(people.kerb_m[i], 0.0)
    best, nearest_s, number, blocked = math.inf, math.inf, 0, False
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        perceived(key, people, settings, i, m, time_s, car)
        if not _conflict(people.x[i], people.y[i], ux, uy, car, way):
            continue
        if way[2] > ahead + people.left_m[i]:
            continue
        if way[0] <= 0.0:
            blocked = blocked or way[1] / way[4] > settings.tail_s + ahead / traits.free_mps[i]
            continue
        # The time that is left of the gap once the person is at the kerb.
        tau = way[0] / way[4] - ahead / traits.free_mps[i]
        gap = _worth(people, settings, i, car, way, tau, ahead)
        if gap < best:
            best, nearest_s, number = gap, tau, int(people.memory_id[i, m])
    people.gap_s[i], people.gap_id[i] = nearest_s, number
    if not people.may_go[i]:
        blocked = True
    if number == 0:
        people.evidence[i] = max(people.evidence[i], settings.threshold + 1e-3)
    else:
        age = traits.age[i]
        gap = best + shift_s + traits.bold_s[i]
        gap += settings.senior_s if age == SENIOR else settings.child_s if age == CHILD else 0.0
        gap += min(settings.waiting_gain * people.waited_s[i], settings.waiting_most_s)
        drift = math.atan(settings.drift_scale * (gap - settings.drift_centre_s))
        draw = normal(key, i, _EVIDENCE, tick)
        people.evidence[i] = min(people.evidence[i], 1.5)
        people.evidence[i] += (drift - settings.leak * people.evidence[i]) * delta_s
        people.evidence[i] += settings.noise * math.sqrt(delta_s) * draw
    ready = people.evidence[i] > settings.threshold and not blocked
    if ready and not people.looked[i]:
        chance = 0.1 if traits.attention[i] == GLANCING else 0.0
        chance = 0.5 if traits.attention[i] == PHONE else chance
        ready = uniform(key, i, _UNLOOKED, int(people.looks[i])) < chance
    people.wanted[i] = traits.free_mps[i]
    if ready:
        people.decision[i] = COMMITTED
        return
    # Nearer than the stopping distance people slow down and stand at the kerb.
    people.decision[i] = WANTS if ahead > _DECIDE_M else WAITS
    room = max(ahead - 0.35, 0.0)
    people.wanted[i] = min(traits.free_mps[i], math.sqrt(2.0 * 1.0 * room))
    if ahead <= _DECIDE_M:
        people.waited_s[i] += delta_s


@kernel
def _worth(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    car: FloatArray,
    way: FloatArray,
    tau: float,
    ahead: float,
) -> float:
    """Value of a gap in seconds: its time, shifted by distance, braking and the way to go."""
    distance, v = way[0], way[4]
    gap = tau + settings.distance_weight * (distance / settings.distance_speed_mps - tau)
    braking = -distance * car[9] / (v * v)  # tau-dot + 1
    gap += settings.braking_weight * min(max(braking, -2.0), 3.0)
    if v < _EYE_CONTACT_MPS and distance < _EYE_CONTACT_M and car[9] < -0.3:
        gap += settings.yield_weight
    far = way[3] - ahead - settings.near_enough_m
    gap -= settings.far_per_m * max(far, 0.0)
    if car[4] > _LARGE_M:
        gap += settings.large_s
    if people.painted[i]:
        needed = v * v / (2.0 * max(distance, 0.1))
        if needed < settings.crosswalk_braking_mps2:
            gap += settings.crosswalk_s
        elif needed > settings.counts_on_mps2 and car[9] > -0.5:
            gap -= settings.no_braking_s
    return float(gap)


@kernel
def _wish(people: Reactions, i: int) -> tuple[float, float]:
    dx, dy = people.aim_x[i] - people.x[i], people.aim_y[i] - people.y[i]
    size = max(math.hypot(dx, dy), 1e-6)
    return dx / size, dy / size


@kernel
def _order(
    key: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    car: FloatArray,
    way: FloatArray,
) -> None:
    """Go before or after each vehicle that crosses the way, and set the wanted speed."""
    ux, uy = _wish(people, i)
    free = traits.free_mps[i]
    slowest, fastest = math.inf, 0.0
    wants = settings.crosswalk_advantage_s if people.painted[i] else settings.road_advantage_s
    wants -= settings.boldness_advantage * traits.bold_s[i]
    people.gap_s[i], people.gap_id[i] = math.inf, 0
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        perceived(key, people, settings, i, m, time_s, car)
        if not _conflict(people.x[i], people.y[i], ux, uy, car, way):
            people.order[i, m] = UNDECIDED
            continue
        front, near, far, v = way[0], way[2], way[3], way[4]
        if near > people.left_m[i] or front / v > _SOON_S:
            continue
        if near <= 0.05:  # in its way already: go on
            people.order[i, m] = FIRST
            if front > 0.0:
                fastest = max(fastest, far / max(front / v - 0.2, 0.3))
            continue
        if front <= 0.0:
            people.order[i, m] = AFTER
        else:
            _rank(people, settings, i, m, car, way, wants, free)
        if front / v < people.gap_s[i]:
            people.gap_s[i], people.gap_id[i] = max(front / v, 0.0), people.memory_id[i, m]
        if people.order[i, m] == AFTER:
            slowest = min(slowest, _speed_after(way, free, settings.last_gap_m))
        elif front / v - far / free < 1.0:
            fastest = max(fastest, far / max(front / v - 1.0, 0.4))
    most = (2.2 if traits.runs[i] else settings.fastest) * free
    people.wanted[i] = free
    people.decision[i] = COMMITTED
    if slowest < free:
        people.wanted[i] = slowest
        people.decision[i] = YIELDS
    elif fastest > 1.05 * free:
        people.wanted[i] = min(fastest, most)
        people.decision[i] = HURRIES
    people.evidence[i] = max(people.evidence[i], 0.0)


@kernel
def _speed_after(way: FloatArray, free: float, gap_m: float) -> float:
    """Speed with which a person arrives behind the tail of a vehicle; 0 to stop before it."""
    room = max(way[2] - gap_m, 0.0)
    pace = room / max((way[1] + 0.2) / way[4], 0.05)
    braked = math.sqrt(2.0 * 1.2 * room)
    if pace < 0.25 * free:
        return float(min(max(pace, min(braked, 0.5 * free)), braked if room > 0.4 else 0.0))
    return float(max(pace, min(braked, 0.5 * free)))


@kernel
def _rank(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    m: int,
    car: FloatArray,
    way: FloatArray,
    wants: float,
    free: float,
) -> None:
    """Choose the order against one vehicle by the time advantage, with hysteresis."""
    front, near, far, v = way[0], way[2], way[3], way[4]
    arrives = front / v
    if car[9] < -0.5 and v * v / (-2.0 * car[9]) < front - 0.5:
        arrives = math.inf  # it stops before the conflict
    before = people.order[i, m]
    if before == FIRST and near / free < settings.sure_s:
        return
    advantage = arrives - far / free
    if before == FIRST:
        wants -= 0.5 * settings.hysteresis_s
    elif before == AFTER:
        wants += 0.5 * settings.hysteresis_s
    first = advantage > wants
    if first and advantage < 0.0:
        first = v * v / (2.0 * max(front, 0.1)) < settings.counts_on_mps2
    people.order[i, m] = FIRST if first else AFTER


# -- velocity ----------------------------------------------------------------------------------


@kernel
def choose(
    key: int,
    tick: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    other: FloatArray,
    grid: WalkGrid,
    every: int,
) -> None:
    """Choose course and speed near the wish; each person decides on every ``every``-th tick.

    ``other`` holds people who are not controlled here, (k, 4): x, y, vx, vy.
    """
    car, near = np.empty((MEMORY, 10)), np.empty((_PEOPLE, 4))
    for i in range(len(people.x)):
        if not people.active[i] or (tick + i) % every != 0:
            continue
        ux, uy = _wish(people, i)
        wish = math.atan2(uy, ux)
        people.share[i], people.turn[i] = 1.0, 0.0
        if traits.attention[i] == OBLIVIOUS:
            continue
        cars = _cars_near(key, time_s, people, settings, i, car)
        count = _people_near(people, i, other, near)
        if cars == 0 and count == 0:
            continue
        _search(people, traits, settings, i, wish, car, cars, near, count, grid)


@kernel
def _cars_near(
    key: int,
    time_s: float,
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    car: FloatArray,
) -> int:
    count = 0
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        perceived(key, people, settings, i, m, time_s, car[count])
        dx, dy = car[count, 0] - people.x[i], car[count, 1] - people.y[i]
        v = math.hypot(car[count, 6], car[count, 7])
        if v >= _MOVING_MPS and math.hypot(dx, dy) < min(_NEAR_CAR_M, 8.0 + 3.0 * v):
            count += 1
    return count


@kernel
def _people_near(people: Reactions, i: int, other: FloatArray, near: FloatArray) -> int:
    """Write offset and velocity of people within a few metres."""
    count = 0
    for j in range(len(people.x)):
        dx, dy = people.x[j] - people.x[i], people.y[j] - people.y[i]
        if j != i and dx * dx + dy * dy < _NEAR_PERSON_M**2 and count < _PEOPLE:
            near[count, 0], near[count, 1] = dx, dy
            near[count, 2], near[count, 3] = people.vx[j], people.vy[j]
            count += 1
    for j in range(len(other)):
        dx, dy = other[j, 0] - people.x[i], other[j, 1] - people.y[i]
        if dx * dx + dy * dy < _NEAR_PERSON_M**2 and count < _PEOPLE:
            near[count, 0], near[count, 1] = dx, dy
            near[count, 2], near[count, 3] = other[j, 2], other[j, 3]
            count += 1
    return count


@kernel
def _search(
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    wish: float,
    car: FloatArray,
    cars: int,
    near: FloatArray,
    count: int,
    grid: WalkGrid,
) -> None:
    """Search courses outward from the wish, each with a few speeds; the cheapest wins."""
    wanted, free = people.wanted[i], traits.free_mps[i]
    best, chosen, share = math.inf, 0.0, 1.0
    for step in range(2 * _TURNS + 1):
        side = 1.0 if step % 2 == 1 else -1.0
        turn = side * _TURN_RAD * ((step + 1) // 2)
        base = settings.turn_cost * abs(turn)
        if base >= best:
            break
        if step > 0:
            base += _ground_cost(people, i, wish + turn, grid)
        for level in range(6):
            slower = (1.0, 0.75, 0.5, 0.25, 1.2, 0.0)[level]
            v = wanted * slower
            if level == 4 and v > settings.fastest * free:
                continue
            if level == 5 and step > 0:
                continue
            ux, uy = v * math.cos(wish + turn), v * math.sin(wish + turn)
            cost = base + settings.slow_cost * abs(v - wanted) / max(free, 0.1)
            change = math.hypot(ux - people.vx[i], uy - people.vy[i])
            cost += settings.change_cost * change
            if cost >= best:
                continue
            cost += _meets(people, traits, settings, i, ux, uy, car, cars, near, count)
            if cost < best - 1e-9:
                best, chosen, share = cost, turn, slower
        if step == 0 and share == 1.0 and _meets_nothing(best, settings, people, i, wish, wanted):
            break
    people.share[i], people.turn[i] = share, chosen


@kernel
def _meets_nothing(
    cost: float, settings: ReactionSettings, people: Reactions, i: int, wish: float, v: float
) -> bool:
    """Return True if the cost of going straight on is only that of the change of velocity."""
    ux, uy = v * math.cos(wish), v * math.sin(wish)
    change = math.hypot(ux - people.vx[i], uy - people.vy[i])
    return cost <= settings.change_cost * change + 1e-6


@kernel
def _meets(
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    ux: float,
    uy: float,
    car: FloatArray,
    cars: int,
    near: FloatArray,
    count: int,
) -> float:
    """Cost of contacts and small distances while a person changes to velocity (ux, uy)."""
    margin = settings.margin_m * traits.margin[i]
    follow = 1.0 - math.exp(-_STEP_S / settings.lag_s)
    total = 0.0
    for j in range(cars):
        worst, px, py, wx, wy, t = 0.0, people.x[i], people.y[i], people.vx[i], people.vy[i], 0.0
        cx, cy, c, s = car[j, 0], car[j, 1], car[j, 2], car[j, 3]
        v = car[j, 6] * c + car[j, 7] * s
        slows = min(car[j, 9], 0.0) * _STEP_S if car[j, 9] < -0.5 and v > 0.0 else 0.0
        turn_c, turn_s = math.cos(car[j, 8] * _STEP_S), math.sin(car[j, 8] * _STEP_S)
        while t < settings.horizon_s:
            t += _STEP_S
            wx += (ux - wx) * follow
            wy += (uy - wy) * follow
            px += wx * _STEP_S
            py += wy * _STEP_S
            c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s
            v = max(v + slows, 0.0) if slows < 0.0 else v
            cx += v * c * _STEP_S
            cy += v * s * _STEP_S
            gap = box_distance(px, py, cx, cy, c, s, car[j, 4], car[j, 5]) - _BODY_M
            if gap <= 0.0:
                worst = max(worst, settings.contact_cost / (0.3 + t))
            elif gap < margin:
                worst = max(worst, settings.margin_cost * (1.0 - gap / margin) / (0.5 + t))
        total += worst
    for j in range(count):
        total += _meets_person(people, settings, i, ux, uy, near[j], follow)
    return total


@kernel
def _meets_person(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    ux: float,
    uy: float,
    near: FloatArray,
    follow: float,
) -> float:
    """Cost of meeting one person; the other one is expected to do half of the avoidance."""
    worst, t = 0.0, 0.0
    dx, dy, wx, wy = near[0], near[1], people.vx[i], people.vy[i]
    touch = 2.0 * _BODY_M
    now = math.hypot(dx, dy)
    while t < settings.horizon_s:
        t += _STEP_S
        wx += (ux - wx) * follow
        wy += (uy - wy) * follow
        dx += (near[2] - wx) * _STEP_S
        dy += (near[3] - wy) * _STEP_S
        away = math.hypot(dx, dy)
        if away >= now and away < touch + settings.person_margin_m and t > 0.3:
            continue  # moving apart already
        if away < touch:
            worst = max(worst, settings.person_cost / (0.3 + t))
        elif away < touch + settings.person_margin_m:
            share = 1.0 - (away - touch) / settings.person_margin_m
            worst = max(worst, 0.25 * settings.person_cost * share / (0.5 + t))
    return worst


@kernel
def _ground_cost(people: Reactions, i: int, course: float, grid: WalkGrid) -> float:
    """Cost of walls, and of leaving the sidewalk, on a course beside the wish."""
    cost = 0.0
    here = solid_gap(grid, people.x[i], people.y[i])
    for step in range(1, 4):
        x = people.x[i] + 0.4 * step * math.cos(course)
        y = people.y[i] + 0.4 * step * math.sin(course)
        gap = solid_gap(grid, x, y)
        if gap < _BODY_M and gap <= here:
            cost += 4.0 / step
        what = underfoot(grid, x, y)
        if people.where[i] != ON_ROAD and what == ROAD:
            cost += 2.5 / step
        elif what == NOWHERE and people.where[i] != ON_ROAD:
            cost += 0.3 / step
    return cost


# -- last resort -------------------------------------------------------------------------------


@kernel
def last_resort(
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
) -> None:
    """Stop, or step away, when the next steps lead into a vehicle; runs on every tick.

    A person who has to stop gets speed 0; one who has to step away gets a course across that of the
    vehicle and the decision ``EVADES``.
    """
    for i in range(len(people.x)):
        if not people.active[i]:
            continue
        ux, uy = _wish(people, i)
        people.speed[i] = people.wanted[i] * people.share[i]
        people.course[i] = math.atan2(uy, ux) + people.turn[i]
        if traits.attention[i] == OBLIVIOUS:
            continue
        v = math.hypot(people.vx[i], people.vy[i])
        course = math.atan2(people.vy[i], people.vx[i]) if v > 0.2 else people.course[i]
        moving = max(v, people.speed[i])
        stop_m = moving * settings.stop_s + moving * moving / (2.0 * settings.stop_mps2)
        for m in range(MEMORY):
            if people.memory_id[i, m] == 0:
                continue
            age_s = time_s - people.memory_s[i, m]
            if _comes(people, i, m, age_s):
                _step_away(people, i, m, age_s)
                break
            if moving > 0.1 and _enters(
                people, settings, i, m, age_s, course, stop_m + settings.last_gap_m, moving
            ):
                people.speed[i] = 0.0
                if people.decision[i] in (COMMITTED, HURRIES, WANTS, NONE):
                    people.decision[i] = YIELDS


@kernel
def _enters(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    m: int,
    age_s: float,
    course: float,
    reach_m: float,
    speed: float,
) -> bool:
    """Return True if the next ``reach_m`` lead into a vehicle while it is, or will be, there."""
    car = people.memory[i, m]
    dx, dy = math.cos(course), math.sin(course)
    takes = reach_m / max(speed, 0.3)
    x, y = car[0] + age_s * car[6], car[1] + age_s * car[7]
    here = box_distance(people.x[i], people.y[i], x, y, car[2], car[3], car[4], car[5])
    if here > reach_m + 4.0 + 2.0 * takes * math.hypot(car[6], car[7]) or here < _BODY_M:
        return False
    v = math.hypot(car[6], car[7])
    braking = max(-car[9], 0.0)
    for k in range(8):
        t = (0.0, 0.5 * takes, takes, takes + 0.3)[k % 4]
        gone = t * v
        if k >= 4:  # once more for a vehicle that goes on braking
            if braking < 0.3:
                break
            t = min(t, v / braking)
            gone = t * v - 0.5 * braking * t * t
        cx, cy = x + gone * car[6] / max(v, 1e-6), y + gone * car[7] / max(v, 1e-6)
        for step in range(1, 5):
            along = reach_m * step / 4.0
            px, py = people.x[i] + along * dx, people.y[i] + along * dy
            if box_distance(px, py, cx, cy, car[2], car[3], car[4], car[5]) < _BODY_M:
                # Somebody who is in its way already must go on, not stop.
                ahead = (people.x[i] - x) * car[2] + (people.y[i] - y) * car[3]
                aside = (people.y[i] - y) * car[2] - (people.x[i] - x) * car[3]
                return not (ahead > car[4] and abs(aside) < car[5] + _BODY_M)
    return False


@kernel
def _comes(people: Reactions, i: int, m: int, age_s: float) -> bool:
    """Return True if a vehicle will reach a person who is in front of it within a second."""
    car = people.memory[i, m]
    v = math.hypot(car[6], car[7])
    if v < 1.0 or car[6] * car[2] + car[7] * car[3] < 0.0:
        return False
    dx, dy = people.x[i] - car[0] - age_s * car[6], people.y[i] - car[1] - age_s * car[7]
    ahead, aside = dx * car[2] + dy * car[3] - car[4], dy * car[2] - dx * car[3]
    aside_mps = people.vy[i] * car[2] - people.vx[i] * car[3]
    if ahead < -0.5 or ahead > 1.0 * v + 0.3:
        return False
    later = aside + aside_mps * max(ahead, 0.0) / v
    half = car[5] + _BODY_M + 0.1
    braked = v * v / (2.0 * max(-car[9], 0.1)) < ahead - 0.3
    return abs(aside) < half and abs(later) < half and not braked


@kernel
def _step_away(people: Reactions, i: int, m: int, age_s: float) -> None:
    """Leave the way of a vehicle to the side on which one is, or towards which one moves."""
    car = people.memory[i, m]
    dx, dy = people.x[i] - car[0] - age_s * car[6], people.y[i] - car[1] - age_s * car[7]
    aside = dy * car[2] - dx * car[3]
    aside += 0.5 * (people.vy[i] * car[2] - people.vx[i] * car[3])
    side = 1.0 if aside >= 0.0 else -1.0
    people.course[i] = math.atan2(side * car[2], -side * car[3])
    people.speed[i] = 2.5
    people.decision[i] = EVADES
