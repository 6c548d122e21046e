"""Semantic raster of the ground seen from above: CARLA's labels on a grid.

The raster is drawn from lane strips, lane markings and crosswalks. Cell (row, column) covers
``x0 + column * cell .. + cell`` and the same in y. Frame: CARLA's left-handed world, metres.

One scanline kernel fills the polygons of lanes, crosswalks and markings. A cell belongs to a
polygon if its centre lies inside (even-odd rule, half-open at the edges), so polygons that share an
edge neither overlap nor leave a gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import SemanticTag
from jaywalk.core.kernels import kernel
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.markings import Marking, lane_markings, zebra_stripes


@kernel
def fill_polygon(
    labels: NDArray[np.uint8],
    x0_m: float,
    y0_m: float,
    cell_m: float,
    polygon_m: NDArray[np.float64],
    label: int,
) -> None:
    """Write ``label`` into the cells of ``labels`` (rows, columns) whose centre lies inside."""
    rows, columns = labels.shape
    count = len(polygon_m)
    low, high = polygon_m[0, 1], polygon_m[0, 1]
    for k in range(1, count):
        low, high = min(low, polygon_m[k, 1]), max(high, polygon_m[k, 1])
    first = max(int(np.ceil((low - y0_m) / cell_m - 0.5)), 0)
    last = min(int(np.ceil((high - y0_m) / cell_m - 0.5)), rows)
    crossings = np.empty(count)
    for row in range(first, last):
        y = y0_m + (row + 0.5) * cell_m
        filled = 0
        for k in range(count):
            n = k + 1 if k + 1 < count else 0
            ya, yb = polygon_m[k, 1], polygon_m[n, 1]
            if (ya <= y) != (yb <= y):
                xa, xb = polygon_m[k, 0], polygon_m[n, 0]
                x = xa + (y - ya) * (xb - xa) / (yb - ya)
                at = filled
                while at > 0 and crossings[at - 1] > x:
                    crossings[at] = crossings[at - 1]
                    at -= 1
                crossings[at] = x
                filled += 1
        for pair in range(filled // 2):
            start = max(int(np.ceil((crossings[2 * pair] - x0_m) / cell_m - 0.5)), 0)
            stop = min(int(np.ceil((crossings[2 * pair + 1] - x0_m) / cell_m - 0.5)), columns)
            for column in range(start, stop):
                labels[row, column] = label


@kernel
def fill_strip(
    labels: NDArray[np.uint8],
    x0_m: float,
    y0_m: float,
    cell_m: float,
    inner_m: NDArray[np.float64],
    outer_m: NDArray[np.float64],
    label: int,
) -> None:
    """Fill the band between two edges given at the same stations, piece by piece."""
    piece = np.empty((4, 2))
    for k in range(len(inner_m) - 1):
        for axis in range(2):
            piece[0, axis] = inner_m[k, axis]
            piece[1, axis] = inner_m[k + 1, axis]
            piece[2, axis] = outer_m[k + 1, axis]
            piece[3, axis] = outer_m[k, axis]
        fill_polygon(labels, x0_m, y0_m, cell_m, piece, label)


ROAD: Final = int(SemanticTag.ROAD)
SIDEWALK: Final = int(SemanticTag.SIDEWALK)
TERRAIN: Final = int(SemanticTag.TERRAIN)
ROAD_LINE: Final = int(SemanticTag.ROAD_LINE)
GROUND: Final = int(SemanticTag.GROUND)

LANE_LABELS = {
    "driving": ROAD,
    "parking": ROAD,
    "shoulder": ROAD,
    "stop": ROAD,
    "biking": ROAD,
    "bidirectional": ROAD,
    "entry": ROAD,
    "exit": ROAD,
    "onRamp": ROAD,
    "offRamp": ROAD,
    "restricted": ROAD,
    "border": GROUND,
    "median": GROUND,
    "curb": SIDEWALK,
    "sidewalk": SIDEWALK,
    "walking": SIDEWALK,
}
_RIM_M = 12.0
_MAX_CELLS = 60_000_000  # bytes; a wide rural town gets coarser cells instead of more of them
_HOLE_M2 = 60.0  # largest gap between turning lanes that counts as pavement
# Later labels win: junction surfaces cover the verges and sidewalks that cut through them.
_ORDER = (GROUND, SIDEWALK, ROAD)


class SemanticRaster(NamedTuple):
    """Labels of the ground: 1 road, 2 sidewalk, 10 terrain, 24 road line, 25 other ground."""

    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    labels: NDArray[np.uint8]  # (rows, columns)


def build_raster(
    strips: list[LaneStrip],
    crosswalks: list[FloatArray],
    cell_m: float = 0.25,
    window_m: tuple[float, float, float, float] | None = None,
    margin_m: float = 15.0,
) -> SemanticRaster:
    """Draw the town, or only ``window_m`` = (x low, y low, x high, y high), at ``cell_m``.

    For a whole town, cells are enlarged until the raster is smaller than 60 MB.
    """
    if window_m is not None:
        # Draw with a rim, so that gaps in junctions are complete, then crop.
        rim = int(np.ceil(_RIM_M / cell_m))
        low, high = np.array(window_m[:2], float), np.array(window_m[2:], float)
        wide = _draw(strips, crosswalks, cell_m, low - rim * cell_m, high + rim * cell_m)
        labels = np.ascontiguousarray(wide.labels[rim:-rim, rim:-rim])
        rows, columns = labels.shape
        return SemanticRaster(float(low[0]), float(low[1]), cell_m, columns, rows, labels)
    edges = [edge[:, :2] for strip in strips for edge in (strip.inner_m, strip.outer_m)]
    points = np.concatenate(edges) if edges else np.zeros((1, 2))
    low, high = np.floor(points.min(axis=0) - margin_m), np.ceil(points.max(axis=0) + margin_m)
    while np.prod((high - low) / cell_m) > _MAX_CELLS:
        cell_m *= 1.25
    return _draw(strips, crosswalks, cell_m, low, high)


def _draw(
    strips: list[LaneStrip],
    crosswalks: list[FloatArray],
    cell_m: float,
    low: FloatArray,
    high: FloatArray,
) -> SemanticRaster:
    columns, rows = (max(int(n), 1) for n in np.ceil((high - low) / cell_m))
    labels = np.full((rows, columns), TERRAIN, np.uint8)
    grid = (float(low[0]), float(low[1]), cell_m)
    seen = [strip for strip in strips if _touches(strip, low, high)]
    for layer in _ORDER:
        for strip in seen:
            if LANE_LABELS.get(strip.kind) == layer:
                fill_strip(labels, *grid, strip.inner_m, strip.outer_m, layer)
    for window in _junction_windows(seen, grid, labels.shape):
        _close_holes(labels[window], cell_m)
    for marking in _visible(lane_markings(seen, max(0.12, cell_m)), low, high):
        fill_strip(labels, *grid, marking.left_m, marking.right_m, ROAD_LINE)
    for polygon in crosswalks:
        if (polygon[:, :2].max(axis=0) >= low).all() and (polygon[:, :2].min(axis=0) <= high).all():
            for stripe in zebra_stripes(polygon):
                fill_polygon(labels, *grid, stripe, ROAD_LINE)
    return SemanticRaster(*grid, columns, rows, labels)


def _junction_windows(
    strips: list[LaneStrip], grid: tuple[float, float, float], shape: tuple[int, ...]
) -> list[tuple[slice, slice]]:
    """Part of the raster around each junction, with a rim."""
    boxes: dict[int, FloatArray] = {}
    for strip in strips:
        if strip.in_junction:
            edges = np.concatenate([strip.inner_m[:, :2], strip.outer_m[:, :2]])
            box = np.concatenate([edges.min(axis=0), -edges.max(axis=0)])
            old = boxes.get(strip.road.junction_id, box)
            boxes[strip.road.junction_id] = np.minimum(old, box)
    windows = []
    for box in boxes.values():
        low = ((box[:2] - _RIM_M - grid[:2]) / grid[2]).astype(int)
        high = ((_RIM_M - box[2:] - grid[:2]) / grid[2]).astype(int)
        column, row = (slice(max(int(low[k]), 0), max(int(high[k]), 0)) for k in range(2))
        if row.start < shape[0] and column.start < shape[1] and row.stop and column.stop:
            windows.append((row, column))
    return windows


def _close_holes(labels: NDArray[np.uint8], cell_m: float) -> None:
    """Pave the slivers that connecting roads leave open inside junctions, in place.

    A sliver beside a median is its tip and becomes ground; all others become road.
    """
    pieces, count = label(labels == TERRAIN)
    if count == 0:
        return
    small = np.bincount(pieces.ravel()) * cell_m**2 < _HOLE_M2
    small[0] = False
    border = np.concatenate([pieces[0], pieces[-1], pieces[:, 0], pieces[:, -1]])
    small[border] = False  # cut by the window: its size is unknown
    tips = np.zeros_like(small)
    if (labels == GROUND).any():
        for a, b in (
            (pieces[1:], labels[:-1]),
            (pieces[:-1], labels[1:]),
            (pieces[:, 1:], labels[:, :-1]),
            (pieces[:, :-1], labels[:, 1:]),
        ):
            tips[a[b == GROUND]] = True
    new = np.where(small, np.where(tips, GROUND, ROAD), 0).astype(np.uint8)[pieces]
    np.copyto(labels, new, where=new > 0)


def label_at(raster: SemanticRaster, x_m: float, y_m: float) -> int:
    """Label at a position; terrain outside the raster."""
    column = int(np.floor((x_m - raster.x0_m) / raster.cell_m))
    row = int(np.floor((y_m - raster.y0_m) / raster.cell_m))
    if 0 <= row < raster.rows and 0 <= column < raster.columns:
        return int(raster.labels[row, column])
    return TERRAIN


def _touches(strip: LaneStrip, low: FloatArray, high: FloatArray) -> bool:
    for axis in range(2):
        inner, outer = strip.inner_m[:, axis], strip.outer_m[:, axis]
        if max(inner.max(), outer.max()) < low[axis] or min(inner.min(), outer.min()) > high[axis]:
            return False
    return True


def _visible(markings: list[Marking], low: FloatArray, high: FloatArray) -> Iterator[Marking]:
    for marking in markings:
        line = marking.left_m
        if (line.max(axis=0) >= low - 1.0).all() and (line.min(axis=0) <= high + 1.0).all():
            yield marking
