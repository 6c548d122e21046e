"""The bounding-volume tree of a Detour tile, without which every query scans every polygon.

Nodes are in depth-first order: a leaf holds its polygon's number, an inner node minus the number
of nodes in its subtree, which is how far a query jumps when it misses the node.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel

NODE: Final = np.dtype([("low", "<u2", (3,)), ("high", "<u2", (3,)), ("index", "<i4")])
_LARGEST: Final = 0xFFFF


def quantise(
    low_m: NDArray[np.float64], high_m: NDArray[np.float64], origin_m: NDArray[np.float64],
    per_metre: float,
) -> NDArray[np.int64]:  # fmt: skip
    """Boxes (n, 6) in whole steps from the tile's corner, rounded outwards."""
    low = np.floor((low_m - origin_m) * per_metre)
    high = np.ceil((high_m - origin_m) * per_metre)
    boxes: NDArray[np.int64] = np.concatenate([low, high], axis=1).astype(np.int64)
    return np.clip(boxes, 0, _LARGEST)


def build_tree(boxes: NDArray[np.int64]) -> NDArray[np.void]:
    """Tree over boxes (n, 6): split at the median of the longest side, 2 n - 1 nodes."""
    count = len(boxes)
    bounds = np.zeros((2 * count - 1, 6), np.int64)
    index = np.zeros(2 * count - 1, np.int64)
    _fill(boxes, np.arange(count), bounds, index)
    nodes = np.zeros(2 * count - 1, NODE)
    nodes["low"], nodes["high"], nodes["index"] = bounds[:, :3], bounds[:, 3:], index
    return nodes


@kernel
def _fill(
    boxes: NDArray[np.int64], order: NDArray[np.int64], bounds: NDArray[np.int64],
    index: NDArray[np.int64],
) -> None:  # fmt: skip
    stack = [(0, len(order), 0)]  # first item, end, node
    while len(stack) > 0:
        first, end, node = stack.pop()
        for axis in range(3):
            bounds[node, axis] = boxes[order[first:end], axis].min()
            bounds[node, 3 + axis] = boxes[order[first:end], 3 + axis].max()
        size = end - first
        if size == 1:
            index[node] = order[first]
            continue
        index[node] = -(2 * size - 1)
        axis = int(np.argmax(bounds[node, 3:] - bounds[node, :3]))
        middle = boxes[order[first:end], axis] + boxes[order[first:end], 3 + axis]
        # A stable sort keeps the bytes the same on every machine.
        order[first:end] = order[first:end][np.argsort(middle, kind="mergesort")]
        half = first + size // 2
        stack.append((half, end, node + 2 * (half - first)))
        stack.append((first, half, node + 1))
