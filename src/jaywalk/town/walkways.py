"""Where people can walk: a fine grid of sidewalks, crosswalks, verges, roads and solid things.

Made for people who walk everywhere in a town: one lookup tells what is underfoot, how far the edge
of the sidewalk is and how far the nearest solid thing. The arrays span the whole town but memory is
only used where roads are (untouched pages of zeros cost nothing). Frame: CARLA's, metres.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from jaywalk.core.kernels import kernel
from jaywalk.geometry.boxes import box_distance
from jaywalk.town.fill import fill_polygon, fill_strip
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.navmesh import REACH_M, ROADWAY, lengthened
from jaywalk.town.roads import FloatArray

# What is underfoot. People keep to 1..3; 0 is land nobody walks on.
NOWHERE, SIDEWALK, CROSSWALK, VERGE, ROAD = 0, 1, 2, 3, 4
WALKED: Final = frozenset({"sidewalk", "walking"})  # kinds of lanes made for people
STEP_M: Final = 0.05  # unit of the distances kept as bytes
NEAR_M: Final = 1.5  # solid things farther than this are far
BODY_M: Final = 0.3  # half the room a person needs between solid things
_CLEAR_M: Final = 2.0  # distances to the edge are known up to here
_CELL_M: Final = 0.25
_MOST_CELLS: Final = 150_000_000  # a wider town gets coarser cells
_MARGIN_M: Final = 12.0
_VERGE_M: Final = 1.8  # width walked on beside a road without sidewalk


class WalkGrid(NamedTuple):
    """Cells (row, column) cover ``x0 + column * cell .. + cell`` and the same in y."""

    x0_m: float
    y0_m: float
    cell_m: float
    surface: NDArray[np.uint8]  # (rows, columns)
    clear: NDArray[np.uint8]  # steps to the nearest cell people cannot stand on; 0: not here
    solid: NDArray[np.uint8]  # steps by which a solid thing is nearer than NEAR_M; 0: far


def build_walk_grid(
    strips: list[LaneStrip], crosswalks: list[FloatArray], solids: FloatArray
) -> WalkGrid:
    """Draw the grid of a town.

    Args:
        strips: Lanes of the town.
        crosswalks: Polygons (k, 3).
        solids: (n, 6) oriented boxes x, y, cos, sin, half length, half width; a half width of 0
            makes an upright cylinder of that radius.
    """
    edges = [edge[:, :2] for strip in strips for edge in (strip.inner_m, strip.outer_m)]
    points = np.concatenate(edges) if edges else np.zeros((1, 2))
    low = np.floor(points.min(axis=0) - _MARGIN_M)
    high = np.ceil(points.max(axis=0) + _MARGIN_M)
    cell_m = _CELL_M
    while np.prod((high - low) / cell_m) > _MOST_CELLS:
        cell_m *= 1.25
    columns, rows = (int(n) for n in np.ceil((high - low) / cell_m))
    x0, y0 = float(low[0]), float(low[1])
    surface = np.zeros((rows, columns), np.uint8)
    clear, solid = np.zeros_like(surface), np.zeros_like(surface)
    _draw_surface(surface, (x0, y0, cell_m), strips, crosswalks)
    _mark_solids(solid, x0, y0, cell_m, np.ascontiguousarray(solids, dtype=np.float64))
    for strip in strips:
        for box in _pieces(strip, _VERGE_M + 1.0):
            _measure(surface, solid, clear, *_window(box, low, cell_m, surface.shape), cell_m)
    for polygon in crosswalks:
        reach = lengthened(polygon[:, :2], REACH_M)
        box = np.concatenate([reach.min(axis=0), reach.max(axis=0)])
        _measure(surface, solid, clear, *_window(box, low, cell_m, surface.shape), cell_m)
    return WalkGrid(x0, y0, cell_m, surface, clear, solid)


def _draw_surface(
    surface: NDArray[np.uint8],
    grid: tuple[float, float, float],
    strips: list[LaneStrip],
    crosswalks: list[FloatArray],
) -> None:
    bare = _bare_sides(strips)
    for strip in bare.values():
        # A ribbon beside the road, drawn first so that everything else lies over it.
        outward = strip.outer_m - strip.inner_m
        outward = outward / np.maximum(np.hypot(outward[:, 0], outward[:, 1]), 1e-6)[:, None]
        fill_strip(surface, *grid, strip.outer_m, strip.outer_m + _VERGE_M * outward, VERGE)
    for strip in strips:
        if strip.kind == "shoulder" and _side(strip) in bare:
            fill_strip(surface, *grid, strip.inner_m, strip.outer_m, VERGE)
    for strip in strips:
        if strip.kind in WALKED:
            fill_strip(surface, *grid, strip.inner_m, strip.outer_m, SIDEWALK)
    for strip in strips:
        if strip.kind in ROADWAY or (strip.kind == "shoulder" and _side(strip) not in bare):
            fill_strip(surface, *grid, strip.inner_m, strip.outer_m, ROAD)
        elif strip.kind in ("median", "none", "border", "curb"):
            fill_strip(surface, *grid, strip.inner_m, strip.outer_m, NOWHERE)
    for polygon in crosswalks:
        _draw_crosswalk(surface, grid, polygon)


_Side = tuple[int, float, bool]


def _side(strip: LaneStrip) -> _Side:
    return strip.road.road_id, strip.section.start_m, strip.lane.lane_id > 0


def _bare_sides(strips: list[LaneStrip]) -> dict[_Side, LaneStrip]:
    """Sides of roads outside junctions that have no sidewalk, with their outermost lane.

    The inner side of a carriageway (shoulders but no lane) is no place for people.
    """
    last: dict[_Side, LaneStrip] = {}
    walked: set[_Side] = set()
    driven: set[_Side] = set()
    for strip in strips:
        side = _side(strip)
        if strip.kind in WALKED or strip.in_junction:
            walked.add(side)
        elif strip.width_m.max() > 0.1:
            last[side] = strip  # lanes come from the middle outwards
            if strip.kind in ROADWAY:
                driven.add(side)
    edge = {*ROADWAY, "shoulder"}
    return {
        side: strip
        for side, strip in last.items()
        if side in driven and side not in walked and strip.kind in edge
    }


def _draw_crosswalk(
    surface: NDArray[np.uint8], grid: tuple[float, float, float], polygon: FloatArray
) -> None:
    """Paint a crosswalk, lengthened off the road until it touches what is walked on."""
    x0, y0, cell = grid
    reach = lengthened(polygon[:, :2], REACH_M)
    corners = np.concatenate([polygon[:, :2], reach])
    low = np.maximum(((corners.min(axis=0) - (x0, y0)) / cell).astype(int) - 1, 0)
    high = ((corners.max(axis=0) - (x0, y0)) / cell).astype(int) + 2
    window = surface[low[1] : high[1], low[0] : high[0]]
    at = (x0 + low[0] * cell, y0 + low[1] * cell, cell)
    core, wide = np.zeros_like(window), np.zeros_like(window)
    fill_polygon(core, *at, np.ascontiguousarray(polygon[:, :2]), 1)
    fill_polygon(wide, *at, reach, 1)
    free = (core == 1) | ((wide == 1) & (window != ROAD))
    free &= (window != SIDEWALK) & (window != VERGE)
    pieces, _ = label(free)
    # Pieces that the painted part does not touch lie behind the sidewalk.
    window[free & np.isin(pieces, np.unique(pieces[(core == 1) & free]))] = CROSSWALK


def _pieces(strip: LaneStrip, rim_m: float) -> list[FloatArray]:
    """Boxes (x low, y low, x high, y high) round pieces of a strip, short ones for bends."""
    boxes = []
    for first in range(0, len(strip.s_m) - 1, 16):
        part = slice(first, first + 17)
        corners = np.concatenate([strip.inner_m[part, :2], strip.outer_m[part, :2]])
        boxes.append(np.concatenate([corners.min(axis=0) - rim_m, corners.max(axis=0) + rim_m]))
    return boxes


def _window(
    box: FloatArray, low: FloatArray, cell_m: float, shape: tuple[int, ...]
) -> tuple[int, int, int, int]:
    """First and last row, first and last column of a box."""
    columns = np.clip((box[[0, 2]] - low[0]) / cell_m, 0, shape[1] - 1).astype(int)
    rows = np.clip((box[[1, 3]] - low[1]) / cell_m, 0, shape[0] - 1).astype(int)
    return int(rows[0]), int(rows[1]), int(columns[0]), int(columns[1])


@kernel
def _mark_solids(
    solid: NDArray[np.uint8], x0: float, y0: float, cell: float, solids: NDArray[np.float64]
) -> None:
    """Write the exact distance to the nearest solid thing into every cell near it."""
    rows, columns = solid.shape
    for k in range(len(solids)):
        x, y, cos, sin, along, across = solids[k]
        reach_x = abs(cos) * along + abs(sin) * across + NEAR_M
        reach_y = abs(sin) * along + abs(cos) * across + NEAR_M
        if across == 0.0:
            reach_x = reach_y = along + NEAR_M
        first = max(int((y - reach_y - y0) / cell), 0)
        last = min(int((y + reach_y - y0) / cell) + 1, rows - 1)
        left = max(int((x - reach_x - x0) / cell), 0)
        right = min(int((x + reach_x - x0) / cell) + 1, columns - 1)
        for row in range(first, last + 1):
            py = y0 + (row + 0.5) * cell
            for column in range(left, right + 1):
                px = x0 + (column + 0.5) * cell
                if across == 0.0:
                    gap = np.hypot(px - x, py - y) - along
                else:
                    gap = box_distance(px, py, x, y, cos, sin, along, across)
                near = int(np.ceil((NEAR_M - max(gap, 0.0)) / STEP_M))
                if near > solid[row, column]:
                    solid[row, column] = near


@kernel
def _standable(surface: NDArray[np.uint8], solid: NDArray[np.uint8], row: int, column: int) -> bool:
    underfoot = surface[row, column]
    room = NEAR_M - solid[row, column] * STEP_M
    return bool(SIDEWALK <= underfoot <= VERGE and room >= BODY_M)


@kernel
def _measure(
    surface: NDArray[np.uint8], solid: NDArray[np.uint8], clear: NDArray[np.uint8],
    first: int, last: int, left: int, right: int, cell: float,
) -> None:  # fmt: skip
    """Distance of each walkable cell in a window from the nearest cell that is not."""
    rows, columns = surface.shape
    reach = int(np.ceil(_CLEAR_M / cell))
    for row in range(first, last + 1):
        for column in range(left, right + 1):
            if clear[row, column] or not _standable(surface, solid, row, column):
                continue
            best = _CLEAR_M
            for ring in range(1, reach + 1):
                if (ring - 0.5) * cell >= best:
                    break
                for dr in range(-ring, ring + 1):
                    step = 1 if abs(dr) == ring else 2 * ring
                    for dc in range(-ring, ring + 1, step):
                        r, c = row + dr, column + dc
                        known = 0 <= r < rows and 0 <= c < columns
                        if known and _standable(surface, solid, r, c):
                            continue
                        gap = (np.hypot(dr, dc) - 0.5) * cell
                        best = min(best, gap)
            clear[row, column] = max(int(best / STEP_M), 1)


@kernel
def underfoot(grid: WalkGrid, x_m: float, y_m: float) -> int:
    """What is at a place; ``NOWHERE`` outside the grid."""
    column = int(np.floor((x_m - grid.x0_m) / grid.cell_m))
    row = int(np.floor((y_m - grid.y0_m) / grid.cell_m))
    if row < 0 or column < 0 or row >= grid.surface.shape[0] or column >= grid.surface.shape[1]:
        return NOWHERE
    return int(grid.surface[row, column])


@kernel
def edge_gap(grid: WalkGrid, x_m: float, y_m: float) -> float:
    """Metres from a place to the edge of what people walk on, up to 2; 0: nobody stands here."""
    column = int(np.floor((x_m - grid.x0_m) / grid.cell_m))
    row = int(np.floor((y_m - grid.y0_m) / grid.cell_m))
    if row < 0 or column < 0 or row >= grid.surface.shape[0] or column >= grid.surface.shape[1]:
        return 0.0
    return float(grid.clear[row, column] * STEP_M)


@kernel
def solid_gap(grid: WalkGrid, x_m: float, y_m: float) -> float:
    """Metres from a place to the nearest solid thing, up to 1.5."""
    column = int(np.floor((x_m - grid.x0_m) / grid.cell_m))
    row = int(np.floor((y_m - grid.y0_m) / grid.cell_m))
    if row < 0 or column < 0 or row >= grid.surface.shape[0] or column >= grid.surface.shape[1]:
        return NEAR_M
    return float(NEAR_M - grid.solid[row, column] * STEP_M)
