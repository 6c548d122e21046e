"""Intersections of rays with the ground.

A ray follows one surface: the level under its origin. Other levels (the road under a bridge) count
where that surface ends.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._solids import kernel
from jaywalk.town.ground import Ground

_SAME_LEVEL_M: Final = 3.0
_TILE: Final = 8  # cells per side of the tiles over which rays may jump
_STEP_CELLS: Final = 0.5  # least step of the march inside a tile; it grows with the distance
_STEP_GROWTH: Final = 0.02
_STEEPEST: Final = 0.6  # slopes assumed when the ray is high above the ground


class Relief(NamedTuple):
    """The ground with its highest points per tile, which let rays jump over empty air."""

    ground: Ground
    low_m: float
    high_m: float
    # (rows, columns) of nodes: the height where there is one level, NaN where none or several.
    plain_m: NDArray[np.float32]
    # (rows, columns) of tiles; tile (j, i) covers the cells from _TILE * i - 1 on, eight of them.
    tops_m: NDArray[np.float64]


def measure_relief(ground: Ground) -> Relief:
    """Find the span of heights of a ground grid and its tiles, the terrain around it included."""
    base = float(ground.base_m)
    if len(ground.heights_m) == 0:
        return Relief(ground, base, base, np.zeros((0, 0), np.float32), np.full((1, 1), base))
    low, high = float(ground.heights_m.min()), float(ground.heights_m.max())
    levels = np.diff(ground.starts)
    plain = np.full(len(levels), np.nan, np.float32)
    plain[levels == 1] = ground.heights_m[ground.starts[:-1][levels == 1]]
    grid = plain.reshape(ground.rows, ground.columns)
    return Relief(ground, min(low, base), max(high, base), grid, _tops(ground))


@kernel
def _tops(ground: Ground) -> NDArray[np.float64]:
    rows, columns = (ground.rows + 1) // _TILE + 1, (ground.columns + 1) // _TILE + 1
    tops = np.full((rows, columns), -math.inf)
    for j in range(-1, ground.rows + 1):
        for i in range(-1, ground.columns + 1):
            highest = ground.base_m
            if 0 <= i < ground.columns and 0 <= j < ground.rows:
                node = j * ground.columns + i
                first, last = ground.starts[node], ground.starts[node + 1]
                if last > first:
                    highest = float(ground.heights_m[last - 1])
            # A node on the border of two tiles belongs to both.
            for tile_j in range((j + _TILE) // _TILE - 1, (j + 1) // _TILE + 1):
                for tile_i in range((i + _TILE) // _TILE - 1, (i + 1) // _TILE + 1):
                    if 0 <= tile_j < rows and 0 <= tile_i < columns:
                        tops[tile_j, tile_i] = max(tops[tile_j, tile_i], highest)
    return tops


@kernel
def _node(
    starts: NDArray[np.int32], heights_m: NDArray[np.float32], node: int, near_m: float
) -> float:
    first, last = starts[node], starts[node + 1]
    if last == first:
        return math.nan
    best = heights_m[first]
    for index in range(first + 1, last):
        if abs(heights_m[index] - near_m) < abs(best - near_m):
            best = heights_m[index]
    return float(best)


@kernel
def _height(
    plain_m: NDArray[np.float32],
    starts: NDArray[np.int32],
    heights_m: NDArray[np.float32],
    base_m: float,
    u: float,
    v: float,
    near_m: float,
) -> float:
    """Height at grid coordinates (u, v). Plain arguments: a tuple would cost more than the work."""
    rows, columns = plain_m.shape
    if u >= 0.0 and v >= 0.0 and u < columns - 1 and v < rows - 1:
        column, row = math.floor(u), math.floor(v)
        fu, fv = u - column, v - row
        h00, h10 = plain_m[row, column], plain_m[row, column + 1]
        h01, h11 = plain_m[row + 1, column], plain_m[row + 1, column + 1]
        low, high = min(h00, h10, h01, h11), max(h00, h10, h01, h11)
        # The sum is NaN, and the test false, when a node has no height or several.
        if high - low < _SAME_LEVEL_M and not math.isnan(h00 + h10 + h01 + h11):
            left = h00 + (h01 - h00) * fv
            return float(left + (h10 + (h11 - h10) * fv - left) * fu)
    return _border_height(starts, heights_m, columns, rows, base_m, u, v, near_m)


@kernel
def _border_height(
    starts: NDArray[np.int32],
    heights_m: NDArray[np.float32],
    columns: int,
    rows: int,
    base_m: float,
    u: float,
    v: float,
    near_m: float,
) -> float:
    """Return the height where nodes are missing or on other levels; the rest get their weight."""
    if u <= -1.0 or v <= -1.0 or u >= columns or v >= rows:
        return base_m
    column, row = math.floor(u), math.floor(v)
    fu, fv = u - column, v - row
    nearest, best = math.nan, -1.0
    for k in range(4):
        i, j = column + (k & 1), row + (k >> 1)
        if 0 <= i < columns and 0 <= j < rows:
            height = _node(starts, heights_m, j * columns + i, near_m)
            weight = (fu if k & 1 else 1.0 - fu) * (fv if k >> 1 else 1.0 - fv)
            if not math.isnan(height) and weight > best:
                nearest, best = height, weight
    if math.isnan(nearest):
        return base_m
    total = weights = 0.0
    for k in range(4):
        i, j = column + (k & 1), row + (k >> 1)
        if 0 <= i < columns and 0 <= j < rows:
            height = _node(starts, heights_m, j * columns + i, near_m)
            if abs(height - nearest) < _SAME_LEVEL_M:  # false for NaN
                weight = (fu if k & 1 else 1.0 - fu) * (fv if k >> 1 else 1.0 - fv)
                total += height * weight
                weights += weight
    return total / weights if weights > 1e-9 else nearest


@kernel
def ground_height(relief: Relief, x_m: float, y_m: float, near_m: float) -> float:
    """Same answer as the town's ``surface_height``, without its allocations (hot in pictures)."""
    cell = relief.ground.cell_m
    u, v = (x_m - relief.ground.x0_m) / cell, (y_m - relief.ground.y0_m) / cell
    return _height(
        relief.plain_m,
        relief.ground.starts,
        relief.ground.heights_m,
        relief.ground.base_m,
        u,
        v,
        near_m,
    )


