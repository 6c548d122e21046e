"""One scenario vehicle on its path: where it is, how to steer, and what is in its way."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel

_SIDE_M: Final = 0.3  # clearance beside the car
_PERSON_SIDE_M: Final = 0.5
_CURVATURE_PER_STEER: Final = 0.78  # times 1 / wheel base; as background traffic steers
_STRIDE: Final = 4
_WINDOW: Final = 14  # points searched ahead for the present place


@kernel
def _project(
    line: NDArray[np.float64], first: int, last: int, x: float, y: float
) -> tuple[int, float, float]:
    """Nearest segment of a range of the line: its number, distance along, distance away."""
    best, where, along = np.inf, first, line[first, 2]
    for k in range(first, last):
        dx, dy = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
        length2 = max(dx * dx + dy * dy, 1e-9)
        u = min(max(((x - line[k, 0]) * dx + (y - line[k, 1]) * dy) / length2, 0.0), 1.0)
        gap = (x - line[k, 0] - u * dx) ** 2 + (y - line[k, 1] - u * dy) ** 2
        if gap < best - 1e-9:
            best, where = gap, k
            along = line[k, 2] + u * (line[k + 1, 2] - line[k, 2])
    return where, along, np.sqrt(best)


@kernel
def _is_off(
    line: NDArray[np.float64], first: int, last: int, x: float, y: float, wide_m: float
) -> bool:
    """Whether a point is surely farther from a range of the line than that; a quick look."""
    k = first
    while True:
        following = min(k + _STRIDE, last)
        far = wide_m + line[following, 2] - line[k, 2]
        dx, dy = x - line[k, 0], y - line[k, 1]
        if dx * dx + dy * dy < far * far:
            return False
        if k == last:
            return True
        k = following


@kernel
def follow(
    line: NDArray[np.float64], at: int, pose: NDArray[np.float64], body: NDArray[np.float64],
    reach_m: float, boxes: NDArray[np.float64], people: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int:  # fmt: skip
    """Locate a vehicle, steer it, look ahead.

    Args:
        line: (n, 3) path: x, y, along.
        at: Segment it was on.
        pose: x, y, yaw, speed.
        body: Half length, half width, centre of the box ahead of the origin.
        reach_m: How far to look.
        boxes: (k, 8) of everything solid, its own among them.
        people: (p, 5).
        out: Along, steer, gap to the first thing in the way, that thing's speed along the path,
            distance from the path.

    Returns:
        The segment it is on.
    """
    x, y, yaw, speed = pose[0], pose[1], pose[2], pose[3]
    last = len(line) - 1
    now, along, away = _project(line, max(at - 2, 0), min(at + _WINDOW, last), x, y)
    out[0], out[4] = along, away
    out[1] = _steer(line, now, along, x, y, yaw, speed, 1.2 * body[0])
    front = along + body[2] + body[0]
    stop = now
    while stop < last and line[stop, 2] < front + reach_m:
        stop += 1
    out[2], out[3] = np.inf, 0.0
    cos, sin = np.cos(yaw), np.sin(yaw)
    for j in range(len(boxes)):
        box = boxes[j]
        dx, dy = box[0] - x, box[1] - y
        ahead, side = dx * cos + dy * sin, -dx * sin + dy * cos
        if abs(ahead - body[2]) < body[0] and abs(side) < body[1]:
            continue  # itself
        near = reach_m + body[0] + box[4] + 3.0
        if dx * dx + dy * dy > near * near:
            continue
        wide = body[1] + _SIDE_M + np.hypot(box[4], box[5])
        if _is_off(line, now, stop, box[0], box[1], wide):
            continue
        for a in range(5):
            for b in range(3):
                u, v = (0.5 * a - 1.0) * box[4], (b - 1.0) * box[5]
                px = box[0] + u * box[2] - v * box[3]
                py = box[1] + u * box[3] + v * box[2]
                where, place, gap = _project(line, now, stop, px, py)
                if gap < body[1] + _SIDE_M and place > front - body[0]:
                    room = place - front
                    if room < out[2]:
                        out[2], out[3] = room, _along_speed(line, where, box[6], box[7])
    for j in range(len(people)):
        wide = body[1] + people[j, 4] + _PERSON_SIDE_M
        if _is_off(line, now, stop, people[j, 0], people[j, 1], wide):
            continue
        where, place, gap = _project(line, now, stop, people[j, 0], people[j, 1])
        if gap < wide and place > front - body[0]:
            room = place - front - people[j, 4]
            if room < out[2]:
                out[2], out[3] = room, max(_along_speed(line, where, people[j, 2], people[j, 3]), 0)
    return now


@kernel
def _along_speed(line: NDArray[np.float64], k: int, vx: float, vy: float) -> float:
    dx, dy = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
    return float((vx * dx + vy * dy) / max(np.hypot(dx, dy), 1e-6))


@kernel
def _steer(
    line: NDArray[np.float64], now: int, along: float, x: float, y: float, yaw: float,
    speed: float, base: float,
) -> float:  # fmt: skip
    """Pure pursuit from the middle of the rear axle."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    rx, ry = x - 0.5 * base * cos, y - 0.5 * base * sin
    aim = along + 0.5 + min(max(2.2 + 0.35 * speed, 3.0), 12.0) - 0.5 * base
    k = now
    while k < len(line) - 2 and line[k + 1, 2] < aim:
        k += 1
    u = max((aim - line[k, 2]) / max(line[k + 1, 2] - line[k, 2], 1e-6), 0.0)
    tx = line[k, 0] + u * (line[k + 1, 0] - line[k, 0]) - rx
    ty = line[k, 1] + u * (line[k + 1, 1] - line[k, 1]) - ry
    ahead, left = tx * cos + ty * sin, -tx * sin + ty * cos
    curvature = 2.0 * left / max(ahead * ahead + left * left, 1.0)
    return float(min(max(curvature * base / _CURVATURE_PER_STEER, -1.0), 1.0))
