"""Walk grid of a town: sidewalks, crosswalks, verges, roads and solid objects in fine cells.

One lookup gives the surface at a position, the distance to the edge of the sidewalk and the
distance to the nearest solid object. Frame: CARLA's left-handed world, metres.

The grid is sparse: square tiles of cells exist only around lanes and crosswalks. A town covers a
few per cent of its bounding box, so tiles keep the fine grid small.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.town.ground import Ground, surface_height
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.navmesh import REACH_M, ROADWAY, lengthened
from jaywalk.town.raster import fill_polygon

SIDE: Final = 64  # cells along a tile


class Tiling(NamedTuple):
    """Cell (row, column) covers ``x0 + column * cell .. + cell`` and the same in y."""

    x0_m: float
    y0_m: float
    cell_m: float
    tile: NDArray[np.int32]  # (tile rows, tile columns): number of the tile, -1: none


def make_tiling(boxes_m: FloatArray, cell_m: float) -> Tiling:
    """Make the tiles that cover boxes (n, 4): x low, y low, x high, y high."""
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
    """Number of tiles."""
    return int(tiling.tile.max()) + 1


@kernel
def find_cell(tiling: Tiling, row: int, column: int) -> tuple[int, int, int]:
    """Tile of a cell, and its row and column in the tile; the tile is -1 if there is none."""
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
    tiling: Tiling,
    cells: NDArray[np.uint8],
    inner_m: NDArray[np.float64],
    outer_m: NDArray[np.float64],
    value: int,
) -> None:
    """Fill the band between two edges (n, 2 or 3) given at the same stations."""
    piece = np.empty((4, 2))
    for k in range(len(inner_m) - 1):
        for axis in range(2):
            piece[0, axis], piece[1, axis] = inner_m[k, axis], inner_m[k + 1, axis]
            piece[2, axis], piece[3, axis] = outer_m[k + 1, axis], outer_m[k, axis]
        fill_tiles(tiling, cells, piece, value)


@kernel
def copy_window(
    tiling: Tiling,
    cells: NDArray[np.uint8],
    first: int,
    left: int,
    window: NDArray[np.uint8],
    back: bool,
) -> None:
    """Copy the cells from (first, left) on into a dense window, or back with ``back``."""
    for r in range(window.shape[0]):
        for c in range(window.shape[1]):
            tile, row, column = find_cell(tiling, first + r, left + c)
            if tile < 0:
                continue
            if back:
                cells[tile, row, column] = window[r, c]
            else:
                window[r, c] = cells[tile, row, column]


# Surfaces. People keep to 1..3; 0 is land that is not walkable.
NOWHERE, SIDEWALK, CROSSWALK, VERGE, ROAD = 0, 1, 2, 3, 4
WALKED: Final = frozenset({"sidewalk", "walking"})  # kinds of lanes made for people
STEP_M: Final = 0.05  # unit of the distances kept as bytes
NEAR_M: Final = 1.5  # largest stored distance to a solid object
BODY_M: Final = 0.3  # half the space that a person needs between solid objects
_CLEAR_M: Final = 2.0  # largest stored distance to the edge
CELL_M: Final = 0.25
_VERGE_M: Final = 1.8  # walkable width beside a road without sidewalk
_DROP_M: Final = 0.4  # over 0.75 m
_RIM_M: Final = _VERGE_M + 0.5  # kept around lanes


class WalkGrid(NamedTuple):
    """Cells in tiles, (tiles, SIDE, SIDE) each."""

    tiling: Tiling
    surface: NDArray[np.uint8]
    clear: NDArray[np.uint8]  # steps to the nearest cell that is not standable; 0: this one is not
    solid: NDArray[np.uint8]  # steps by which a solid object is nearer than NEAR_M; 0: far


def build_walk_grid(
    strips: list[LaneStrip], crosswalks: list[FloatArray], solids: FloatArray, ground: Ground
) -> WalkGrid:
    """Draw the grid of a town; cells on or under bridges have two heights and are not walkable.

    Args:
        strips: Lanes of the town.
        crosswalks: Polygons (k, 3).
        solids: (n, 6) oriented boxes x, y, cos, sin, half length, half width; a half width of 0
            makes an upright cylinder of that radius.
        ground: Heights of the town.
    """
    boxes = [_pieces(strip) for strip in strips]
    boxes += [_box(lengthened(polygon[:, :2], REACH_M))[None] for polygon in crosswalks]
    rim = np.array([-_RIM_M, -_RIM_M, _RIM_M, _RIM_M])
    tiling = make_tiling(np.concatenate(boxes) + rim if boxes else rim[None], CELL_M)
    surface = np.zeros((tile_count(tiling), SIDE, SIDE), np.uint8)
    clear, solid = np.zeros_like(surface), np.zeros_like(surface)
    grid = WalkGrid(tiling, surface, clear, solid)
    _draw_surface(grid, strips, crosswalks)
    _drop_slopes(grid, ground)
    _mark_solids(grid, np.ascontiguousarray(solids, dtype=np.float64))
    _measure(grid)
    return grid


def _box(points: FloatArray) -> FloatArray:
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def _pieces(strip: LaneStrip) -> FloatArray:
    """Boxes (n, 4) around short pieces of a strip, so that they follow its bends."""
    boxes = []
    for first in range(0, len(strip.s_m) - 1, 16):
        part = slice(first, first + 17)
        boxes.append(_box(np.concatenate([strip.inner_m[part, :2], strip.outer_m[part, :2]])))
    return np.array(boxes).reshape(-1, 4)


def _draw_surface(grid: WalkGrid, strips: list[LaneStrip], crosswalks: list[FloatArray]) -> None:
    def draw(inner_m: FloatArray, outer_m: FloatArray, what: int) -> None:
        fill_band(grid.tiling, grid.surface, inner_m, outer_m, what)

    bare = _bare_sides(strips)
    for strip in bare.values():
        # A band beside the road, drawn first so that all other surfaces cover it.
        outward = strip.outer_m - strip.inner_m
        outward = outward / np.maximum(np.hypot(outward[:, 0], outward[:, 1]), 1e-6)[:, None]
        draw(strip.outer_m, strip.outer_m + _VERGE_M * outward, VERGE)
    for strip in strips:
        if strip.kind == "shoulder" and _side(strip) in bare:
            draw(strip.inner_m, strip.outer_m, VERGE)
    for strip in strips:
        if strip.kind in WALKED:
            draw(strip.inner_m, strip.outer_m, SIDEWALK)
    for strip in strips:
        if strip.kind in ROADWAY or (strip.kind == "shoulder" and _side(strip) not in bare):
            draw(strip.inner_m, strip.outer_m, ROAD)
        elif strip.kind in ("median", "none", "border", "curb"):
            draw(strip.inner_m, strip.outer_m, NOWHERE)
    for polygon in crosswalks:
        _draw_crosswalk(grid, polygon)


_Side = tuple[int, float, bool]


def _side(strip: LaneStrip) -> _Side:
    return strip.road.road_id, strip.section.start_m, strip.lane.lane_id > 0


def _bare_sides(strips: list[LaneStrip]) -> dict[_Side, LaneStrip]:
    """Sides of roads outside junctions that have no sidewalk, with their outermost lane.

    The inner side of a carriageway (shoulders but no lane) is excluded.
    """
    last: dict[_Side, LaneStrip] = {}
    walked: set[_Side] = set()
    driven: set[_Side] = set()
    for strip in strips:
        side = _side(strip)
        if strip.kind in WALKED or strip.in_junction:
            walked.add(side)
        elif strip.width_m.max() > 0.1:
            last[side] = strip  # lanes are listed from the middle outwards
            if strip.kind in ROADWAY:
                driven.add(side)
    edge = {*ROADWAY, "shoulder"}
    return {
        side: strip
        for side, strip in last.items()
        if side in driven and side not in walked and strip.kind in edge
    }


def _draw_crosswalk(grid: WalkGrid, polygon: FloatArray) -> None:
    """Draw a crosswalk, extended beyond the road until it touches walkable cells."""
    tiling = grid.tiling
    reach = lengthened(polygon[:, :2], REACH_M)
    box = _box(np.concatenate([polygon[:, :2], reach])) - (2 * (tiling.x0_m, tiling.y0_m))
    left, first, right, last = (int(v) for v in np.floor(box / tiling.cell_m))
    window = np.zeros((last - first + 3, right - left + 3), np.uint8)
    copy_window(tiling, grid.surface, first - 1, left - 1, window, False)
    corner = (tiling.x0_m + (left - 1) * tiling.cell_m, tiling.y0_m + (first - 1) * tiling.cell_m)
    core, wide = np.zeros_like(window), np.zeros_like(window)
    fill_polygon(core, *corner, tiling.cell_m, np.ascontiguousarray(polygon[:, :2]), 1)
    fill_polygon(wide, *corner, tiling.cell_m, reach, 1)
    free = (core == 1) | ((wide == 1) & (window != ROAD))
    free &= (window != SIDEWALK) & (window != VERGE)
    pieces, _ = label(free)
    # Pieces that the painted part does not touch lie behind the sidewalk.
    window[free & np.isin(pieces, np.unique(pieces[(core == 1) & free]))] = CROSSWALK
    copy_window(tiling, grid.surface, first - 1, left - 1, window, True)


@kernel
def _drop_slopes(grid: WalkGrid, ground: Ground) -> None:
    """Clear cells with two levels, and verges beside a drop."""
    tile_rows, tile_columns = grid.tiling.tile.shape
    cell = grid.tiling.cell_m
    for start in range(tile_rows * tile_columns):
        tile = grid.tiling.tile[start // tile_columns, start % tile_columns]
        if tile < 0:
            continue
        x0 = grid.tiling.x0_m + (start % tile_columns) * SIDE * cell
        y0 = grid.tiling.y0_m + (start // tile_columns) * SIDE * cell
        for r in range(SIDE):
            for c in range(SIDE):
                what = grid.surface[tile, r, c]
                if what == NOWHERE:
                    continue
                x, y = x0 + (c + 0.5) * cell, y0 + (r + 0.5) * cell
                if _levels(ground, x, y) > 1 or (what == VERGE and _drop(ground, x, y) > _DROP_M):
                    grid.surface[tile, r, c] = NOWHERE


@kernel
def _levels(ground: Ground, x: float, y: float) -> int:
    """Largest number of levels at the four nodes around a position."""
    column = int(np.floor((x - ground.x0_m) / ground.cell_m))
    row = int(np.floor((y - ground.y0_m) / ground.cell_m))
    most = 0
    for j in range(max(row, 0), min(row + 2, ground.rows)):
        for i in range(max(column, 0), min(column + 2, ground.columns)):
            node = j * ground.columns + i
            most = max(most, ground.starts[node + 1] - ground.starts[node])
    return int(most)


@kernel
def _drop(ground: Ground, x: float, y: float) -> float:
    """Largest height difference to the positions around."""
    here = surface_height(ground, x, y, ground.base_m)
    worst = 0.0
    for step in range(4):
        dx, dy = 0.75 * np.cos(step * np.pi / 2.0), 0.75 * np.sin(step * np.pi / 2.0)
        worst = max(worst, abs(surface_height(ground, x + dx, y + dy, here) - here))
    return worst


@kernel
def _mark_solids(grid: WalkGrid, solids: NDArray[np.float64]) -> None:
    """Write the exact distance to the nearest solid object into every cell near it."""
    x0, y0, cell = grid.tiling.x0_m, grid.tiling.y0_m, grid.tiling.cell_m
    for k in range(len(solids)):
        x, y, cos, sin, along, across = solids[k]
        reach_x = abs(cos) * along + abs(sin) * across + NEAR_M
        reach_y = abs(sin) * along + abs(cos) * across + NEAR_M
        if across == 0.0:
            reach_x = reach_y = along + NEAR_M
        first, last = int((y - reach_y - y0) / cell), int((y + reach_y - y0) / cell) + 1
        left, right = int((x - reach_x - x0) / cell), int((x + reach_x - x0) / cell) + 1
        for row in range(first, last + 1):
            py = y0 + (row + 0.5) * cell
            for column in range(left, right + 1):
                tile, r, c = find_cell(grid.tiling, row, column)
                if tile < 0:
                    continue
                px = x0 + (column + 0.5) * cell
                if across == 0.0:
                    gap = np.hypot(px - x, py - y) - along
                else:
                    gap = box_distance(px, py, x, y, cos, sin, along, across)
                near = int(np.ceil((NEAR_M - max(gap, 0.0)) / STEP_M))
                if near > grid.solid[tile, r, c]:
                    grid.solid[tile, r, c] = near


@kernel
def _standable(grid: WalkGrid, row: int, column: int) -> bool:
    tile, r, c = find_cell(grid.tiling, row, column)
    if tile < 0 or not SIDEWALK <= grid.surface[tile, r, c] <= VERGE:
        return False
    return bool(NEAR_M - grid.solid[tile, r, c] * STEP_M >= BODY_M)


@kernel
def _measure(grid: WalkGrid) -> None:
    """Compute the distance of each standable cell from the nearest cell that is not standable."""
    reach = int(np.ceil(_CLEAR_M / grid.tiling.cell_m))
    free = np.empty((SIDE + 2 * reach, SIDE + 2 * reach), np.bool_)  # a tile with a rim
    tile_rows, tile_columns = grid.tiling.tile.shape
    for tile_row in range(tile_rows):
        for tile_column in range(tile_columns):
            tile = grid.tiling.tile[tile_row, tile_column]
            if tile < 0:
                continue
            first, left = tile_row * SIDE - reach, tile_column * SIDE - reach
            for r in range(free.shape[0]):
                for c in range(free.shape[1]):
                    free[r, c] = _standable(grid, first + r, left + c)
            for r in range(SIDE):
                for c in range(SIDE):
                    if free[r + reach, c + reach]:
                        room = _room(free, r + reach, c + reach, reach) * grid.tiling.cell_m
                        grid.clear[tile, r, c] = max(int(min(room, _CLEAR_M) / STEP_M), 1)


@kernel
def _room(free: NDArray[np.bool_], row: int, column: int, reach: int) -> float:
    """Distance in cells to the nearest cell that is not free, searched ring by ring."""
    best = float(reach)
    for ring in range(1, reach + 1):
        if ring - 0.5 >= best:
            break
        for dr in range(-ring, ring + 1):
            step = 1 if abs(dr) == ring else 2 * ring
            for dc in range(-ring, ring + 1, step):
                if not free[row + dr, column + dc]:
                    best = min(best, np.hypot(dr, dc) - 0.5)
    return best


@kernel
def cell_at(grid: WalkGrid, x_m: float, y_m: float) -> tuple[int, int]:
    """Row and column of a position."""
    column = int(np.floor((x_m - grid.tiling.x0_m) / grid.tiling.cell_m))
    return int(np.floor((y_m - grid.tiling.y0_m) / grid.tiling.cell_m)), column


@kernel
def underfoot(grid: WalkGrid, x_m: float, y_m: float) -> int:
    """Surface at a position; ``NOWHERE`` outside the grid."""
    row, column = cell_at(grid, x_m, y_m)
    return read_cell(grid.tiling, grid.surface, row, column)


@kernel
def edge_gap(grid: WalkGrid, x_m: float, y_m: float) -> float:
    """Metres from a position to the edge of the walkable cells, up to 2; 0 if not standable."""
    row, column = cell_at(grid, x_m, y_m)
    return float(read_cell(grid.tiling, grid.clear, row, column) * STEP_M)


@kernel
def solid_gap(grid: WalkGrid, x_m: float, y_m: float) -> float:
    """Metres from a position to the nearest solid object, up to 1.5."""
    row, column = cell_at(grid, x_m, y_m)
    return float(NEAR_M - read_cell(grid.tiling, grid.solid, row, column) * STEP_M)
