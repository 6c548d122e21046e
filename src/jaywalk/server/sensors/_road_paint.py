"""The ground in pictures: exact borders of roads and sidewalks, and paint on the road.

The town's raster has cells of 0.25 m or more. Here each cell also stores how far its middle is
from the border of the lanes of a class: half at the border, more inside, 0 and 1 from some way on.
Between cells the distance is interpolated, so borders are as smooth as the lanes. Paint is a list
of straight bands with an index by place. A pixel gets the share of its footprint that they cover.
Frame: CARLA's left-handed world, metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._borders import area_of, border_codes
from jaywalk.server.sensors._solids import kernel
from jaywalk.town.markings import lane_markings, zebra_stripes
from jaywalk.town.raster import LANE_LABELS

if TYPE_CHECKING:
    from jaywalk.town.lanes import LaneStrip
    from jaywalk.town.town import Town

ROAD: Final = int(SemanticTag.ROAD)
SIDEWALK: Final = int(SemanticTag.SIDEWALK)
TERRAIN: Final = int(SemanticTag.TERRAIN)
ROAD_LINE: Final = int(SemanticTag.ROAD_LINE)
MIXED: Final = 255  # a cell with a border of road or sidewalk in it or beside it
_REACH_M: Final = 0.8  # of distances from borders that are told apart, both sides together
INDEX_CELL_M: Final = 2.0
WHITE, YELLOW = 0.0, 1.0
_STOP_LINE_M: Final = 0.4
_STOP_FRONT_M: Final = 1.5  # from the middle of a stop box to its front


class RoadPaint(NamedTuple):
    """Ground of a town for kernels; cell (row j, column i) starts at (x0 + i c, y0 + j c)."""

    x0_m: float
    y0_m: float
    cell_m: float
    kind: NDArray[np.uint8]  # label of a cell, or MIXED
    label: NDArray[np.uint8]  # label of a cell without its paint
    road: NDArray[np.uint8]  # 0..255: distance of its middle from the border of the road
    walk: NDArray[np.uint8]
    reach_m: float  # from 0 to 255
    bands: NDArray[np.float64]  # (n, 8): centre x y, unit vector, half length, half width, colour
    starts: NDArray[np.int32]  # (index rows, index columns + 1)
    items: NDArray[np.int32]
    index_columns: int


def paint_of_labels(x0_m: float, y0_m: float, cell_m: float, labels: NDArray[Any]) -> RoadPaint:
    """Return the ground of a raster alone; its painted cells keep their label."""
    road = np.where(labels == ROAD, 255, 0).astype(np.uint8)
    walk = np.where(labels == SIDEWALK, 255, 0).astype(np.uint8)
    return _indexed(
        x0_m, y0_m, cell_m, labels.astype(np.uint8), road, walk, cell_m, np.zeros((0, 8))
    )


def paint_of_town(town: Town) -> RoadPaint:
    """Return the ground of a town with its lane lines, stop lines and crosswalks."""
    raster = town.raster
    grid = (raster.x0_m, raster.y0_m, raster.cell_m)
    road = _borders(town.strips, grid, raster.labels, ROAD)
    walk = _borders(town.strips, grid, raster.labels, SIDEWALK)
    # Painted cells are as wide as cells are: below the paint is what covers most of the cell.
    below = np.where(road >= 128, ROAD, np.where(walk >= 128, SIDEWALK, TERRAIN))
    label = np.where(raster.labels == ROAD_LINE, below, raster.labels).astype(np.uint8)
    return _indexed(*grid, label, road, walk, _reach_m(raster.cell_m), _bands(town))


def _indexed(
    x0_m: float,
    y0_m: float,
    cell_m: float,
    label: NDArray[np.uint8],
    road: NDArray[np.uint8],
    walk: NDArray[np.uint8],
    reach_m: float,
    bands: NDArray[np.float64],
) -> RoadPaint:
    rows, columns = label.shape
    kind = label.copy()
    if label.size:
        border = ((road > 0) & (road < 255)) | ((walk > 0) & (walk < 255))
        for axis in range(2):
            step = np.diff(label, axis=axis) != 0
            lower = (slice(None, -1), slice(None)) if axis == 0 else (slice(None), slice(None, -1))
            upper = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
            border[lower] |= step
            border[upper] |= step
        kind[binary_dilation(border, np.ones((3, 3), bool))] = MIXED
    across = max(math.ceil(columns * cell_m / INDEX_CELL_M), 1)
    down = max(math.ceil(rows * cell_m / INDEX_CELL_M), 1)
    starts, items = _index(bands, x0_m, y0_m, across, down)
    return RoadPaint(
        x0_m, y0_m, cell_m, kind, label, road, walk, reach_m, bands, starts, items, across
    )


def _reach_m(cell_m: float) -> float:
    """Return how far apart the places are whose codes are 0 and 255."""
    return max(_REACH_M, 3.0 * cell_m)


def _borders(
    strips: Iterable[LaneStrip],
    grid: tuple[float, float, float],
    label: NDArray[np.uint8],
    wanted: int,
) -> NDArray[np.uint8]:
    """Distance of each cell's middle from the border of the lanes of one label, coded."""
    chosen = [strip for strip in strips if LANE_LABELS.get(strip.kind) == wanted]
    area = area_of((strip.inner_m, strip.outer_m) for strip in chosen)
    rows, columns = label.shape
    code = border_codes(area, grid, (rows, columns), _reach_m(grid[2]))
    # The raster closes holes between turning lanes; their rims must not show as seams.
    masks = np.zeros(label.shape, np.uint16)
    for strip in chosen:
        _fill_bits(masks, *grid, strip.inner_m[:, :2].copy(), strip.outer_m[:, :2].copy())
    closed = (label == wanted) & (masks == 0)
    if closed.any():
        rim = binary_dilation(closed, np.ones((3, 3), bool))
        code[rim & ((masks > 0) | closed | (label == ROAD_LINE))] = 255
    return code


