"""How far cells of a raster lie from the border of an area, coded in a byte.

127.5 is the border; larger codes lie inside. Areas are unions of lanes, so their borders are as
smooth as the lanes are, not as coarse as the cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from jaywalk.server.sensors._solids import kernel

_GAP_M: Final = 0.04  # gaps of this width between lanes are closed
_PIECE_M: Final = 2.0  # long edges are cut, so that few cells lie in the box around a piece
_FARTHEST: Final = 128

Grid = tuple[float, float, float]  # corner x and y, size of a cell


def area_of(edges: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> shapely.Geometry:
    """Return the area between pairs of edges that are given at the same stations."""
    parts = [
        shapely.Polygon(np.concatenate([inner[:, :2], outer[::-1, :2]]))
        for inner, outer in edges
        if len(inner) >= 2
    ]
    whole = shapely.union_all(shapely.make_valid(np.array(parts, object)))
    return whole.buffer(_GAP_M, join_style="mitre").buffer(-_GAP_M, join_style="mitre")


def border_codes(
    area: shapely.Geometry, grid: Grid, shape: tuple[int, int], reach_m: float
) -> NDArray[np.uint8]:
    """Return the code of each cell; 0 and 255 are ``reach_m`` apart."""
    far = np.full(shape, _FARTHEST, np.uint8)
    odd = np.zeros(shape, np.uint8)
    edges = _edges(area)
    _spread(_cut(edges), *grid, reach_m, far)
    _toggle(edges, *grid, odd)
    inside = np.bitwise_xor.accumulate(odd, axis=1) == 1
    # 127.5 - far and 127.5 + far, rounded to whole numbers within a byte.
    return np.where(inside, 127 + np.maximum(far, 1), np.maximum(127, far) - far).astype(np.uint8)


def _edges(area: shapely.Geometry) -> NDArray[np.float64]:
    """Edges of the border of an area: x and y of both ends."""
    parts = [np.zeros((0, 4))]
    for ring in shapely.get_parts(shapely.boundary(area)):
        corners = shapely.get_coordinates(ring)
        parts.append(np.concatenate([corners[:-1], corners[1:]], axis=1))
    return np.concatenate(parts)


def _cut(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut edges into pieces of equal length."""
    way = edges[:, 2:] - edges[:, :2]
    count = np.maximum(np.ceil(np.hypot(way[:, 0], way[:, 1]) / _PIECE_M), 1.0).astype(np.int64)
    edge = np.repeat(np.arange(len(edges)), count)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    start, end = number / count[edge], (number + 1) / count[edge]
    first, way = edges[edge, :2], way[edge]
    return np.concatenate([first + start[:, None] * way, first + end[:, None] * way], axis=1)


@kernel
def _spread(
    pieces: NDArray[np.float64],
    x0_m: float,
    y0_m: float,
    cell_m: float,
    reach_m: float,
    far: NDArray[np.uint8],
) -> None:
    """Lower the distances of the cells around each piece."""
    rows, columns = far.shape
    half = 0.5 * reach_m + cell_m
    for k in range(len(pieces)):
        ax, ay, bx, by = pieces[k, 0], pieces[k, 1], pieces[k, 2], pieces[k, 3]
        dx, dy = bx - ax, by - ay
        square = max(dx * dx + dy * dy, 1e-12)
        left = max(math.floor((min(ax, bx) - half - x0_m) / cell_m), 0)
        right = min(math.ceil((max(ax, bx) + half - x0_m) / cell_m), columns)
        top = max(math.floor((min(ay, by) - half - y0_m) / cell_m), 0)
        bottom = min(math.ceil((max(ay, by) + half - y0_m) / cell_m), rows)
        for j in range(top, bottom):
            py = y0_m + (j + 0.5) * cell_m - ay
            for i in range(left, right):
                px = x0_m + (i + 0.5) * cell_m - ax
                share = min(max((px * dx + py * dy) / square, 0.0), 1.0)
                gap_m = math.hypot(px - share * dx, py - share * dy)
                code = min(255.0 * gap_m / reach_m + 0.5, 128.0)
                if code < far[j, i]:
                    far[j, i] = np.uint8(code)


@kernel
def _toggle(
    edges: NDArray[np.float64], x0_m: float, y0_m: float, cell_m: float, odd: NDArray[np.uint8]
) -> None:
    """Mark where rows of cells cross edges: cells after an odd number of marks lie inside."""
    rows, columns = odd.shape
    for k in range(len(edges)):
        ax, ay, bx, by = edges[k, 0], edges[k, 1], edges[k, 2], edges[k, 3]
        top = max(math.ceil((min(ay, by) - y0_m) / cell_m - 0.5), 0)
        bottom = min(math.ceil((max(ay, by) - y0_m) / cell_m - 0.5), rows)
        for j in range(top, bottom):
            x = ax + (y0_m + (j + 0.5) * cell_m - ay) * (bx - ax) / (by - ay)
            i = max(math.ceil((x - x0_m) / cell_m - 0.5), 0)
            if i < columns:
                odd[j, i] ^= 1
