"""A sparse grid: square tiles of cells where something is, nothing elsewhere.

A town is a few per cent of its bounding box; tiles keep its fine grids small.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.town.fill import fill_polygon
from jaywalk.town.roads import FloatArray

SIDE: Final = 64  # cells along a tile


class Tiling(NamedTuple):
    """Cell (row, column) covers ``x0 + column * cell .. + cell`` and the same in y."""

    x0_m: float
    y0_m: float
    cell_m: float
    tile: NDArray[np.int32]  # (tile rows, tile columns): number of the tile, -1: none


def make_tiling(boxes_m: FloatArray, cell_m: float) -> Tiling:
    """Tiles under boxes (n, 4): x low, y low, x high, y high."""
    size = SIDE * cell_m
    x0, y0 = (float(v) for v in np.floor(boxes_m[:, :2].min(axis=0)))
    spans = np.floor((boxes_m - (x0, y0, x0, y0)) / size).astype(np.int64)
    columns, rows = (int(v) for v in spans[:, 2:].max(axis=0) + 1)
    tile = np.full((rows, columns), -1, np.int32)
    for left, first, right, last in spans:
        tile[first : last + 1, left : right + 1] = 0
    used = tile == 0
    tile[used] = np.arange(int(used.sum()), dtype=np.int32)
    return Tiling(x0, y0, float(cell_m), tile)


def tile_count(tiling: Tiling) -> int:
    """How many tiles there are."""
    return int(tiling.tile.max()) + 1


@kernel
def find_cell(tiling: Tiling, row: int, column: int) -> tuple[int, int, int]:
    """Tile and place in it of a cell; the tile is -1 where there is none."""
    tile_row, tile_column = row // SIDE, column // SIDE
    rows, columns = tiling.tile.shape
    if tile_row < 0 or tile_column < 0 or tile_row >= rows or tile_column >= columns:
        return -1, 0, 0
    return int(tiling.tile[tile_row, tile_column]), row % SIDE, column % SIDE


@kernel
def read_cell(tiling: Tiling, cells: NDArray[np.uint8], row: int, column: int) -> int:
    """Value of a cell; 0 outside the tiles."""
    tile, r, c = find_cell(tiling, row, column)
    return int(cells[tile, r, c]) if tile >= 0 else 0


@kernel
def fill_tiles(
    tiling: Tiling, cells: NDArray[np.uint8], polygon_m: NDArray[np.float64], value: int
) -> None:
    """Write ``value`` into the cells whose centre lies in a polygon (k, 2)."""
    size = SIDE * tiling.cell_m
    low_x, high_x = polygon_m[:, 0].min(), polygon_m[:, 0].max()
    low_y, high_y = polygon_m[:, 1].min(), polygon_m[:, 1].max()
    rows, columns = tiling.tile.shape
    first = max(int(np.floor((low_y - tiling.y0_m) / size)), 0)
    last = min(int(np.floor((high_y - tiling.y0_m) / size)), rows - 1)
    left = max(int(np.floor((low_x - tiling.x0_m) / size)), 0)
    right = min(int(np.floor((high_x - tiling.x0_m) / size)), columns - 1)
    for row in range(first, last + 1):
        for column in range(left, right + 1):
            tile = tiling.tile[row, column]
            if tile >= 0:
                x0, y0 = tiling.x0_m + column * size, tiling.y0_m + row * size
                fill_polygon(cells[tile], x0, y0, tiling.cell_m, polygon_m, value)


@kernel
def fill_band(
    tiling: Tiling, cells: NDArray[np.uint8], inner_m: NDArray[np.float64],
    outer_m: NDArray[np.float64], value: int,
) -> None:  # fmt: skip
    """Fill the band between two edges (n, 2 or 3) given at the same stations."""
    piece = np.empty((4, 2))
    for k in range(len(inner_m) - 1):
        for axis in range(2):
            piece[0, axis], piece[1, axis] = inner_m[k, axis], inner_m[k + 1, axis]
            piece[2, axis], piece[3, axis] = outer_m[k + 1, axis], outer_m[k, axis]
        fill_tiles(tiling, cells, piece, value)


@kernel
def copy_window(
    tiling: Tiling, cells: NDArray[np.uint8], first: int, left: int,
    window: NDArray[np.uint8], back: bool,
) -> None:  # fmt: skip
    """Copy the cells from (first, left) on into a dense window, or back out of it."""
    for r in range(window.shape[0]):
        for c in range(window.shape[1]):
            tile, row, column = find_cell(tiling, first + r, left + c)
            if tile < 0:
                continue
            if back:
                cells[tile, row, column] = window[r, c]
            else:
                window[r, c] = cells[tile, row, column]
