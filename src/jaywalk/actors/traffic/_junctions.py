"""Compiled right of way of background vehicles: which of them may enter a junction."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.traffic.paths import (
    FEATURES,
    GREEN,
    HELD,
    JUNCTION,
    LIGHT,
    OFF,
    YELLOW,
    Fleet,
)
from jaywalk.core.kernels import kernel

STOP_HARD_MPS2: Final = 3.5  # the hardest braking for a light that turns yellow
_CLEAR_S: Final = 2.5  # a gap this long behind a vehicle lets another one enter
_IN_M: Final = 0.5  # with the front this far in, a vehicle is inside a junction


@kernel
def arbitrate(
    fleet: Fleet,
    conflict: NDArray[np.float32],
    outside: NDArray[np.bool_],
    lights: NDArray[np.float64],
    tick: int,
    delta_s: float,
    stop_wait_s: float,
    patience_s: float,
) -> None:
    """Grant entry to junctions: holders first, then by right of way, then by arrival."""
    count = len(fleet.x)
    rank = np.full(count, np.inf)
    for i in range(count):
        f = next_junction(fleet, i)
        first = _first_segment(fleet, i, f)
        if first != fleet.asked[i]:
            fleet.asked[i] = first
            fleet.granted[i], fleet.arrived[i], fleet.stopped[i] = 0, -1, 0.0
        if f < 0:
            continue
        front = front_of(fleet, i)
        if front > fleet.feature_from[i, f] + _IN_M:  # inside, regardless of earlier decisions
            fleet.granted[i] = 1
            continue
        left = fleet.feature_from[i, f] - front
        if left < 15.0 and fleet.arrived[i] < 0:
            fleet.arrived[i] = tick
        if fleet.speed[i] < 0.2 and left < 4.0:
            fleet.stopped[i] += delta_s
        if fleet.granted[i] == 1:
            stops = fleet.speed[i] ** 2 / (2.0 * STOP_HARD_MPS2) < left - 0.5
            taken = stops and _taken_outside(fleet, i, f, conflict, outside)
            if _light_allows(fleet, i, f, lights) and not taken:
                continue
            fleet.granted[i] = 0  # yellow, or another vehicle comes, with enough time to stop
        if not _asks(fleet, i, f, left, lights, stop_wait_s):
            continue
        waited = (tick - fleet.arrived[i]) * delta_s if fleet.arrived[i] >= 0 else 0.0
        order = 0.0 if waited > patience_s else float(fleet.feature_ref[i, f])
        arrived = fleet.arrived[i] if fleet.arrived[i] >= 0 else tick + 1
        rank[i] = order * 1e9 + arrived + i * 1e-4
    for i in np.argsort(rank, kind="mergesort"):
        if np.isinf(rank[i]):
            break
        f = next_junction(fleet, i)
        if _may_enter(fleet, i, f, conflict, outside, rank, lights):
            fleet.granted[i] = 1


@kernel
def front_of(fleet: Fleet, i: int) -> float:
    """Return the position of a vehicle's front on its path."""
    return float(fleet.along[i] + fleet.centre[i] + fleet.half_length[i])


@kernel
def next_junction(fleet: Fleet, i: int) -> int:
    """Return the next junction of a vehicle, or the one it is in; -1: none on its path.

    The next one counts as soon as the front is in a junction: if no vehicle can stand between two
    junctions, entry to the second must be requested from inside the first.
    """
    front, nearest = front_of(fleet, i), -1
    rear = front - 2.0 * fleet.half_length[i]
    for f in range(FEATURES):
        if fleet.feature_kind[i, f] == JUNCTION and fleet.feature_to[i, f] > rear:
            if fleet.feature_from[i, f] + _IN_M >= front:
                return f
            nearest = f
    return nearest


@kernel
def _first_segment(fleet: Fleet, i: int, f: int) -> int:
    """Return the first segment of a junction on the path; -1: no junction, -2: unknown."""
    if f < 0:
        return -1
    for a in range(HELD):
        if fleet.held[i, a] < 0:
            break
        if fleet.held_to[i, a] > fleet.feature_from[i, f]:
            return int(fleet.held[i, a])
    return -2


@kernel
def _light_allows(fleet: Fleet, i: int, junction: int, lights: NDArray[np.float64]) -> bool:
    """Return True if the lights before a junction let the vehicle in."""
    for f in range(FEATURES):
        before = fleet.feature_to[i, f] <= fleet.feature_from[i, junction] + 1.0
        if fleet.feature_kind[i, f] == LIGHT and before and not passes(fleet, i, f, lights):
            return False
    return True


@kernel
def passes(fleet: Fleet, i: int, f: int, lights: NDArray[np.float64]) -> bool:
    """Return True if green, already passed or too near to stop; the tail must not pass on red."""
    front, speed = front_of(fleet, i), fleet.speed[i]
    tail = front - 2.0 * fleet.half_length[i]
    line, edge = fleet.feature_from[i, f], fleet.feature_to[i, f]
    light = fleet.feature_ref[i, f]
    state = lights[light, 0]
    if tail > line or front > edge + 0.5 or state in (GREEN, OFF):
        return True
    needed = speed * speed / (2.0 * STOP_HARD_MPS2)
    if state == YELLOW and line - front < needed:
        clears_s = np.sqrt(speed * speed + 2.0 * (line - tail)) - speed  # pulling 1 m/s2
        return bool(clears_s < lights[light, 1] - 0.3 or edge - front < needed)
    return bool(edge - front < needed)