@kernel
def _fill_bits(
    masks: NDArray[np.uint16],
    x0_m: float,
    y0_m: float,
    cell_m: float,
    inner_m: NDArray[np.float64],
    outer_m: NDArray[np.float64],
) -> None:
    """Set the bits of the samples between two edges that are given at the same stations."""
    sub = cell_m / 4
    rows, columns = masks.shape[0] * 4, masks.shape[1] * 4
    px, py = np.empty(4), np.empty(4)
    for k in range(len(inner_m) - 1):
        px[0], py[0] = inner_m[k, 0], inner_m[k, 1]
        px[1], py[1] = inner_m[k + 1, 0], inner_m[k + 1, 1]
        px[2], py[2] = outer_m[k + 1, 0], outer_m[k + 1, 1]
        px[3], py[3] = outer_m[k, 0], outer_m[k, 1]
        low, high = py.min(), py.max()
        first = max(int(np.ceil((low - y0_m) / sub - 0.5)), 0)
        last = min(int(np.ceil((high - y0_m) / sub - 0.5)), rows)
        for row in range(first, last):
            y = y0_m + (row + 0.5) * sub
            left, right = math.inf, -math.inf
            for i in range(4):
                j = (i + 1) & 3
                if (py[i] <= y) != (py[j] <= y):
                    x = px[i] + (y - py[i]) * (px[j] - px[i]) / (py[j] - py[i])
                    left, right = min(left, x), max(right, x)
            if right < left:
                continue
            start = max(int(np.ceil((left - x0_m) / sub - 0.5)), 0)
            stop = min(int(np.ceil((right - x0_m) / sub - 0.5)), columns)
            shift = 4 * (row & 3)
            for column in range(start, stop):
                masks[row >> 2, column >> 2] |= np.uint16(1 << (shift + (column & 3)))


def _bands(town: Town) -> NDArray[np.float64]:
    """All paint of a town as straight bands."""
    pieces = [np.zeros((0, 8))]
    for marking in lane_markings(town.strips):
        color = YELLOW if marking.colour == "yellow" else WHITE
        pieces.append(_line_bands(marking.left_m, marking.right_m, color))
    for polygon in town.crosswalks:
        pieces += [
            _line_bands(stripe[[0, 3], :2], stripe[[1, 2], :2], WHITE)
            for stripe in zebra_stripes(polygon)
        ]
    stops = [light.stops for light in town.lights]
    stops += [
        sign.stops for sign in town.signs if sign.type_id in ("traffic.stop", "traffic.yield")
    ]
    pieces += [_stop_lines(stop) for stop in stops]
    return np.concatenate(pieces)


def _line_bands(left: Any, right: Any, color: float) -> NDArray[np.float64]:
    """Bands between two edges given at the same stations."""
    middle, across = 0.5 * (left + right), right - left
    step = np.diff(middle, axis=0)
    length = np.hypot(step[:, 0], step[:, 1])
    out = np.zeros((len(step), 8))
    out[:, :2] = 0.5 * (middle[1:] + middle[:-1])
    out[:, 2:4] = step / np.maximum(length, 1e-9)[:, None]
    out[:, 4] = 0.5 * length
    width = np.hypot(across[:, 0], across[:, 1])
    out[:, 5] = 0.25 * (width[1:] + width[:-1])
    out[:, 6] = color
    return out[length > 1e-6]


def _stop_lines(stops: Any) -> NDArray[np.float64]:
    """Lines across the lanes at the front of stop boxes."""
    out = np.zeros((len(stops), 8))
    for row, stop in zip(out, stops, strict=True):
        x, y, yaw, front = stop[0], stop[1], stop[3], stop[4] + 0.5 * _STOP_LINE_M
        row[:2] = x + front * math.cos(yaw), y + front * math.sin(yaw)
        row[2:4] = -math.sin(yaw), math.cos(yaw)
        row[4:6] = max(stop[5], 1.2), 0.5 * _STOP_LINE_M
    return out


