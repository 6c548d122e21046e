"""Compiled decisions of background vehicles for one tick: perceive and drive."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.lane_network import in_polygon
from jaywalk.actors.traffic._junctions import STOP_HARD_MPS2, front_of, next_junction, passes
from jaywalk.actors.traffic.paths import (
    CROSSWALK,
    FEATURES,
    JUNCTION,
    LIGHT,
    Fleet,
    Others,
)
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance

_SIDE_M: Final = 0.3  # clearance beside the car
_PERSON_SIDE_M: Final = 0.6
_STANDING_SIDE_M: Final = 0.25  # small, so that no vehicle waits forever for a person at the kerb
_PERSON_S: Final = 2.0  # prediction time for people
_LINE_M: Final = 1.0  # from the front to a stop line
_PULL_MPS: Final = 0.3
_CURVATURE_PER_STEER: Final = 0.78  # times 1 / length of the wheel base; effective, see the docs
_EMERGENCY_MPS2: Final = 8.0
_CROSSWALK_M: Final = 40.0  # upper bound of a crosswalk's length


@kernel
def locate(fleet: Fleet) -> None:
    """Advance each vehicle's index on its path to its present position."""
    for i in range(len(fleet.x)):
        path, last = fleet.path[i], fleet.path_count[i] - 1
        best, where = np.inf, fleet.at[i]
        for k in range(max(fleet.at[i] - 1, 0), min(fleet.at[i] + 12, last)):
            dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
            length2 = dx * dx + dy * dy
            wx, wy = fleet.x[i] - path[k, 0], fleet.y[i] - path[k, 1]
            u = min(max((wx * dx + wy * dy) / max(length2, 1e-9), 0.0), 1.0)
            gap = (wx - u * dx) ** 2 + (wy - u * dy) ** 2
            if gap < best - 1e-9:
                best, where = gap, k
                fleet.along[i] = path[k, 2] + u * (path[k + 1, 2] - path[k, 2])
        fleet.at[i] = where


@kernel
def look_ahead(fleet: Fleet, others: Others) -> None:
    """Find position on the path and speed of the nearest obstacle in each vehicle's corridor."""
    for i in range(len(fleet.x)):
        reach = 12.0 + fleet.half_length[i] + 3.2 * fleet.speed[i]
        fleet.hit_along[i], fleet.hit_speed[i] = np.inf, 0.0
        front = fleet.along[i] + fleet.centre[i] + fleet.half_length[i]
        for j in range(len(others.owner)):
            if others.owner[j] == i:
                continue
            box = others.box[j]
            dx, dy = box[0] - fleet.x[i], box[1] - fleet.y[i]
            near = reach + box[4] + 2.0
            if dx * dx + dy * dy > near * near:
                continue
            hit = _trace_box(fleet, i, box, reach, fleet.half_width[i] + _SIDE_M)
            if hit < fleet.hit_along[i] and hit > front - 2.0 * fleet.half_length[i]:
                fleet.hit_along[i] = hit
                fleet.hit_speed[i] = _speed_along(fleet, i, hit, box[6], box[7])
        for j in range(len(others.person)):
            person = others.person[j]
            dx, dy = person[0] - fleet.x[i], person[1] - fleet.y[i]
            near = reach + 4.0
            if dx * dx + dy * dy > near * near:
                continue
            hit = _trace_person(fleet, i, person, reach)
            if hit < fleet.hit_along[i]:
                fleet.hit_along[i], fleet.hit_speed[i] = hit, 0.0


@kernel
def _trace_box(fleet: Fleet, i: int, box: Any, reach: float, side: float) -> float:
    """Walk along the path in steps as long as the distance to the box, so that none is skipped."""
    path = fleet.path[i]
    k, end = fleet.at[i], fleet.path_count[i]
    while k < end:
        gap = (
            box_distance(path[k, 0], path[k, 1], box[0], box[1], box[2], box[3], box[4], box[5])
            - side
        )
        if gap <= 0.0:
            return float(path[k, 2])
        if path[k, 2] - fleet.along[i] > reach:
            break
        aim = path[k, 2] + gap
        k += 1
        while k < end - 1 and path[k, 2] < aim - 1.0:
            k += 1
    return np.inf


