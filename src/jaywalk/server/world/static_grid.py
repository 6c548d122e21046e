"""Solid scenery in a uniform grid, so that an actor looks only at what stands near it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.town.scenery import Shape

_CELL_M = 8.0
_LOW_M = 0.24  # lower things are driven over


class StaticGrid(NamedTuple):
    """Solids as plain columns, and for each cell the solids whose bounds touch it.

    Cell (i, j) covers x0_m + i * cell_m .. and owns ``items[starts[k]:starts[k + 1]]`` with
    ``k = j * columns + i``. ``source`` leads back to rows of the scenery array.
    """

    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    starts: NDArray[np.int64]
    items: NDArray[np.int64]
    is_round: NDArray[np.uint8]  # 1: upright cylinder of radius hx
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    cos: NDArray[np.float64]
    sin: NDArray[np.float64]
    hx: NDArray[np.float64]
    hy: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    source: NDArray[np.int64]


def build_static_grid(scenery: NDArray[Any]) -> StaticGrid:
    """Index the solid rows of a ``SCENERY`` array that are at least 0.24 m high.

    Spheres count as cylinders over the middle of their height.
    """
    solid = (scenery["solid"] != 0) & (2.0 * scenery["ez"] >= _LOW_M)
    sphere = scenery["shape"] == Shape.SPHERE
    index = np.flatnonzero(solid | (sphere & (scenery["solid"] != 0))).astype(np.int64)
    part = scenery[index]
    is_round = (part["shape"] != Shape.BOX).astype(np.uint8)
    hx = part["ex"].astype(np.float64)
    hy = np.where(is_round, hx, part["ey"])
    half_height = np.where(part["shape"] == Shape.SPHERE, 0.7 * hx, part["ez"])
    cos, sin = np.cos(part["yaw"]), np.sin(part["yaw"])
    reach_x = np.where(is_round, hx, np.abs(cos) * hx + np.abs(sin) * hy)
    reach_y = np.where(is_round, hx, np.abs(sin) * hx + np.abs(cos) * hy)
    x, y = part["x"].astype(np.float64), part["y"].astype(np.float64)
    bounds = (x - reach_x, x + reach_x, y - reach_y, y + reach_y)
    x0, y0, columns, rows, starts, items = _fill_cells(bounds)
    return StaticGrid(
        x0, y0, _CELL_M, columns, rows, starts, items, is_round, x, y, cos, sin, hx, hy,
        part["z"] - half_height, part["z"] + half_height, index,
    )  # fmt: skip


def _fill_cells(
    bounds: tuple[NDArray[np.float64], ...],
) -> tuple[float, float, int, int, NDArray[np.int64], NDArray[np.int64]]:
    """Cell lists in compressed rows, solids ascending within each cell."""
    west, east, north, south = bounds
    if west.size == 0:
        return 0.0, 0.0, 0, 0, np.zeros(1, np.int64), np.zeros(0, np.int64)
    x0, y0 = float(west.min()), float(north.min())
    columns = int((east.max() - x0) / _CELL_M) + 1
    rows = int((south.max() - y0) / _CELL_M) + 1
    first_i, last_i = ((west - x0) // _CELL_M).astype(int), ((east - x0) // _CELL_M).astype(int)
    first_j, last_j = ((north - y0) // _CELL_M).astype(int), ((south - y0) // _CELL_M).astype(int)
    cells: list[int] = []
    owners: list[int] = []
    for solid in range(west.size):
        for j in range(first_j[solid], last_j[solid] + 1):
            for i in range(first_i[solid], last_i[solid] + 1):
                cells.append(j * columns + i)
                owners.append(solid)
    cell_of = np.array(cells, np.int64)
    order = np.argsort(cell_of, kind="stable")
    counts = np.bincount(cell_of, minlength=columns * rows)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(np.int64)
    return x0, y0, columns, rows, starts, np.array(owners, np.int64)[order]
