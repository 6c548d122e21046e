"""Construction of the :class:`~jaywalk.town.ground.Ground` of a town from its lane strips.

Each node of the grid gets the heights of all lanes that cover it; heights closer than the clearance
of a bridge are one level. Nodes beside the roads get the smoothed level of the nearest road node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from jaywalk.core.kernels import kernel
from jaywalk.town.ground import Ground, flat_ground
from jaywalk.town.lanes import LaneStrip

LEVEL_GAP_M = 2.5  # lanes further apart in height are different levels
_SMOOTHINGS = 12


def build_ground(strips: list[LaneStrip], cell_m: float = 2.0, margin_m: float = 30.0) -> Ground:
    """Build the surface of all lanes, filled outwards over the town's box plus ``margin_m``."""
    if not strips:
        return flat_ground()
    triangles = strip_triangles(strips)
    low = triangles[:, :, :2].min(axis=(0, 1)) - margin_m
    high = triangles[:, :, :2].max(axis=(0, 1)) + margin_m
    columns, rows = (int(n) for n in np.ceil((high - low) / cell_m) + 1)
    nodes, heights = covered_nodes(triangles, low[0], low[1], cell_m, columns, rows)
    order = np.lexsort((heights, nodes))
    starts, levels = _merge_levels(nodes[order], heights[order], columns * rows)
    starts, levels = _fill(starts, levels, columns, rows)
    base_m = float(np.median(levels))
    return Ground(float(low[0]), float(low[1]), cell_m, columns, rows, starts, levels, base_m)


def strip_triangles(strips: list[LaneStrip]) -> NDArray[np.float64]:
    """Split all strips into triangles (n, 3, 3)."""
    pieces = []
    for strip in strips:
        inner, outer = strip.inner_m, strip.outer_m
        pieces.append(np.stack([inner[:-1], inner[1:], outer[1:]], axis=1))
        pieces.append(np.stack([inner[:-1], outer[1:], outer[:-1]], axis=1))
    return np.concatenate(pieces)


@kernel
def covered_nodes(
    triangles: NDArray[np.float64], x0: float, y0: float, cell: float, columns: int, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes of the grid that triangles cover, and the height of each cover."""
    capacity = 1024
    nodes = np.empty(capacity, np.int64)
    heights = np.empty(capacity, np.float64)
    count = 0
    for k in range(len(triangles)):
        ax, ay, az = triangles[k, 0, 0], triangles[k, 0, 1], triangles[k, 0, 2]
        bx, by, bz = triangles[k, 1, 0], triangles[k, 1, 1], triangles[k, 1, 2]
        cx, cy, cz = triangles[k, 2, 0], triangles[k, 2, 1], triangles[k, 2, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) < 1e-9:
            continue
        first_i = max(int(np.ceil((min(ax, bx, cx) - x0) / cell - 1e-9)), 0)
        last_i = min(int(np.floor((max(ax, bx, cx) - x0) / cell + 1e-9)), columns - 1)
        first_j = max(int(np.ceil((min(ay, by, cy) - y0) / cell - 1e-9)), 0)
        last_j = min(int(np.floor((max(ay, by, cy) - y0) / cell + 1e-9)), rows - 1)
        for j in range(first_j, last_j + 1):
            for i in range(first_i, last_i + 1):
                px, py = x0 + i * cell, y0 + j * cell
                wb = ((px - ax) * (cy - ay) - (py - ay) * (cx - ax)) / area
                wc = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / area
                if wb < -1e-9 or wc < -1e-9 or wb + wc > 1.0 + 1e-9:
                    continue
                if count == capacity:
                    capacity *= 2
                    nodes = np.concatenate((nodes, np.empty(count, np.int64)))
                    heights = np.concatenate((heights, np.empty(count, np.float64)))
                nodes[count] = j * columns + i
                heights[count] = az + wb * (bz - az) + wc * (cz - az)
                count += 1
    return nodes[:count], heights[:count]


@kernel
def _merge_levels(
    nodes: NDArray[np.int64], heights: NDArray[np.float64], size: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Mean height per node and level, from pairs sorted by node and height."""
    starts = np.zeros(size + 1, np.int32)
    levels = np.empty(len(nodes), np.float32)
    count = 0
    k = 0
    while k < len(nodes):
        total, members = heights[k], 1
        while (
            k + members < len(nodes)
            and nodes[k + members] == nodes[k]
            and heights[k + members] - heights[k + members - 1] < LEVEL_GAP_M
        ):
            total += heights[k + members]
            members += 1
        levels[count] = total / members
        count += 1
        starts[nodes[k] + 1] += 1
        k += members
    return np.cumsum(starts).astype(np.int32), levels[:count].copy()


def _fill(
    starts: NDArray[np.int32], levels: NDArray[np.float32], columns: int, rows: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Give each node without a road the smoothed lowest level of the nearest road node."""
    counts = np.diff(starts).reshape(rows, columns)
    unknown = counts == 0
    lowest = np.zeros((rows, columns))
    lowest[~unknown] = levels[starts[:-1].reshape(rows, columns)[~unknown]]
    nearest = distance_transform_edt(unknown, return_distances=False, return_indices=True)
    terrain = lowest[tuple(nearest)]
    _smooth(terrain, unknown, _SMOOTHINGS)
    filled: tuple[NDArray[np.int32], NDArray[np.float32]] = _with_terrain(
        starts, levels, terrain.ravel()
    )
    return filled


@kernel
def _smooth(terrain: NDArray[np.float64], free: NDArray[np.bool_], rounds: int) -> None:
    """Average the free nodes with their neighbours, in place, in sweeps of alternating direction.

    A neighbour on another level (a bridge beside its underpass) has no effect.
    """
    rows, columns = terrain.shape
    for turn in range(rounds):
        for step in range(rows * columns):
            k = step if turn % 2 == 0 else rows * columns - 1 - step
            j, i = k // columns, k % columns
            if not free[j, i]:
                continue
            total, weight = 0.0, 0
            for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                y, x = j + dj, i + di
                if y < 0 or x < 0 or y >= rows or x >= columns:
                    continue
                if abs(terrain[y, x] - terrain[j, i]) < 3.0:
                    total += terrain[y, x]
                    weight += 1
            if weight > 0:
                terrain[j, i] = total / weight


@kernel
def _with_terrain(
    starts: NDArray[np.int32], levels: NDArray[np.float32], terrain: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Merge road levels and terrain into one list: terrain only where there is no road."""
    size = len(starts) - 1
    filled = np.zeros(size + 1, np.int32)
    for node in range(size):
        filled[node + 1] = filled[node] + max(starts[node + 1] - starts[node], 1)
    heights = np.empty(filled[size], np.float32)
    for node in range(size):
        if starts[node + 1] == starts[node]:
            heights[filled[node]] = terrain[node]
        for k in range(starts[node + 1] - starts[node]):
            heights[filled[node] + k] = levels[starts[node] + k]
    return filled, heights
