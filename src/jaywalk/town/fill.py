"""Filling polygons into a raster: one scanline kernel for lanes, crosswalks and markings.

A cell belongs to a polygon when its centre lies inside (even-odd rule, half-open at the edges), so
polygons that share an edge neither overlap nor leave a gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel


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
        found = 0
        for k in range(count):
            n = k + 1 if k + 1 < count else 0
            ya, yb = polygon_m[k, 1], polygon_m[n, 1]
            if (ya <= y) != (yb <= y):
                xa, xb = polygon_m[k, 0], polygon_m[n, 0]
                x = xa + (y - ya) * (xb - xa) / (yb - ya)
                at = found
                while at > 0 and crossings[at - 1] > x:
                    crossings[at] = crossings[at - 1]
                    at -= 1
                crossings[at] = x
                found += 1
        for pair in range(found // 2):
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