@kernel
def _trace_person(fleet: Fleet, i: int, person: Any, reach: float) -> float:
    """Return the distance along the path of a person, now or within the prediction time."""
    path = fleet.path[i]
    walking = person[2] * person[2] + person[3] * person[3] > 0.04
    room = _PERSON_SIDE_M if walking else _STANDING_SIDE_M
    side = fleet.half_width[i] + person[4] + room
    best = np.inf
    steps = 5 if walking else 1
    for step in range(steps):
        t = step * _PERSON_S / 4.0
        px, py = person[0] + t * person[2], person[1] + t * person[3]
        k, end = fleet.at[i], fleet.path_count[i]
        while k < end:
            gap = np.hypot(path[k, 0] - px, path[k, 1] - py) - side
            if gap <= 0.0:
                best = min(best, path[k, 2])
                break
            if path[k, 2] - fleet.along[i] > reach:
                break
            aim = path[k, 2] + gap
            k += 1
            while k < end - 1 and path[k, 2] < aim - 1.0:
                k += 1
    return float(best)


@kernel
def _speed_along(fleet: Fleet, i: int, hit: float, vx: float, vy: float) -> float:
    path = fleet.path[i]
    k = fleet.at[i]
    while k < fleet.path_count[i] - 2 and path[k + 1, 2] < hit:
        k += 1
    dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
    length = max(np.hypot(dx, dy), 1e-6)
    return float(max((vx * dx + vy * dy) / length, 0.0))


@kernel
def drive(
    fleet: Fleet,
    others: Others,
    lights: NDArray[np.float64],
    delta_s: float,
    a_max: float,
    b_comfort: float,
    headway_s: float,
    gap_m: float,
) -> None:
    """Compute pedals and steering of every vehicle."""
    for i in range(len(fleet.x)):
        speed, front = fleet.speed[i], front_of(fleet, i)
        wanted = min(_allowed_speed(fleet, i, b_comfort), fleet.cap[i])
        pull = a_max * (1.0 - (speed / max(wanted, 0.1)) ** 4)
        pull = max(pull, -b_comfort)
        gap = fleet.hit_along[i] - front
        if np.isfinite(gap):
            pull = min(
                pull,
                _follow(speed, wanted, gap, fleet.hit_speed[i], a_max, b_comfort, headway_s, gap_m),
            )
        line = _stop_line(fleet, i, others, lights)
        if np.isfinite(line):
            # A line has no length: stop a little before it.
            pull = min(
                pull,
                _follow(
                    speed, wanted, line - front - _LINE_M + 1.0, 0.0, a_max, b_comfort, 0.6, 1.0
                ),
            )
        fleet.acceleration[i] = max(pull, -_EMERGENCY_MPS2)
        _pedals(fleet, i, delta_s)
        _steer(fleet, i)


@kernel
def _allowed_speed(fleet: Fleet, i: int, braking: float) -> float:
    """Allowed speed here, lowered in time for slower parts of the path ahead."""
    path = fleet.path[i]
    allowed = 1e9
    for k in range(fleet.at[i], fleet.path_count[i]):
        ahead = max(path[k, 2] - fleet.along[i], 0.0)
        if ahead > 80.0:
            break
        factor = fleet.factor[i]
        here = np.sqrt((factor * path[k, 3]) ** 2 + 2.0 * 0.7 * braking * ahead)
        allowed = min(allowed, here)
    return float(allowed)


@kernel
def _follow(
    speed: float,
    wanted: float,
    gap: float,
    lead: float,
    a_max: float,
    b: float,
    headway_s: float,
    gap_m: float,
) -> float:
    """Intelligent driver model, with a floor that stops for obstacles nearer than the gap."""
    if gap < 0.3:
        return -_EMERGENCY_MPS2
    closing = speed - lead
    desired = gap_m + max(speed * headway_s + speed * closing / (2.0 * np.sqrt(a_max * b)), 0.0)
    pull = a_max * (1.0 - (speed / max(wanted, 0.1)) ** 4 - (desired / gap) ** 2)
    if closing > 0.0:  # brake at least as hard as needed to stop in the room left
        needed = closing * closing / (2.0 * max(gap - 0.7 * gap_m, 0.3))
        if needed > b:
            pull = min(pull, -needed)
    return float(pull)


