"""Search of walking paths on a walk grid: the shortest that keep a chosen distance from edges.

Only walkable cells are used (sidewalk and verge; crosswalks on request), with enough space for a
body between solid objects.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.grid_search import cheapest_cells
from jaywalk.town.walkways import CROSSWALK, SIDE, STEP_M, WalkGrid, cell_at, edge_gap, find_cell

NO_CELL: Final = -(1 << 30)
_NEAR_M: Final = 1.0
_RIM_M: Final = 20.0  # margin of the search around start and goal
_EDGE_WEIGHT: Final = 1.2  # extra cost per metre of being nearer to the edge than wanted
_FAR_WEIGHT: Final = 0.25  # and of being farther from the edge than wanted
_SMOOTH_M: Final = 1.0  # half the length over which corners are rounded


@kernel
def _weights(
    grid: WalkGrid, top: int, left: int, out: FloatArray, keep_m: float, crosswalks: bool
) -> None:
    """Write the weights of the cells of a window; infinite where no one can walk."""
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            tile, tr, tc = find_cell(grid.tiling, r + top, c + left)
            room = grid.clear[tile, tr, tc] if tile >= 0 else 0
            if room == 0 or (not crosswalks and grid.surface[tile, tr, tc] == CROSSWALK):
                out[r, c] = np.inf
            else:
                short = keep_m - room * STEP_M
                out[r, c] = 1.0 + (_EDGE_WEIGHT * short if short > 0.0 else -_FAR_WEIGHT * short)


def _search(
    grid: WalkGrid, start: tuple[int, int], goal: tuple[int, int], keep_m: float, crosswalks: bool
) -> IntArray:
    """Cells (row, column) from start to goal; empty if there is no path."""
    rim = int(_RIM_M / grid.tiling.cell_m)
    top, left = min(start[0], goal[0]) - rim, min(start[1], goal[1]) - rim
    high = max(start[0], goal[0]) + rim + 1 - top
    wide = max(start[1], goal[1]) + rim + 1 - left
    weights = np.empty((high, wide))
    _weights(grid, top, left, weights, keep_m, crosswalks)
    first, last = (start[0] - top, start[1] - left), (goal[0] - top, goal[1] - left)
    cells: IntArray = cheapest_cells(weights, first, last)
    return np.asarray(cells + np.array([top, left]))


@kernel
def _smooth(grid: WalkGrid, raw: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """Smooth with a running mean; a point that would leave the walkable cells is kept."""
    count = len(raw)
    out = raw.copy()
    for k in range(1, count - 1):
        half = min(reach, k, count - 1 - k)
        x = y = 0.0
        for j in range(k - half, k + half + 1):
            x += raw[j, 0]
            y += raw[j, 1]
        x, y = x / (2 * half + 1), y / (2 * half + 1)
        if edge_gap(grid, x, y) > 0.0:
            out[k, 0], out[k, 1] = x, y
    return out


def find_way(
    grid: WalkGrid,
    start_m: tuple[float, float],
    goal_m: tuple[float, float],
    keep_m: float = 0.8,
    crosswalks: bool = False,
) -> FloatArray:
    """Return the points (n, 2) of a walking path, about a cell apart; empty if there is none.

    Args:
        grid: Walkable cells of the town.
        start_m: Start; the nearest walkable cell within a metre is taken.
        goal_m: Goal; the nearest walkable cell within a metre is taken.
        keep_m: Wanted distance from the edge of the sidewalk and from solid objects.
        crosswalks: Allow crosswalks.
    """
    start, goal = _cell(grid, start_m), _cell(grid, goal_m)
    if start is None or goal is None:
        return np.empty((0, 2))
    cells = _search(grid, start, goal, float(keep_m), crosswalks)
    if len(cells) == 0:
        return np.empty((0, 2))
    raw = cells[:, ::-1].astype(np.float64)
    tiling = grid.tiling
    raw = (raw + 0.5) * tiling.cell_m + np.array([tiling.x0_m, tiling.y0_m])
    way: FloatArray = _smooth(grid, raw, int(_SMOOTH_M / tiling.cell_m))
    return way


def _cell(grid: WalkGrid, place_m: tuple[float, float]) -> tuple[int, int] | None:
    cell: tuple[int, int] = nearest_cell(grid, place_m[0], place_m[1])
    return None if cell[0] == NO_CELL else cell


@kernel
def nearest_cell(grid: WalkGrid, x_m: float, y_m: float) -> tuple[int, int]:
    """Nearest cell within a metre on which a person can stand off the road; NO_CELL if none."""
    row, column = cell_at(grid, x_m, y_m)
    reach = int(_NEAR_M / grid.tiling.cell_m)
    best, where = 1 << 40, (NO_CELL, NO_CELL)
    for dr in range(-reach, reach + 1):
        for dc in range(-reach, reach + 1):
            tile, r, c = find_cell(grid.tiling, row + dr, column + dc)
            gap = dr * dr + dc * dc
            if tile < 0 or gap >= best or grid.clear[tile, r, c] == 0:
                continue
            if grid.surface[tile, r, c] != CROSSWALK:
                best, where = gap, (row + dr, column + dc)
    return where


def name_blocks(grid: WalkGrid) -> NDArray[np.int32]:
    """Number the connected pieces of sidewalk, from 1; 0 marks cells that are not walkable.

    Crosswalks do not connect: all cells that are reachable without crossing a road share a number.
    """
    names = np.zeros(grid.clear.shape, np.int32)
    _name_blocks(grid, names)
    return names


@kernel
def _name_blocks(grid: WalkGrid, names: NDArray[np.int32]) -> None:
    number = 0
    tile_rows, tile_columns = grid.tiling.tile.shape
    for start in range(tile_rows * tile_columns * SIDE * SIDE):
        tile_at, inside = start // (SIDE * SIDE), start % (SIDE * SIDE)
        tile_row, tile_column = tile_at // tile_columns, tile_at % tile_columns
        tile = grid.tiling.tile[tile_row, tile_column]
        r, c = inside // SIDE, inside % SIDE
        if tile < 0 or not _joins(grid, names, tile, r, c):
            continue
        number += 1
        names[tile, r, c] = number
        rest = [(tile_row * SIDE + r, tile_column * SIDE + c)]
        while len(rest):
            row, column = rest.pop()
            for dr in range(-1, 2):
                for dc in range(-1, 2):
                    t, nr, nc = find_cell(grid.tiling, row + dr, column + dc)
                    if t >= 0 and _joins(grid, names, t, nr, nc):
                        names[t, nr, nc] = number
                        rest.append((row + dr, column + dc))


@kernel
def _joins(grid: WalkGrid, names: NDArray[np.int32], tile: int, r: int, c: int) -> bool:
    walked = grid.clear[tile, r, c] > 0 and grid.surface[tile, r, c] != CROSSWALK
    return bool(walked and names[tile, r, c] == 0)


def blocks_at(grid: WalkGrid, names: NDArray[np.int32], places_m: FloatArray) -> NDArray[np.int64]:
    """Block of each position (n, 2), from the nearest cell within a metre; -1 if none."""
    result = np.full(len(places_m), -1, np.int64)
    _blocks_at(grid, names, np.ascontiguousarray(places_m, dtype=np.float64), result)
    return result


@kernel
def _blocks_at(
    grid: WalkGrid,
    names: NDArray[np.int32],
    places: NDArray[np.float64],
    result: NDArray[np.int64],
) -> None:
    for k in range(len(places)):
        row, column = nearest_cell(grid, places[k, 0], places[k, 1])
        if row != NO_CELL:
            tile, r, c = find_cell(grid.tiling, row, column)
            result[k] = names[tile, r, c]
