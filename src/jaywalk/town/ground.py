"""Height of the drivable and walkable surface.

The surface is a grid whose nodes hold one height per level; a node under a bridge has two levels.
Kernels take the grid as the named tuple :class:`Ground`, and :func:`surface_height` returns the
level nearest to a given height. Frame: CARLA's left-handed world, metres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel


class Ground(NamedTuple):
    """Heights of the surface on a regular grid of nodes.

    Node (column i, row j) lies at (x0_m + i * cell_m, y0_m + j * cell_m) and owns
    ``heights_m[starts[k]:starts[k + 1]]`` with ``k = j * columns + i``, sorted upwards.
    """

    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    starts: NDArray[np.int32]  # (columns * rows + 1,)
    heights_m: NDArray[np.float32]
    base_m: float  # height of the terrain where no node has a height


def flat_ground(height_m: float = 0.0) -> Ground:
    """Return infinite level ground, for tests and empty worlds."""
    return Ground(
        0.0, 0.0, 1.0, 0, 0, np.zeros(1, np.int32), np.zeros(0, np.float32), float(height_m)
    )


@kernel
def _node_height(ground: Ground, column: int, row: int, near_m: float) -> float:
    """Level of one node nearest to ``near_m``; NaN outside the grid or for an empty node."""
    if column < 0 or row < 0 or column >= ground.columns or row >= ground.rows:
        return np.nan
    node = row * ground.columns + column
    best, best_gap = np.nan, np.inf
    for index in range(ground.starts[node], ground.starts[node + 1]):
        gap = abs(ground.heights_m[index] - near_m)
        if gap < best_gap:
            best, best_gap = float(ground.heights_m[index]), gap
    return best


@kernel
def surface_height(ground: Ground, x_m: float, y_m: float, near_m: float) -> float:
    """Height of the surface at (x, y), on the level nearest to ``near_m``.

    Bilinear between the four nodes around the point; nodes without a height, or on another level
    (more than 3 m from the nearest one), are left out and their weight goes to the others.
    """
    u = (x_m - ground.x0_m) / ground.cell_m
    v = (y_m - ground.y0_m) / ground.cell_m
    column, row = int(np.floor(u)), int(np.floor(v))
    fu, fv = u - column, v - row
    nearest, nearest_weight = np.nan, -1.0
    # Tuples, not arrays: allocating twice per call doubled the cost of this much-called kernel.
    heights = (
        _node_height(ground, column, row, near_m),
        _node_height(ground, column + 1, row, near_m),
        _node_height(ground, column, row + 1, near_m),
        _node_height(ground, column + 1, row + 1, near_m),
    )
    weights = ((1.0 - fu) * (1.0 - fv), fu * (1.0 - fv), (1.0 - fu) * fv, fu * fv)
    for k in range(4):
        if not np.isnan(heights[k]) and weights[k] > nearest_weight:
            nearest, nearest_weight = heights[k], weights[k]
    if np.isnan(nearest):
        return ground.base_m
    total = weight = 0.0
    for k in range(4):
        if not np.isnan(heights[k]) and abs(heights[k] - nearest) < 3.0:
            total += heights[k] * weights[k]
            weight += weights[k]
    return total / weight if weight > 1e-9 else nearest


@kernel
def slope(
    ground: Ground, x_m: float, y_m: float, near_m: float, yaw_rad: float
) -> tuple[float, float]:
    """Pitch and roll (radians, CARLA's signs: nose up, right side down) of the surface under a car.

    Differences over 3 m along and 2 m across, about the footprint of a car.
    """
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    front = surface_height(ground, x_m + 1.5 * cos, y_m + 1.5 * sin, near_m)
    rear = surface_height(ground, x_m - 1.5 * cos, y_m - 1.5 * sin, near_m)
    right = surface_height(ground, x_m - sin, y_m + cos, near_m)
    left = surface_height(ground, x_m + sin, y_m - cos, near_m)
    return np.arctan2(front - rear, 3.0), np.arctan2(left - right, 2.0)
