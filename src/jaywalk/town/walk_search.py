"""Ways on foot over a walk grid: the shortest one that keeps a chosen distance from the edges.

Only cells people walk on are used (sidewalk and verge; crosswalks only when asked for), with room
for a body between solid things.
"""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.town.roads import FloatArray
from jaywalk.town.walkways import CROSSWALK, STEP_M, WalkGrid

_RIM_M: Final = 20.0  # how far beyond start and goal a way may lead
_EDGE_WEIGHT: Final = 1.2  # extra cost a metre of being nearer to the edge than wanted
_FAR_WEIGHT: Final = 0.25  # and of being farther from it
_SMOOTH_M: Final = 1.0  # half the length over which corners are rounded


@kernel
def _search(
    grid: WalkGrid, start: tuple[int, int], goal: tuple[int, int], keep_m: float,
    crosswalks: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """Cells (row, column) from start to goal; empty when there is no way."""
    rim = int(_RIM_M / grid.cell_m)
    rows, columns = grid.surface.shape
    top, left = max(min(start[0], goal[0]) - rim, 0), max(min(start[1], goal[1]) - rim, 0)
    high = min(max(start[0], goal[0]) + rim + 1, rows) - top
    wide = min(max(start[1], goal[1]) + rim + 1, columns) - left
    cost = np.full(high * wide, np.inf)
    before = np.full(high * wide, -1, np.int32)
    first = (start[0] - top) * wide + start[1] - left
    last = (goal[0] - top) * wide + goal[1] - left
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
                room = grid.clear[r + top, c + left]
                if room == 0:
                    continue
                if not crosswalks and grid.surface[r + top, c + left] == CROSSWALK:
                    continue
                short = keep_m - room * STEP_M
                weight = 1.0 + (_EDGE_WEIGHT * short if short > 0.0 else -_FAR_WEIGHT * short)
                new = paid + np.sqrt(dr * dr + dc * dc) * weight
                there = r * wide + c
                if new < cost[there] - 1e-9:
                    cost[there], before[there] = new, here
                    ahead = np.hypot(r + top - goal[0], c + left - goal[1])
                    heapq.heappush(queue, (new + ahead, new, there))
    if before[last] < 0 and first != last:
        return np.empty((0, 2), np.int64)
    count, here = 1, last
    while here != first:
        here, count = before[here], count + 1
    cells = np.empty((count, 2), np.int64)
    here = last
    for k in range(count - 1, -1, -1):
        cells[k, 0], cells[k, 1] = here // wide + top, here % wide + left
        here = before[here]
    return cells


@kernel
def _smooth(grid: WalkGrid, raw: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Running mean; a point that would leave what people walk on stays where it was."""
    count = len(raw)
    out = raw.copy()
    for k in range(1, count - 1):
        half = min(reach, k, count - 1 - k)
        x = y = 0.0
        for j in range(k - half, k + half + 1):
            x += raw[j, 0]
            y += raw[j, 1]
        x, y = x / (2 * half + 1), y / (2 * half + 1)
        row, column = int((y - grid.y0_m) / grid.cell_m), int((x - grid.x0_m) / grid.cell_m)
        if grid.clear[row, column] > 0:
            out[k, 0], out[k, 1] = x, y
    return out


def find_way(
    grid: WalkGrid,
    start_m: tuple[float, float],
    goal_m: tuple[float, float],
    keep_m: float = 0.8,
    crosswalks: bool = False,
) -> FloatArray:
    """Points (n, 2) of a way on foot, about a cell apart; empty when there is none.

    Args:
        grid: Where one can walk.
        start_m: From here; the nearest walkable cell within a metre is taken.
        goal_m: To here, likewise.
        keep_m: Wanted distance from the edge of the sidewalk and from solid things.
        crosswalks: Whether crosswalks may be used.
    """
    start, goal = _cell(grid, start_m), _cell(grid, goal_m)
    if start is None or goal is None:
        return np.empty((0, 2))
    cells = _search(grid, start, goal, float(keep_m), crosswalks)
    if len(cells) == 0:
        return np.empty((0, 2))
    raw = cells[:, ::-1].astype(np.float64)
    raw = (raw + 0.5) * grid.cell_m + np.array([grid.x0_m, grid.y0_m])
    way: FloatArray = _smooth(grid, raw, int(_SMOOTH_M / grid.cell_m))
    return way


def _cell(grid: WalkGrid, place_m: tuple[float, float]) -> tuple[int, int] | None:
    row = int(np.floor((place_m[1] - grid.y0_m) / grid.cell_m))
    column = int(np.floor((place_m[0] - grid.x0_m) / grid.cell_m))
    found: tuple[int, int] = nearest_cell(grid, row, column, int(1.0 / grid.cell_m))
    return None if found[0] < 0 else found


@kernel
def nearest_cell(grid: WalkGrid, row: int, column: int, reach: int) -> tuple[int, int]:
    """The nearest cell one can stand on that is no crosswalk; (-1, -1) without one in reach."""
    best, where = 1 << 40, (-1, -1)
    rows, columns = grid.surface.shape
    for dr in range(-reach, reach + 1):
        for dc in range(-reach, reach + 1):
            r, c = row + dr, column + dc
            if r < 0 or c < 0 or r >= rows or c >= columns or grid.clear[r, c] == 0:
                continue
            gap = dr * dr + dc * dc
            if gap < best and grid.surface[r, c] != CROSSWALK:
                best, where = gap, (r, c)
    return where


def walk_components(grid: WalkGrid, places_m: FloatArray) -> NDArray[np.int64]:
    """Name of the connected piece of sidewalk under each place (n, 2); -1: none within 1 m.

    Crosswalks do not connect: one name is one block. It is the number of the piece's first cell,
    whatever places are asked for.
    """
    labels = np.zeros(grid.surface.shape, np.int32)  # pages that stay zero cost no memory
    result = np.full(len(places_m), -1, np.int64)
    _flood_all(grid, np.ascontiguousarray(places_m, dtype=np.float64), labels, result)
    return result


@kernel
def _flood_all(
    grid: WalkGrid, places: NDArray[np.float64], labels: NDArray[np.int32],
    result: NDArray[np.int64],
) -> None:  # fmt: skip
    rows, columns = grid.surface.shape
    names = [0]
    for k in range(len(places)):
        at = (int(np.floor((places[k, 1] - grid.y0_m) / grid.cell_m)),
              int(np.floor((places[k, 0] - grid.x0_m) / grid.cell_m)))  # fmt: skip
        row, column = nearest_cell(grid, at[0], at[1], int(1.0 / grid.cell_m))
        if row < 0:
            continue
        if labels[row, column] == 0:
            number, name = len(names), row * columns + column
            labels[row, column] = number
            open_cells = [(row, column)]
            while len(open_cells):
                here = open_cells.pop()
                for dr in range(-1, 2):
                    for dc in range(-1, 2):
                        r, c = here[0] + dr, here[1] + dc
                        if r < 0 or c < 0 or r >= rows or c >= columns or labels[r, c]:
                            continue
                        if grid.clear[r, c] and grid.surface[r, c] != CROSSWALK:
                            labels[r, c] = number
                            name = min(name, r * columns + c)
                            open_cells.append((r, c))
            names.append(name)
        result[k] = names[labels[row, column]]
