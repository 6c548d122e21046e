"""Signed distance between boxes with rounded corners, and to the nearest other object.

A tree of boxes limits the search for the nearest of many small items to a few of them. Items are
ordered along a Z-curve; a node covers eight consecutive nodes of the level below it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._trajectories import SceneTrajectories

FAN = 8
_BITS = 10


class BoxTree(NamedTuple):
    """Boxes of all nodes, leaves' level first.

    Attributes:
        order: Item of every place along the curve; leaf i covers places 8 i to 8 i + 7.
        low: Lower corner [node, 3] of every node; ``high`` the upper one.
        high: See ``low``.
        level_start: First node of every level, and the number of nodes at the end.
    """

    order: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level_start: NDArray[np.int64]


def _z_curve(points: NDArray[np.float64]) -> NDArray[np.int64]:
    low = points.min(axis=0)
    size = max(float((points.max(axis=0) - low).max()), 1e-9)
    cells = ((points - low) / size * (2**_BITS - 1)).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(_BITS):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code


def _grouped(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    starts = np.arange(0, len(low), FAN)
    return np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def build_box_tree(low: NDArray[np.float64], high: NDArray[np.float64]) -> BoxTree:
    """Build a tree over items with the given boxes [item, 3]; at least one item."""
    order = np.argsort(_z_curve((low + high) / 2.0), kind="stable").astype(np.int64)
    level_low, level_high = _grouped(low[order], high[order])
    lows, highs, start = [level_low], [level_high], [0, len(level_low)]
    while len(level_low) > 1:
        level_low, level_high = _grouped(level_low, level_high)
        lows.append(level_low)
        highs.append(level_high)
        start.append(start[-1] + len(level_low))
    return BoxTree(
        order=order,
        low=np.concatenate(lows),
        high=np.concatenate(highs),
        level_start=np.array(start, dtype=np.int64),
    )


@kernel
def box_distance_sq(tree: BoxTree, node: int, x: float, y: float, z: float) -> float:
    """Squared distance of a point to a node's box."""
    dx = max(max(tree.low[node, 0] - x, x - tree.high[node, 0]), 0.0)
    dy = max(max(tree.low[node, 1] - y, y - tree.high[node, 1]), 0.0)
    dz = max(max(tree.low[node, 2] - z, z - tree.high[node, 2]), 0.0)
    return float(dx * dx + dy * dy + dz * dz)


ROUNDING = 0.7
NO_OBJECT_M = 1e10


@kernel
def _corner_gap_sq(
    dx: float, dy: float, c: float, s: float, ahx: float, ahy: float, bhx: float, bhy: float
) -> float:
    """Least squared distance of B's corners to A, in A's frame (B at dx, dy, turned by c, s)."""
    best = np.inf
    for corner in range(4):
        fx = bhx if corner & 1 else -bhx
        fy = bhy if corner & 2 else -bhy
        gx = max(abs(dx + fx * c - fy * s) - ahx, 0.0)
        gy = max(abs(dy + fx * s + fy * c) - ahy, 0.0)
        best = min(best, gx * gx + gy * gy)
    return best


@kernel
def signed_box_distance(
    dx: float,
    dy: float,
    ac: float,
    as_: float,
    bc: float,
    bs: float,
    ahx: float,
    ahy: float,
    bhx: float,
    bhy: float,
) -> float:
    """Distance of two boxes; if they overlap, minus the shortest way to part them.

    Args:
        dx: Centre of B minus centre of A, east.
        dy: The same, north.
        ac: Cosine of A's heading; ``as_`` its sine, ``bc`` and ``bs`` those of B.
        as_: See ``ac``.
        bc: See ``ac``.
        bs: See ``ac``.
        ahx: Half length of A; ``ahy`` its half width, ``bhx`` and ``bhy`` those of B.
        ahy: See ``ahx``.
        bhx: See ``ahx``.
        bhy: See ``ahx``.
    """
    c, s = ac * bc + as_ * bs, ac * bs - as_ * bc
    ux, uy = dx * ac + dy * as_, dy * ac - dx * as_
    vx, vy = -(dx * bc + dy * bs), -(dy * bc - dx * bs)
    cos_ab, sin_ab = abs(c), abs(s)
    gap = max(
        max(
            abs(ux) - ahx - bhx * cos_ab - bhy * sin_ab, abs(uy) - ahy - bhx * sin_ab - bhy * cos_ab
        ),
        max(
            abs(vx) - bhx - ahx * cos_ab - ahy * sin_ab, abs(vy) - bhy - ahx * sin_ab - ahy * cos_ab
        ),
    )
    if gap <= 0.0:
        return gap
    return math.sqrt(
        min(
            _corner_gap_sq(ux, uy, c, s, ahx, ahy, bhx, bhy),
            _corner_gap_sq(vx, vy, c, -s, bhx, bhy, ahx, ahy),
        )
    )


@kernel
def _nearest(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    cos: NDArray[np.float64],
    sin: NDArray[np.float64],
    valid: NDArray[np.bool_],
    length: NDArray[np.float32],
    width: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
) -> NDArray[np.float32]:
    n_rollouts, n_objects, n_steps = x.shape
    out = np.empty((n_rollouts, len(rows), n_steps - first), dtype=np.float32)
    radius, hx, hy = np.empty(n_objects), np.empty(n_objects), np.empty(n_objects)
    reach = np.empty(n_objects)
    for i in range(n_objects):
        r = ROUNDING * min(float(length[i]), float(width[i])) / 2.0
        radius[i] = r
        hx[i], hy[i] = float(length[i]) / 2.0 - r, float(width[i]) / 2.0 - r
        reach[i] = math.sqrt(hx[i] * hx[i] + hy[i] * hy[i]) + r
    for k in range(n_rollouts):
        for row in range(len(rows)):
            e = rows[row]
            for step in range(first, n_steps):
                best = NO_OBJECT_M
                if valid[e, step]:
                    ex, ey = float(x[k, e, step]), float(y[k, e, step])
                    for o in range(n_objects):
                        if o == e or not valid[o, step]:
                            continue
                        dx, dy = float(x[k, o, step]) - ex, float(y[k, o, step]) - ey
                        # No pair can be nearer than its bounding circles are.
                        limit = best + reach[e] + reach[o]
                        if limit <= 0.0 or dx * dx + dy * dy >= limit * limit:
                            continue
                        distance = signed_box_distance(
                            dx,
                            dy,
                            cos[k, e, step],
                            sin[k, e, step],
                            cos[k, o, step],
                            sin[k, o, step],
                            hx[e],
                            hy[e],
                            hx[o],
                            hy[o],
                        )
                        best = min(best, distance - radius[e] - radius[o])
                out[k, row, step - first] = best
    return out


def distance_to_nearest_object(
    tracks: SceneTrajectories, rows: IntArray, first_step: int
) -> NDArray[np.float32]:
    """Signed distance [rollout, row, step] to the nearest other simulated object.

    1e10 where the object is not valid or alone. Negative: a collision.
    """
    heading = tracks.heading_rad.astype(np.float64)
    return _nearest(
        tracks.x_m,
        tracks.y_m,
        np.cos(heading),
        np.sin(heading),
        tracks.valid,
        tracks.length_m,
        tracks.width_m,
        rows,
        first_step,
    )
