"""Time to collision of an object with the object it follows, at constant speeds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._kinematics import linear_speed
from jaywalk.metrics.realism._trajectories import SceneTrajectories

MAX_TTC_S = 5.0
_MAX_HEADING_RAD = math.radians(75.0)
_SMALL_HEADING_RAD = math.radians(10.0)
_SMALL_OVERLAP_M = 0.5


@kernel
def _following(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    heading: NDArray[np.float32],
    speed: NDArray[np.float32],
    valid: NDArray[np.bool_],
    length: NDArray[np.float32],
    width: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
) -> NDArray[np.float32]:
    n_rollouts, n_objects, n_steps = x.shape
    out = np.full((n_rollouts, len(rows), n_steps - first), np.float32(MAX_TTC_S), dtype=np.float32)
    for k in range(n_rollouts):
        for row in range(len(rows)):
            e = rows[row]
            half_length, half_width = float(length[e]) / 2.0, float(width[e]) / 2.0
            for step in range(first, n_steps):
                yaw = float(heading[k, e, step])
                c, s = math.cos(yaw), math.sin(yaw)
                ex, ey = float(x[k, e, step]), float(y[k, e, step])
                nearest, leader = np.inf, -1
                for o in range(n_objects):
                    if o == e or not valid[o, step]:
                        continue
                    # The difference is not wrapped: pairs astride +-pi never follow each other.
                    turn = abs(float(heading[k, o, step]) - yaw)
                    if turn > _MAX_HEADING_RAD:
                        continue
                    dx, dy = float(x[k, o, step]) - ex, float(y[k, o, step]) - ey
                    ahead, aside = dx * c + dy * s, abs(dy * c - dx * s)
                    if ahead <= half_length:
                        continue
                    oc, os_ = abs(math.cos(turn)), abs(math.sin(turn))
                    ol, ow = float(length[o]) / 2.0, float(width[o]) / 2.0
                    gap = ahead - half_length - ol * oc - ow * os_
                    overlap = aside - half_width - ol * os_ - ow * oc
                    if gap <= 0.0 or gap >= nearest or overlap >= 0.0:
                        continue
                    if overlap < -_SMALL_OVERLAP_M or turn <= _SMALL_HEADING_RAD:
                        nearest, leader = gap, o
                if leader < 0:
                    continue
                closing = float(speed[k, e, step]) - float(speed[k, leader, step])
                if closing > 0.0:  # False for NaN as well
                    out[k, row, step - first] = min(nearest / closing, MAX_TTC_S)
    return out


def time_to_collision(
    tracks: SceneTrajectories,
    rows: IntArray,
    first_step: int,
    from_step: int = 0,
    speed: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Time to collision [rollout, row, step], at most 5 s.

    Args:
        tracks: All simulated objects.
        rows: The objects asked for.
        first_step: First step of the answer.
        from_step: Speeds use no step before this one.
        speed: Speeds of all objects, if they are known.
    """
    if speed is None:
        speed = np.full(tracks.x_m.shape, np.nan, dtype=np.float32)
        speed[..., from_step:] = linear_speed(
            tracks.x_m[..., from_step:], tracks.y_m[..., from_step:]
        )
    return _following(
        tracks.x_m,
        tracks.y_m,
        tracks.heading_rad,
        speed,
        tracks.valid,
        tracks.length_m,
        tracks.width_m,
        rows,
        first_step,
    )
