"""How near the road's edge an object keeps, on whichever side: a distance without jumps.

The signed distance of the challenge jumps where the nearest edge changes from one that lies to the
left to one that lies to the right. Being off the road is safety; likeness is the gap kept.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism.box_tree import FAN
from jaywalk.metrics.realism.road_edge import EdgeSegments, edge_gap
from jaywalk.metrics.realism.scene import IntArray
from jaywalk.metrics.realism.trajectories import Trajectories

NAME = "road_edge_gap_m"
_NO_EDGE_M = 1e10


@kernel
def _gaps(
    edges: EdgeSegments,
    x: NDArray[np.float32], y: NDArray[np.float32], z: NDArray[np.float32],
    heading: NDArray[np.float32], length: NDArray[np.float32], width: NDArray[np.float32],
    height: NDArray[np.float32], rows: NDArray[np.int64], first: int,
) -> NDArray[np.float32]:  # fmt: skip
    n_rollouts, _, n_steps = x.shape
    out = np.empty((n_rollouts, len(rows), n_steps - first), dtype=np.float32)
    stack = np.empty(FAN * 16, dtype=np.int64)
    hint = 0
    for row in range(len(rows)):
        e = rows[row]
        for k in range(n_rollouts):
            for step in range(first, n_steps):
                yaw = float(heading[k, e, step])
                c, s = math.cos(yaw), math.sin(yaw)
                ez = float(z[k, e, step]) - float(height[e]) / 2.0
                best = np.inf
                for corner in range(4):
                    fx = (0.5 if corner & 1 else -0.5) * float(length[e])
                    fy = (0.5 if corner & 2 else -0.5) * float(width[e])
                    px = float(x[k, e, step]) + fx * c - fy * s
                    py = float(y[k, e, step]) + fx * s + fy * c
                    gap, hint = edge_gap(edges, px, py, ez, hint, stack)
                    best = min(best, gap)
                out[k, row, step - first] = best
    return out


def road_edge_gap_m(
    tracks: Trajectories, edges: EdgeSegments | None, rows: IntArray, first_step: int
) -> NDArray[np.float32]:
    """Distance [rollout, row, step] of the nearest corner to any road edge; 1e10 without edges."""
    if edges is None:
        shape = (tracks.x_m.shape[0], len(rows), tracks.x_m.shape[2] - first_step)
        return np.full(shape, _NO_EDGE_M, dtype=np.float32)
    return _gaps(
        edges, tracks.x_m, tracks.y_m, tracks.z_m, tracks.heading_rad,
        tracks.length_m, tracks.width_m, tracks.height_m, rows, first_step,
    )  # fmt: skip