@kernel
def ray_ground(
    relief: Relief,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    level_m: float,
    farthest: float,
) -> float:
    """First meeting of a ray with the ground, in multiples of ``direction``; inf if there is none.

    Args:
        relief: The ground.
        origin: Start of the ray; below the ground nothing is met.
        direction: Direction of the ray, any length.
        level_m: Height of the ground under the origin, which selects the level to follow.
        farthest: Where to stop searching.
    """
    ox, oy, oz = origin
    dx, dy, dz = direction
    if oz <= level_m:
        return math.inf
    if relief.low_m == relief.high_m:
        t = (relief.low_m - oz) / dz if dz < 0.0 else math.inf
        return t if t <= farthest else math.inf
    columns, rows, base = relief.ground.columns, relief.ground.rows, relief.ground.base_m
    starts, heights_m = relief.ground.starts, relief.ground.heights_m
    plain, tops = relief.plain_m, relief.tops_m
    # The ray in cells of the grid.
    cell = relief.ground.cell_m
    start = ((ox - relief.ground.x0_m) / cell, (oy - relief.ground.y0_m) / cell, oz)
    step = (dx / cell, dy / cell, dz)
    t, level = 0.0, level_m
    while t < farthest:
        z = oz + dz * t
        if z > relief.high_m:
            if dz >= 0.0:
                return math.inf
            t = (relief.high_m - oz) / dz
            z = relief.high_m
        u, v = start[0] + step[0] * t, start[1] + step[1] * t
        if u < -1.0 or v < -1.0 or u >= columns or v >= rows:
            if z <= base:
                return t  # left the grid below the terrain around it: a step in the ground
            entry = _entry(start, step, columns, rows, t)
            flat = (base - oz) / dz if dz < 0.0 else math.inf
            if t <= flat <= entry:
                return flat if flat <= farthest else math.inf
            if entry == math.inf:
                return math.inf
            t = entry + 1e-9 * (1.0 + entry)
            continue
        i, j = math.floor((u + 1.0) / _TILE), math.floor((v + 1.0) / _TILE)
        end = _tile_exit(start, step, i, j, t)
        if min(z, oz + dz * end) <= tops[j, i]:
            hit, level = _march(
                plain, starts, heights_m, base, start, step, level, t, min(end, farthest)
            )
            if hit < math.inf:
                return hit
        t = end + 1e-9 * (1.0 + end)
    return math.inf


