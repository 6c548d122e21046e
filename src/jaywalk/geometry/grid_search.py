"""Cheapest paths over the cells of a grid, with a weight per cell (A* with straight-line bound)."""

from __future__ import annotations

import heapq

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel


@kernel
def cheapest_cells(weights: FloatArray, start: tuple[int, int], goal: tuple[int, int]) -> IntArray:
    """Return the cells (row, column) of the cheapest path; empty if there is none.

    A step to one of the eight neighbours costs its length in cells times the weight of the
    neighbour.

    Args:
        weights: (rows, columns) weight of each cell; infinite where nobody may step.
        start: Row and column of the first cell; its weight does not count.
        goal: Row and column of the last cell.
    """
    high, wide = weights.shape
    cost = np.full(high * wide, np.inf)
    before = np.full(high * wide, -1, np.int32)
    first, last = start[0] * wide + start[1], goal[0] * wide + goal[1]
    cost[first] = 0.0
    queue = [(0.0, 0.0, first)]
    while len(queue):
        _, paid, here = heapq.heappop(queue)
        if here == last:
            break
        if paid > cost[here]:
            continue
        row, column = here // wide, here % wide
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, c = row + dr, column + dc
                if (dr == 0 and dc == 0) or r < 0 or c < 0 or r >= high or c >= wide:
                    continue
                weight = weights[r, c]
                if weight == np.inf:
                    continue
                new = paid + np.sqrt(dr * dr + dc * dc) * weight
                there = r * wide + c
                if new < cost[there] - 1e-9:
                    cost[there], before[there] = new, here
                    ahead = np.hypot(r - goal[0], c - goal[1])
                    heapq.heappush(queue, (new + ahead, new, there))
    if before[last] < 0 and first != last:
        return np.empty((0, 2), np.int64)
    count, here = 1, last
    while here != first:
        here, count = before[here], count + 1
    cells = np.empty((count, 2), np.int64)
    here = last
    for k in range(count - 1, -1, -1):
        cells[k, 0], cells[k, 1] = here // wide, here % wide
        here = before[here]
    return cells
