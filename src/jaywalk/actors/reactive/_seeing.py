"""Kernels of perception: looks, field of view, occlusion and memory of vehicles."""

from __future__ import annotations

import math
from typing import Final

from jaywalk.actors.reactive._noise import normal, uniform
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    GLANCING,
    MEMORY,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    PHONE,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import nearest_turn
from jaywalk.town.walkways import WalkGrid, solid_gap

# Purposes of random numbers.
_LOOK, _PAUSE, _NOTICE = 1, 2, 3
_MOVING_MPS: Final = 0.3
_CREEPING_MPS: Final = 1.0  # a driver who has stood and now creeps still gives way
_SIGHT_S: Final = 0.2  # between two tests of what is visible, staggered by person
_STRIDE_M: Final = 0.35  # of the ray; two samples in a row inside a solid object block it
_BESIDE_M: Final = 8.0  # a vehicle this near is noticed anywhere in the field of view
_CLOSE_M: Final = 1.2  # the last metres of a ray are not tested: the vehicle itself
_GLANCE: Final = 0.4  # length of the looks of glancing people
_BUSY: Final = 6.0  # factor on the pauses of people with a phone
_ASIDE_RAD: Final = 1.2  # direction of a look along the road, from the walking direction
_NECK_RAD: Final = math.radians(110.0)  # eyes and head together


@kernel
def see(
    key: int,
    tick: int,
    time_s: float,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    car: FloatArray,
    car_id: IntArray,
    blocker: FloatArray,
    grid: WalkGrid,
) -> None:
    """Move gazes and update what people remember of the vehicles (k, 10)."""
    every = max(round(_SIGHT_S / delta_s), 1)
    for i in range(len(people.x)):
        if not people.active[i]:
            continue
        _forget(people, i, time_s, settings.forget_s)
        if traits.attention[i] == OBLIVIOUS:
            people.looking[i], people.gaze_id[i], people.gaze_rad[i] = False, 0, 0.0
            continue
        startled = False
        if (tick + i) % every == 0:
            startled = _test_sight(
                key, tick, time_s, people, traits, settings, i, car, car_id, blocker, grid, delta_s
            )
        _move_gaze(key, time_s, people, traits, settings, i, startled)


@kernel
def notice(
    key: int,
    tick: int,
    time_s: float,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    who: BoolArray,
    startled: BoolArray,
    car: FloatArray,
    car_id: IntArray,
    blocker: FloatArray,
    grid: WalkGrid,
) -> None:
    """Update what some people remember of the vehicles, and whether one startles them.

    Their gazes are moved by somebody else.
    """
    every = max(round(_SIGHT_S / delta_s), 1)
    for i in range(len(people.x)):
        if not (who[i] and people.active[i]):
            continue
        _forget(people, i, time_s, settings.forget_s)
        if traits.attention[i] != OBLIVIOUS and (tick + i) % every == 0:
            startles = _test_sight(
                key, tick, time_s, people, traits, settings, i, car, car_id, blocker, grid, delta_s
            )
            startled[i] = startled[i] or startles


@kernel
def look_about(
    key: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    startled: BoolArray,
) -> None:
    """Move the gazes of active people."""
    for i in range(len(people.x)):
        if people.active[i] and traits.attention[i] != OBLIVIOUS:
            _move_gaze(key, time_s, people, traits, settings, i, startled[i])


@kernel
def _forget(people: Reactions, i: int, time_s: float, forget_s: float) -> None:
    for m in range(MEMORY):
        if people.memory_id[i, m] != 0 and time_s - people.memory_s[i, m] > forget_s:
            people.memory_id[i, m] = 0
            people.order[i, m] = 0


@kernel
def _move_gaze(
    key: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    startled: bool,
) -> None:
    """Begin and end looks, and point the gaze of a person who looks."""
    where = people.where[i]
    if people.looking[i] and time_s >= people.until_s[i] and not (startled or people.hesitates[i]):
        people.looking[i] = False
        factor = settings.calm_pause if where == OFF_ROAD else 1.0
        factor = settings.road_pause if where == ON_ROAD else factor
        if traits.attention[i] == PHONE:
            factor *= _BUSY
        size = normal(key, i, _PAUSE, people.looks[i])
        people.until_s[i] = time_s + factor * settings.pause_s * math.exp(
            settings.pause_sigma * size
        )
    begins = (startled or people.hesitates[i]) and not people.looking[i]
    if not people.looking[i] and time_s >= people.until_s[i]:
        speed = max(math.hypot(people.vx[i], people.vy[i]), 0.6)
        near = people.kerb_m[i] / speed <= traits.first_look_s[i]
        begins = begins or where != AT_KERB or near
    if where == ON_ROAD and people.lane[i] > people.looked_lane[i]:
        # Another lane begins: everybody who is not busy looks to where its traffic comes from.
        begins = begins or (not people.looking[i] and traits.attention[i] != PHONE)
    people.looked_lane[i] = people.lane[i] if where == ON_ROAD else 0
    if begins:
        people.looking[i] = True
        people.looks[i] += 1
        factor = settings.road_look if where == ON_ROAD else 1.0
        if traits.attention[i] == GLANCING:
            factor *= _GLANCE
        size = normal(key, i, _LOOK, people.looks[i])
        people.until_s[i] = time_s + factor * settings.look_s * math.exp(settings.look_sigma * size)
        if where == AT_KERB:
            people.looked[i] = True
    _point_gaze(people, i, time_s)