@kernel
def _asks(
    fleet: Fleet, i: int, f: int, left: float, lights: NDArray[np.float64], stop_wait_s: float
) -> bool:
    if left > 8.0 + fleet.speed[i] + fleet.speed[i] ** 2 / 4.0:
        return False
    if fleet.feature_sign[i, f] == 2 and fleet.stopped[i] < stop_wait_s:
        return False
    return _light_allows(fleet, i, f, lights)


@kernel
def _may_enter(
    fleet: Fleet,
    i: int,
    f: int,
    conflict: NDArray[np.float32],
    outside: NDArray[np.bool_],
    rank: NDArray[np.float64],
    lights: NDArray[np.float64],
) -> bool:
    exit_m = fleet.feature_to[i, f] + 2.0 * fleet.half_length[i] + 2.5
    if fleet.hit_along[i] < exit_m and fleet.hit_speed[i] < 1.5:
        return False  # the vehicle would stand in the junction
    if _taken_outside(fleet, i, f, conflict, outside):
        return False
    front = front_of(fleet, i)
    pace = max(fleet.speed[i], 3.0)
    through_s = (fleet.feature_to[i, f] + 2.0 * fleet.half_length[i] - front) / pace + _CLEAR_S
    for j in range(len(fleet.x)):
        if j == i:
            continue
        other = next_junction(fleet, j)
        if other < 0:
            continue
        # Before the next junction is granted, a vehicle holds only the one it is in.
        granted = fleet.granted[j] == 1
        until = fleet.feature_to[j, other] if granted else fleet.feature_from[j, other]
        if _collide(fleet, i, f, j, until, conflict):
            return False
        # Not granted yet, but with the right of way and coming soon.
        first = fleet.feature_ref[j, other] < fleet.feature_ref[i, f] and rank[i] > 1e9 - 1.0
        if first and not granted:
            gap = fleet.feature_from[j, other] - front_of(fleet, j)
            soon = gap / max(fleet.speed[j], 1.0) < through_s
            comes = soon and _light_allows(fleet, j, other, lights)
            if comes and _collide(fleet, i, f, j, fleet.feature_to[j, other], conflict):
                return False
    return True


@kernel
def _taken_outside(
    fleet: Fleet, i: int, f: int, conflict: NDArray[np.float32], outside: NDArray[np.bool_]
) -> bool:
    """Return True if a vehicle outside the fleet uses lanes that a junction passage crosses."""
    for a in range(HELD):
        mine = fleet.held[i, a]
        if mine < 0 or fleet.held_from[i, a] >= fleet.feature_to[i, f]:
            break
        if fleet.held_to[i, a] <= fleet.feature_from[i, f]:
            continue
        for b in range(len(outside)):
            if outside[b] and (conflict[mine, b] > 0.0):
                return True
    return False


@kernel
def _collide(
    fleet: Fleet, i: int, f: int, j: int, until: float, conflict: NDArray[np.float32]
) -> bool:
    """Return True if the passage of i conflicts with the rest of the path of j up to ``until``."""
    rear = fleet.along[j] + fleet.centre[j] - fleet.half_length[j]
    for b in range(HELD):
        theirs = fleet.held[j, b]
        if theirs < 0 or fleet.held_from[j, b] >= until:
            return False
        if fleet.held_to[j, b] + 1.0 < rear:
            continue
        for a in range(HELD):
            mine = fleet.held[i, a]
            if mine < 0 or fleet.held_from[i, a] >= fleet.feature_to[i, f]:
                break
            if fleet.held_to[i, a] <= fleet.feature_from[i, f]:
                continue
            end = conflict[theirs, mine]
            if end > 0.0 and rear < fleet.held_from[j, b] + end + 1.0:
                return True
    return False


@kernel
def outside_holds(
    boxes: NDArray[np.float64],
    mine: NDArray[np.int64],
    inside: NDArray[np.int64],
    starts: NDArray[np.int64],
    points: NDArray[np.float64],
    out: NDArray[np.bool_],
) -> None:
    """Mark the junction lanes that vehicles outside the fleet use or are about to use."""
    out[:] = False
    for j in range(len(mine)):
        if mine[j] >= 0:
            continue
        vx, vy = boxes[j, 6], boxes[j, 7]
        speed = np.hypot(vx, vy)
        steps = 1 + int(min(speed, 15.0) * 2.5 / 2.0)  # every 2 m for 2.5 s
        for step in range(steps):
            near = 1.5 + 0.12 * step  # the road may bend
            t = step * 2.0 / max(speed, 1e-3) if step else 0.0
            x, y = boxes[j, 0] + t * vx, boxes[j, 1] + t * vy
            for s in inside:
                if out[s]:
                    continue
                dx, dy = points[starts[s], 0] - x, points[starts[s], 1] - y
                reach = starts[s + 1] - starts[s] + 6.0
                if dx * dx + dy * dy > reach * reach:
                    continue
                for k in range(starts[s], starts[s + 1]):
                    dx, dy = points[k, 0] - x, points[k, 1] - y
                    if dx * dx + dy * dy < near * near:
                        heading = np.cos(points[k, 3]) * boxes[j, 2]
                        heading += np.sin(points[k, 3]) * boxes[j, 3]
                        if heading > 0.5:
                            out[s] = True
                            break