def _index(
    bands: NDArray[np.float64], x0_m: float, y0_m: float, across: int, down: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Bands that touch each index cell, with a rim for the footprints of pixels."""
    rim = 0.35
    reach_x = np.abs(bands[:, 2]) * bands[:, 4] + np.abs(bands[:, 3]) * bands[:, 5] + rim
    reach_y = np.abs(bands[:, 3]) * bands[:, 4] + np.abs(bands[:, 2]) * bands[:, 5] + rim
    spans = np.stack(
        [
            (bands[:, 0] - reach_x - x0_m) / INDEX_CELL_M,
            (bands[:, 0] + reach_x - x0_m) / INDEX_CELL_M,
            (bands[:, 1] - reach_y - y0_m) / INDEX_CELL_M,
            (bands[:, 1] + reach_y - y0_m) / INDEX_CELL_M,
        ],
        axis=1,
    )
    cells = np.floor(spans).astype(np.int64)
    cells[:, :2] = np.clip(cells[:, :2], 0, across - 1)
    cells[:, 2:] = np.clip(cells[:, 2:], 0, down - 1)
    starts = np.zeros(across * down + 1, np.int32)
    _count(cells, across, starts)
    items = np.zeros(int(starts[-1]), np.int32)
    _fill(cells, across, starts, items)
    return starts, items


@kernel
def _count(cells: NDArray[np.int64], across: int, starts: NDArray[np.int32]) -> None:
    for k in range(len(cells)):
        for j in range(cells[k, 2], cells[k, 3] + 1):
            for i in range(cells[k, 0], cells[k, 1] + 1):
                starts[j * across + i + 1] += 1
    for k in range(1, len(starts)):
        starts[k] += starts[k - 1]


@kernel
def _fill(
    cells: NDArray[np.int64], across: int, starts: NDArray[np.int32], items: NDArray[np.int32]
) -> None:
    at = starts[:-1].copy()
    for k in range(len(cells)):
        for j in range(cells[k, 2], cells[k, 3] + 1):
            for i in range(cells[k, 0], cells[k, 1] + 1):
                items[at[j * across + i]] = k
                at[j * across + i] += 1


@kernel
def share_at(cover: NDArray[np.uint8], u: float, v: float) -> float:
    """Coded distance from a border, 0..1, at a place in cells, between the middles of cells."""
    rows, columns = cover.shape
    x, y = u - 0.5, v - 0.5
    i, j = math.floor(x), math.floor(y)
    fx, fy = x - i, y - j
    i0, i1 = min(max(i, 0), columns - 1), min(max(i + 1, 0), columns - 1)
    j0, j1 = min(max(j, 0), rows - 1), min(max(j + 1, 0), rows - 1)
    upper = cover[j0, i0] * (1.0 - fx) + cover[j0, i1] * fx
    lower = cover[j1, i0] * (1.0 - fx) + cover[j1, i1] * fx
    return float((upper * (1.0 - fy) + lower * fy) * (1.0 / 255.0))


@kernel
def _overlap(at: float, half: float, pixel: float) -> float:
    """Share of the interval of length ``pixel`` around ``at`` that lies within +-half."""
    low = max(at - 0.5 * pixel, -half)
    high = min(at + 0.5 * pixel, half)
    return max(high - low, 0.0) / pixel


@kernel
def paint_at(
    bands: NDArray[np.float64],
    starts: NDArray[np.int32],
    items: NDArray[np.int32],
    cell: int,
    x: float,
    y: float,
    ahead: tuple[float, float],
    wide_m: float,
    long_m: float,
) -> tuple[float, float]:
    """Share of a pixel's footprint that is paint, and the part of it that is yellow.

    Args:
        bands: All paint.
        starts: Of the index.
        items: Of the index.
        cell: Index cell of the place.
        x: Middle of the footprint.
        y: Middle of the footprint.
        ahead: Unit vector along which the footprint is long.
        wide_m: Width of the footprint.
        long_m: Length of the footprint.
    """
    white, yellow = 0.0, 0.0
    for index in range(starts[cell], starts[cell + 1]):
        k = items[index]
        px, py = x - bands[k, 0], y - bands[k, 1]
        ax, ay = bands[k, 2], bands[k, 3]
        along, aside = ax * px + ay * py, ax * py - ay * px
        c, s = abs(ax * ahead[0] + ay * ahead[1]), abs(ax * ahead[1] - ay * ahead[0])
        # The footprint as a box along the band: its extents along and across.
        pixel_along = max(c * long_m + s * wide_m, 1e-4)
        pixel_aside = max(s * long_m + c * wide_m, 1e-4)
        aside_share = _overlap(aside, bands[k, 5], pixel_aside)
        if aside_share <= 0.0:
            continue
        share = aside_share * _overlap(along, bands[k, 4], pixel_along)
        if bands[k, 6] > 0.5:
            yellow += share
        else:
            white += share
    total = min(white + yellow, 1.0)
    return total, min(yellow, total)


def bands_of(lines: Sequence[tuple[NDArray[Any], NDArray[Any], float]]) -> NDArray[np.float64]:
    """Return bands between pairs of edges, each with a colour."""
    return np.concatenate([np.zeros((0, 8)), *(_line_bands(*line) for line in lines)])