@kernel
def _stop_line(fleet: Fleet, i: int, others: Others, lights: NDArray[np.float64]) -> float:
    """Return the nearest line on the path that must not be passed now."""
    front = front_of(fleet, i)
    nearest, held_back, half = np.inf, np.inf, fleet.half_length[i]
    junction = next_junction(fleet, i)
    for f in range(FEATURES):
        kind = fleet.feature_kind[i, f]
        line = fleet.feature_from[i, f]
        if kind == LIGHT and fleet.feature_to[i, f] >= front and line > front - 2.0 * half:
            held_back = line if line > front else held_back
            if not passes(fleet, i, f, lights):
                needed = fleet.speed[i] ** 2 / (2.0 * STOP_HARD_MPS2)
                before = line > front and line - front >= needed
                nearest = min(nearest, line if before else fleet.feature_to[i, f])
        elif kind == JUNCTION:
            shut = f >= junction and not (f == junction and fleet.granted[i] == 1)
            if shut and line > front - 0.5:
                nearest = min(nearest, max(line, front), held_back)
            held_back = np.inf  # the line of a light belongs to the junction behind it
        elif kind == CROSSWALK and line > front - 0.5:
            stops_in = fleet.speed[i] ** 2 / (2.0 * STOP_HARD_MPS2)
            if line - front > stops_in - 1.0:
                for p in range(len(others.person)):
                    if others.person_crosswalk[p, fleet.feature_ref[i, f]]:
                        nearest = min(nearest, line - 1.0)
                        break
    return float(nearest)


@kernel
def _pedals(fleet: Fleet, i: int, delta_s: float) -> None:
    """Convert acceleration to pedals by a rough map, corrected by the response of the car.

    The correction makes it work on any server.
    """
    want, speed = fleet.acceleration[i], fleet.speed[i]
    if speed < _PULL_MPS and want < 0.05:
        fleet.throttle[i], fleet.brake[i], fleet.pedal[i] = 0.0, 1.0, 0.0
        return
    if want < -0.8:
        fleet.throttle[i], fleet.pedal[i] = 0.0, 0.0
        fleet.brake[i] = min(-want / 9.0, 1.0)
        return
    fleet.brake[i] = 0.0
    if fleet.throttle[i] > 0.0:
        did = (speed - fleet.last_speed[i]) / delta_s
        fleet.pedal[i] = min(max(fleet.pedal[i] + 0.02 * (want - did), -0.3), 0.4)
    base = 0.32 + 0.008 * speed + 0.16 * want
    fleet.throttle[i] = min(max(base + fleet.pedal[i], 0.0), 0.85)


@kernel
def _steer(fleet: Fleet, i: int) -> None:
    """Pure pursuit from the middle of the rear axle."""
    path = fleet.path[i]
    base = 1.2 * fleet.half_length[i]
    cos, sin = np.cos(fleet.yaw[i]), np.sin(fleet.yaw[i])
    rx, ry = fleet.x[i] - 0.5 * base * cos, fleet.y[i] - 0.5 * base * sin
    reach = min(max(2.2 + 0.45 * fleet.speed[i], 3.0), 14.0)
    aim = fleet.along[i] - 0.5 * base + reach + 0.5
    k = fleet.at[i]
    while k < fleet.path_count[i] - 2 and path[k + 1, 2] < aim:
        k += 1
    span = max(path[k + 1, 2] - path[k, 2], 1e-6)
    u = max((aim - path[k, 2]) / span, 0.0)
    tx = path[k, 0] + u * (path[k + 1, 0] - path[k, 0]) - rx
    ty = path[k, 1] + u * (path[k + 1, 1] - path[k, 1]) - ry
    ahead, left = tx * cos + ty * sin, -tx * sin + ty * cos
    curvature = 2.0 * left / max(ahead * ahead + left * left, 1.0)
    fleet.steer[i] = min(max(curvature * base / _CURVATURE_PER_STEER, -1.0), 1.0)


@kernel
def mark_crosswalks(
    people: NDArray[np.float64],
    crosswalks: NDArray[np.float64],
    ahead_s: float,
    near: NDArray[np.bool_],
) -> None:
    """Mark the people on each crosswalk, now or ``ahead_s`` seconds later."""
    for row in range(len(people)):
        x, y = people[row, 0], people[row, 1]
        soon_x, soon_y = x + ahead_s * people[row, 2], y + ahead_s * people[row, 3]
        for column in range(len(crosswalks)):
            corners = crosswalks[column]
            if abs(corners[0, 0] - x) > _CROSSWALK_M or abs(corners[0, 1] - y) > _CROSSWALK_M:
                continue
            near[row, column] = in_polygon(x, y, corners) or in_polygon(soon_x, soon_y, corners)
