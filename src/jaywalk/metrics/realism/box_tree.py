"""A tree of boxes over many small items, so that a search for the nearest looks at few of them.

Items are ordered along a Z-curve; a node covers eight consecutive nodes of the level below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel

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


def _grouped(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[
    NDArray[np.float64], NDArray[np.float64]
]:  # fmt: skip
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
