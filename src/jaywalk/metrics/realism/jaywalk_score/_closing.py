"""Closing rate of an object on the object ahead: an inverse time to collision without jumps.

Time to collision jumps when a leader enters or leaves the lane by a millimetre. Its inverse, with
soft limits on being ahead, in the path and in the same direction, is continuous in all positions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._kinematics import linear_speed
from jaywalk.metrics.realism._trajectories import SceneTrajectories

NAME = "closing_per_s"
_SOFT_M = 0.3
_MIN_GAP_M = 1.0
_COS_NONE, _COS_FULL = math.cos(math.radians(75.0)), math.cos(math.radians(60.0))


@kernel
def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(value, -50.0), 50.0)))


@kernel
def _closing(
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
    out = np.zeros((n_rollouts, len(rows), n_steps - first), dtype=np.float32)
    for k in range(n_rollouts):
        for row in range(len(rows)):
            e = rows[row]
            for step in range(first, n_steps - 1):
                yaw = float(heading[k, e, step])
                c, s = math.cos(yaw), math.sin(yaw)
                worst = 0.0
                for o in range(n_objects):
                    closing = float(speed[k, e, step]) - float(speed[k, o, step])
                    if o == e or not valid[o, step] or not closing > 0.0:
                        continue
                    turn = float(heading[k, o, step]) - yaw
                    oc, os_ = math.cos(turn), abs(math.sin(turn))
                    same = min(max((oc - _COS_NONE) / (_COS_FULL - _COS_NONE), 0.0), 1.0)
                    dx = float(x[k, o, step]) - float(x[k, e, step])
                    dy = float(y[k, o, step]) - float(y[k, e, step])
                    ahead, aside = dx * c + dy * s, abs(dy * c - dx * s)
                    ol, ow = float(length[o]) / 2.0, float(width[o]) / 2.0
                    nearest = max(ahead - float(length[e]) / 2.0 - ol - ow, _MIN_GAP_M)
                    if same * closing / nearest <= worst:
                        continue
                    gap = ahead - float(length[e]) / 2.0 - ol * abs(oc) - ow * os_
                    overlap = aside - float(width[e]) / 2.0 - ol * os_ - ow * abs(oc)
                    weight = same * _logistic(-overlap / _SOFT_M) * _logistic(ahead / _SOFT_M)
                    worst = max(worst, weight * closing / max(gap, _MIN_GAP_M))
                out[k, row, step - first] = worst
    return out


def closing_per_s(
    tracks: SceneTrajectories, rows: IntArray, first_step: int
) -> NDArray[np.float32]:
    """Return the inverse of a soft time to collision [rollout, row, step]; 0 if none is ahead."""
    return _closing(
        tracks.x_m,
        tracks.y_m,
        tracks.heading_rad,
        linear_speed(tracks.x_m, tracks.y_m),
        tracks.valid,
        tracks.length_m,
        tracks.width_m,
        rows,
        first_step,
    )