@kernel
def _point_gaze(people: Reactions, i: int, time_s: float) -> None:
    """Look at the vehicle that arrives first, or along the road; ahead without a look."""
    people.gaze_id[i] = 0
    if not people.looking[i]:
        people.gaze_rad[i] = 0.0
        return
    wish = math.atan2(people.aim_y[i] - people.y[i], people.aim_x[i] - people.x[i])
    first = (people.looks[i] - people.looks_from[i]) % 2 == 1 or people.where[i] == ON_ROAD
    side = people.near_side[i] if first else -people.near_side[i]
    aim = wish + side * _ASIDE_RAD
    best = math.inf
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        x, y, v = _placed(people.memory[i, m], time_s - people.memory_s[i, m])
        dx, dy = x - people.x[i], y - people.y[i]
        away = math.hypot(dx, dy)
        closing = -(dx * people.memory[i, m, 6] + dy * people.memory[i, m, 7]) / max(away, 0.1)
        if v < _MOVING_MPS or closing <= 0.0:
            continue
        bearing = math.atan2(dy, dx)
        beside = nearest_turn(bearing - wish) * side >= 0.0
        arrives = away / closing + (0.0 if beside else 2.0)
        if arrives < best:
            best, aim = arrives, bearing
            people.gaze_id[i] = people.memory_id[i, m]
    turn = nearest_turn(aim - people.yaw[i])
    people.gaze_rad[i] = min(max(turn, -_NECK_RAD), _NECK_RAD)


@kernel
def _placed(car: FloatArray, age_s: float) -> tuple[float, float, float]:
    """Place of a remembered vehicle now, and its speed, at constant velocity."""
    v = math.hypot(car[6], car[7])
    return car[0] + age_s * car[6], car[1] + age_s * car[7], v


@kernel
def _test_sight(
    key: int,
    tick: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    car: FloatArray,
    car_id: IntArray,
    blocker: FloatArray,
    grid: WalkGrid,
    delta_s: float,
) -> bool:
    """Remember the vehicles that a person sees now; return True if one startles them."""
    startled = False
    head_down = traits.attention[i] == PHONE and not people.looking[i]
    gaze = people.yaw[i] + people.gaze_rad[i]
    chance = 1.0 - math.exp(-settings.notice_per_s * _SIGHT_S)
    for j in range(len(car)):
        dx, dy = car[j, 0] - people.x[i], car[j, 1] - people.y[i]
        away = math.hypot(dx, dy)
        if away > settings.sight_m:
            continue
        bearing = math.atan2(dy, dx)
        in_focus = abs(nearest_turn(bearing - gaze)) < settings.focus_rad and not head_down
        around = abs(nearest_turn(bearing - people.yaw[i])) < settings.periphery_rad
        if not (in_focus or around):
            continue
        closing = -(dx * (car[j, 6] - people.vx[i]) + dy * (car[j, 7] - people.vy[i])) / max(
            away, 0.1
        )
        room = max(away - car[j, 4], 0.1)
        startle = around and closing > 0.5 and room / closing < settings.startle_s
        notices = False
        if around and closing * 2.0 * car[j, 5] / (room * room) > settings.growth_radps:
            purpose = _NOTICE + int(car_id[j]) * 8
            notices = uniform(key, i, purpose, tick) < chance
        beside = around and room < _BESIDE_M
        if not (in_focus or startle or notices or beside):
            continue
        if is_hidden(people.x[i], people.y[i], car[j], blocker, grid):
            continue
        _remember(people, i, car[j], int(car_id[j]), time_s)
        startled = startled or startle
    return startled


