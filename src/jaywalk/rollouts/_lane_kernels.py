"""Compiled rollout of all actors: vehicles follow lanes and each other, people walk on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.rollouts._lane_paths import OPEN, STOP_FIRST

STANDING, ON_LANE, FREE = 0, 1, 2

_STEP_S = 0.1
_LOOK_M = 60.0
_ASIDE_M = 0.3
_STANDSTILL_M = 2.0
_HARDEST_MPS2 = 6.0
_STOP_HARD_MPS2 = 4.0  # vehicles pass lights that need harder braking
_AT_LINE_M = 3.0
_STOOD_MPS = 0.3
_RETURN_HZ = 0.5  # walkers return to their own speed within seconds
_SETTLE_M = 15.0  # distance over which a vehicle returns to the middle of its lane


@kernel
def _pose(path: NDArray[np.float64], count: int, s: float) -> tuple[float, float, float, float]:
    """Return x, y, z and heading at a distance along a path; straight on beyond its end."""
    if count == 1:
        return path[0, 0], path[0, 1], path[0, 2], path[0, 3]
    k = min(max(int(s), 0), count - 2)
    t = s - k
    dx, dy = path[k + 1, 0] - path[k, 0], path[k + 1, 1] - path[k, 1]
    z = path[k, 2] + min(max(t, 0.0), 1.0) * (path[k + 1, 2] - path[k, 2])
    return path[k, 0] + t * dx, path[k, 1] + t * dy, z, np.arctan2(dy, dx)


@kernel
def _follow(
    speed: float, gap: float, lead_speed: float, acceleration: float, braking: float, headway: float
) -> float:
    """Braking demanded by a leader in the intelligent driver model."""
    if gap <= 0.1:
        return _HARDEST_MPS2 + acceleration
    closing = speed * (speed - lead_speed) / (2.0 * np.sqrt(acceleration * braking))
    wanted = _STANDSTILL_M + max(speed * headway + closing, 0.0)
    return float(acceleration * (wanted / gap) ** 2)


@kernel
def _leader(
    path: NDArray[np.float64],
    count: int,
    s: float,
    i: int,
    pose: NDArray[np.float64],
    speed: NDArray[np.float64],
    size: NDArray[np.float64],
    j: int,
) -> tuple[float, float]:
    """Gap to an actor on the path ahead and its speed along it; infinite if off the path."""
    dx, dy = pose[j, 0] - pose[i, 0], pose[j, 1] - pose[i, 1]
    if dx * dx + dy * dy > _LOOK_M * _LOOK_M:
        return np.inf, 0.0
    best, where = np.inf, -1
    first = max(int(s), 0)
    for k in range(first, min(first + int(_LOOK_M), count)):
        ax, ay = pose[j, 0] - path[k, 0], pose[j, 1] - path[k, 1]
        away = ax * ax + ay * ay
        if away < best:
            best, where = away, k
    if where < 0 or (where == first and (dx * np.cos(pose[i, 3]) + dy * np.sin(pose[i, 3])) <= 0.0):
        return np.inf, 0.0
    turn = pose[j, 3] - path[where, 3]
    c, sn = abs(np.cos(turn)), abs(np.sin(turn))
    across = 0.5 * (size[j, 0] * sn + size[j, 1] * c)
    along = 0.5 * (size[j, 0] * c + size[j, 1] * sn)
    tx, ty = np.cos(path[where, 3]), np.sin(path[where, 3])
    ax, ay = pose[j, 0] - path[where, 0], pose[j, 1] - path[where, 1]
    if abs(-ax * ty + ay * tx) > across + 0.5 * size[i, 1] + _ASIDE_M:
        return np.inf, 0.0
    gap = where + ax * tx + ay * ty - s - 0.5 * size[i, 0] - along
    return gap, speed[j] * np.cos(turn)


@kernel
def _acceleration(
    path: NDArray[np.float64],
    count: int,
    s: float,
    i: int,
    lights: NDArray[np.float64],
    light: NDArray[np.int64],
    stood: NDArray[np.bool_],
    step: int,
    pose: NDArray[np.float64],
    speed: NDArray[np.float64],
    size: NDArray[np.float64],
    manner: NDArray[np.float64],
) -> float:
    """Acceleration of a driver; ``manner``: wanted speed, acceleration, braking, headway.

    Marks in ``stood`` the lights at which the driver has come to a stop.
    """
    v, wanted, a, b = speed[i], manner[0], manner[1], manner[2]
    for k in range(int(s), min(int(s) + 40, count)):
        ahead = max(k - s, 0.0)
        wanted = min(wanted, np.sqrt(path[k, 4] ** 2 + 2.0 * b * ahead))
    acceleration = a * (1.0 - (v / max(wanted, 0.5)) ** 4)
    worst = 0.0
    for j in range(len(speed)):
        if j != i:
            gap, lead = _leader(path, count, s, i, pose, speed, size, j)
            if gap < _LOOK_M:
                worst = max(worst, _follow(v, gap, lead, a, b, manner[3]))
    for k in range(len(lights)):
        asks = OPEN if lights[k, 0] < 0.0 else light[int(lights[k, 0]), step]
        if asks == OPEN or (asks == STOP_FIRST and stood[k]):
            continue
        to_light = lights[k, 1] - s - 0.5 * size[i, 0]
        stood[k] = stood[k] or (v < _STOOD_MPS and abs(to_light) < _AT_LINE_M)
        if -1.0 < to_light < _LOOK_M and v * v < 2.0 * _STOP_HARD_MPS2 * max(to_light, 0.05) + 0.3:
            # Drivers stop at the line, not a standstill gap before it.
            worst = max(worst, _follow(v, to_light + _STANDSTILL_M, 0.0, a, b, manner[3]))
    return float(min(max(max(acceleration, -b - 1.0) - worst, -_HARDEST_MPS2), a))


@kernel
def roll_out(
    paths: NDArray[np.float64],
    counts: NDArray[np.int64],
    lights: NDArray[np.float64],
    light: NDArray[np.int64],
    mode: NDArray[np.int64],
    start: NDArray[np.float64],
    start_speed: NDArray[np.float64],
    size: NDArray[np.float64],
    manner: NDArray[np.float64],
    noise: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Move all actors for the whole future.

    Args:
        paths: (n, points, 5), see ``write_way``.
        counts: (n,) numbers of their points.
        lights: (n, k, 2) lights on their paths, see ``write_way``.
        light: [lane, step] state of a lane's light, see ``LaneGraph``.
        mode: (n,) STANDING, ON_LANE or FREE.
        start: (n, 4) present x, y, z, heading.
        start_speed: (n,) present speed.
        size: (n, 2) length, width.
        manner: (n, 4), see ``_acceleration``.
        noise: (n, steps, 2) of acceleration (or change of walking speed) and of yaw rate.
        out: (n, steps, 4) poses.
    """
    n = len(mode)
    pose, speed, s = start.copy(), start_speed.copy(), np.zeros(n)
    aside, skew, rise = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        if mode[i] == ON_LANE:
            x, y, z, yaw = _pose(paths[i], counts[i], 0.0)
            dx, dy = pose[i, 0] - x, pose[i, 1] - y
            s[i] = dx * np.cos(yaw) + dy * np.sin(yaw)
            aside[i] = -dx * np.sin(yaw) + dy * np.cos(yaw)
            skew[i] = (pose[i, 3] - yaw + np.pi) % (2.0 * np.pi) - np.pi
            rise[i] = pose[i, 2] - z
    change, stood = np.zeros(n), np.zeros(lights.shape[:2], dtype=np.bool_)
    for step in range(out.shape[1]):
        for i in range(n):
            if mode[i] == ON_LANE:
                change[i] = noise[i, step, 0] * min(speed[i], 1.0) + _acceleration(
                    paths[i],
                    counts[i],
                    s[i],
                    i,
                    lights[i],
                    light,
                    stood[i],
                    step,
                    pose,
                    speed,
                    size,
                    manner[i],
                )
            else:
                change[i] = noise[i, step, 0] + _RETURN_HZ * (start_speed[i] - speed[i])
        for i in range(n):
            if mode[i] == ON_LANE:
                before = speed[i]
                speed[i] = max(before + change[i] * _STEP_S, 0.0)
                s[i] += 0.5 * (before + speed[i]) * _STEP_S
                x, y, z, yaw = _pose(paths[i], counts[i], s[i])
                left = np.exp(-max(s[i], 0.0) / _SETTLE_M)
                pose[i, 0] = x - np.sin(yaw) * aside[i] * left
                pose[i, 1] = y + np.cos(yaw) * aside[i] * left
                pose[i, 2], pose[i, 3] = z + rise[i], yaw + skew[i] * left
            elif mode[i] == FREE:
                speed[i] = max(speed[i] + change[i] * _STEP_S, 0.0)
                pose[i, 3] += noise[i, step, 1] * _STEP_S
                pose[i, 0] += speed[i] * np.cos(pose[i, 3]) * _STEP_S
                pose[i, 1] += speed[i] * np.sin(pose[i, 3]) * _STEP_S
            out[i, step] = pose[i]