@kernel
def _entry(
    start: tuple[float, float, float],
    step: tuple[float, float, float],
    columns: int,
    rows: int,
    after: float,
) -> float:
    """Return the ray parameter at which a ray outside the grid enters it; inf if never."""
    near, far = after, math.inf
    for axis in range(2):
        o = start[0] if axis == 0 else start[1]
        d = step[0] if axis == 0 else step[1]
        size = float(columns if axis == 0 else rows)
        if abs(d) < 1e-15:
            if o < -1.0 or o >= size:
                return math.inf
            continue
        a, b = (-1.0 - o) / d, (size - o) / d
        near, far = max(near, min(a, b)), min(far, max(a, b))
    return near if near < far else math.inf


@kernel
def _tile_exit(
    start: tuple[float, float, float], step: tuple[float, float, float], i: int, j: int, t: float
) -> float:
    """Return the ray parameter at which a ray inside tile (j, i) leaves it."""
    end = math.inf
    if step[0] != 0.0:
        border = _TILE * (i + 1 if step[0] > 0.0 else i) - 1.0
        end = (border - start[0]) / step[0]
    if step[1] != 0.0:
        border = _TILE * (j + 1 if step[1] > 0.0 else j) - 1.0
        end = min(end, (border - start[1]) / step[1])
    if end == math.inf:  # straight down or up
        end = t + 1e4
    return max(end, t)


@kernel
def _march(
    plain_m: NDArray[np.float32],
    starts: NDArray[np.int32],
    heights_m: NDArray[np.float32],
    base_m: float,
    start: tuple[float, float, float],
    step: tuple[float, float, float],
    level: float,
    t: float,
    end: float,
) -> tuple[float, float]:
    """First meeting between t and end, and the level of the ground where the search stopped."""
    pace = math.sqrt(step[0] * step[0] + step[1] * step[1])
    u, v = start[0] + step[0] * t, start[1] + step[1] * t
    level = _height(plain_m, starts, heights_m, base_m, u, v, level)
    gap = start[2] + step[2] * t - level
    if gap <= 0.0:
        return t, level
    while t < end:
        least = (_STEP_CELLS + _STEP_GROWTH * t * pace) / max(pace, 1e-9)
        after = min(t + max(least, gap / (_STEEPEST * pace + abs(step[2]))), end)
        u, v = start[0] + step[0] * after, start[1] + step[1] * after
        new = _height(plain_m, starts, heights_m, base_m, u, v, level)
        gap_after = start[2] + step[2] * after - new
        if gap_after <= 0.0:
            hit = _root(
                plain_m, starts, heights_m, base_m, start, step, level, (t, after), (gap, gap_after)
            )
            return hit, level
        t, gap, level = after, gap_after, new
    return math.inf, level


@kernel
def _root(
    plain_m: NDArray[np.float32],
    starts: NDArray[np.int32],
    heights_m: NDArray[np.float32],
    base_m: float,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    level: float,
    bracket: tuple[float, float],
    gaps: tuple[float, float],
) -> float:
    """Root of the gap by false position, halving the value kept at a stale end."""
    (t, after), (gap, gap_after) = bracket, gaps
    side = 0
    middle = t
    for _ in range(20):
        middle = t + (after - t) * gap / (gap - gap_after)
        u, v = origin[0] + direction[0] * middle, origin[1] + direction[1] * middle
        height = _height(plain_m, starts, heights_m, base_m, u, v, level)
        gap_middle = origin[2] + direction[2] * middle - height
        if abs(gap_middle) < 1e-6:
            break
        if gap_middle > 0.0:
            t, gap = middle, gap_middle
            gap_after *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            after, gap_after = middle, gap_middle
            gap *= 0.5 if side == -1 else 1.0
            side = -1
    return middle