@kernel
def _remember(people: Reactions, i: int, car: FloatArray, number: int, time_s: float) -> None:
    """Keep a vehicle in its slot, in an empty one, or instead of the farthest vehicle."""
    slot, farthest = -1, -1.0
    for m in range(MEMORY):
        if people.memory_id[i, m] == number:
            slot = m
            break
    if slot < 0:
        for m in range(MEMORY):
            if people.memory_id[i, m] == 0:
                slot = m
                break
            dx = people.memory[i, m, 0] - people.x[i]
            dy = people.memory[i, m, 1] - people.y[i]
            if dx * dx + dy * dy > farthest:
                farthest, slot = dx * dx + dy * dy, m
        people.order[i, slot], people.stood_s[i, slot] = 0, 0.0
    elif math.hypot(car[6], car[7]) < _MOVING_MPS:
        people.stood_s[i, slot] += time_s - people.memory_s[i, slot]
    elif math.hypot(car[6], car[7]) > _CREEPING_MPS:
        people.stood_s[i, slot] = 0.0
    people.memory_id[i, slot] = number
    people.memory_s[i, slot] = time_s
    for c in range(10):
        people.memory[i, slot, c] = car[c]


@kernel
def is_hidden(x_m: float, y_m: float, car: FloatArray, blocker: FloatArray, grid: WalkGrid) -> bool:
    """Return True if centre and front corners of a vehicle are behind solid objects."""
    for k in range(3):
        along = 0.0 if k == 0 else car[4]
        aside = 0.0 if k == 0 else car[5] if k == 1 else -car[5]
        px = car[0] + along * car[2] - aside * car[3]
        py = car[1] + along * car[3] + aside * car[2]
        if not _blocked(x_m, y_m, px, py, car, blocker) and not _walled(x_m, y_m, px, py, grid):
            return False
    return True


@kernel
def _blocked(
    ax: float, ay: float, bx: float, by: float, car: FloatArray, blocker: FloatArray
) -> bool:
    """Return True if a line of sight crosses a box (n, 6) other than the vehicle itself."""
    for k in range(len(blocker)):
        box = blocker[k]
        gx, gy = box[0] - car[0], box[1] - car[1]
        if gx * gx + gy * gy < 0.25:
            continue
        c, s = box[2], box[3]
        ux, uy = (ax - box[0]) * c + (ay - box[1]) * s, (ay - box[1]) * c - (ax - box[0]) * s
        wx, wy = (bx - box[0]) * c + (by - box[1]) * s, (by - box[1]) * c - (bx - box[0]) * s
        enter, leave = 0.0, 1.0
        for axis in range(2):
            start = ux if axis == 0 else uy
            step = (wx if axis == 0 else wy) - start
            half = box[4] if axis == 0 else box[5]
            if abs(step) < 1e-9:
                if abs(start) > half:
                    enter = 2.0
                continue
            one, two = (-half - start) / step, (half - start) / step
            enter = max(enter, min(one, two))
            leave = min(leave, max(one, two))
        if enter < leave:
            return True
    return False


@kernel
def _walled(ax: float, ay: float, bx: float, by: float, grid: WalkGrid) -> bool:
    """Return True if a line of sight passes through a solid object at least 0.35 m thick."""
    dx, dy = bx - ax, by - ay
    size = math.hypot(dx, dy)
    if size < 2.0 * _CLOSE_M:
        return False
    dx, dy = dx / size, dy / size
    along, inside = 0.6, 0
    while along < size - _CLOSE_M:
        gap = solid_gap(grid, ax + along * dx, ay + along * dy)
        if gap <= 0.02:
            inside += 1
            if inside >= 2:
                return True
            along += _STRIDE_M
        else:
            inside = 0
            along += max(0.9 * gap, _STRIDE_M)
    return False


@kernel
def perceived(
    key: int,
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    m: int,
    time_s: float,
    out: FloatArray,
) -> None:
    """Write a remembered vehicle (10,) as a person believes it to be now, with errors of a look."""
    age_s = time_s - people.memory_s[i, m]
    for c in range(10):
        out[c] = people.memory[i, m, c]
    draw = people.looks[i] * 65536 + int(people.memory_id[i, m]) % 65536
    if people.error_of[i, m] != draw:
        people.error_of[i, m] = draw
        people.error[i, m, 0] = max(1.0 + settings.speed_noise * normal(key, i, 5, draw), 0.5)
        people.error[i, m, 1] = max(1.0 + settings.distance_noise * normal(key, i, 6, draw), 0.7)
    speed, distance = people.error[i, m, 0], people.error[i, m, 1]
    x, y = out[0] + age_s * out[6], out[1] + age_s * out[7]
    near = max(math.hypot(x - people.x[i], y - people.y[i]) - out[4] - 1.0, 0.0)
    # Nobody misjudges the place of a vehicle that is within reach.
    distance = 1.0 + (distance - 1.0) * min(near / 8.0, 1.0)
    out[0] = people.x[i] + distance * (x - people.x[i])
    out[1] = people.y[i] + distance * (y - people.y[i])
    out[6] *= speed
    out[7] *= speed
