"""Where a ray meets the ground.

A ray follows one surface: the level under its origin. Other levels (the road under a bridge) come
into play where that surface ends.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.kernel import kernel
from jaywalk.town.ground import Ground

_SAME_LEVEL_M: Final = 3.0
_STEP_M: Final = 0.5  # first step of the march; it grows with the distance
_STEP_GROWTH: Final = 0.03
_STEEPEST: Final = 0.6  # slopes assumed when the ray is high above the ground


class Relief(NamedTuple):
    """The ground with the span of its heights, which lets rays skip empty air."""

    ground: Ground
    low_m: float
    high_m: float


def measure_relief(ground: Ground) -> Relief:
    """Find the span of heights of a ground grid, the terrain around it included."""
    base = float(ground.base_m)
    if len(ground.heights_m) == 0:
        return Relief(ground, base, base)
    low, high = float(ground.heights_m.min()), float(ground.heights_m.max())
    return Relief(ground, min(low, base), max(high, base))


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
    starts: NDArray[np.int32], heights_m: NDArray[np.float32], columns: int, rows: int,
    base_m: float, u: float, v: float, near_m: float,
) -> float:  # fmt: skip
    """Height at grid coordinates (u, v). Plain arguments: a tuple would cost more than the work."""
    if u < 0.0 or v < 0.0 or u >= columns - 1 or v >= rows - 1:
        return _border_height(starts, heights_m, columns, rows, base_m, u, v, near_m)
    column, row = math.floor(u), math.floor(v)
    fu, fv = u - column, v - row
    node = row * columns + column
    h00 = _node(starts, heights_m, node, near_m)
    h10 = _node(starts, heights_m, node + 1, near_m)
    h01 = _node(starts, heights_m, node + columns, near_m)
    h11 = _node(starts, heights_m, node + columns + 1, near_m)
    low, high = min(h00, h10, h01, h11), max(h00, h10, h01, h11)
    if high - low < _SAME_LEVEL_M:  # false when a node is unknown (NaN)
        left = h00 + (h01 - h00) * fv
        return left + (h10 + (h11 - h10) * fv - left) * fu
    return _border_height(starts, heights_m, columns, rows, base_m, u, v, near_m)


@kernel
def _border_height(
    starts: NDArray[np.int32], heights_m: NDArray[np.float32], columns: int, rows: int,
    base_m: float, u: float, v: float, near_m: float,
) -> float:  # fmt: skip
    """Height where nodes are missing or on different levels: their weight goes to the others."""
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
def ground_height(ground: Ground, x_m: float, y_m: float, near_m: float) -> float:
    """Same answer as the town's ``surface_height``, without its allocations (hot in pictures)."""
    u, v = (x_m - ground.x0_m) / ground.cell_m, (y_m - ground.y0_m) / ground.cell_m
    return _height(ground.starts, ground.heights_m, ground.columns, ground.rows, ground.base_m,
                   u, v, near_m)  # fmt: skip


@kernel
def ray_ground(
    relief: Relief,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    level_m: float,
    start: float,
    farthest: float,
) -> float:
    """First meeting of a ray with the ground, in multiples of ``direction``; inf if there is none.

    Args:
        relief: The ground.
        origin: Start of the ray.
        direction: Direction of the ray, any length.
        level_m: Height of the ground under the origin, which selects the level to follow.
        start: Where to begin searching; must lie above the ground, or 0 is used instead.
        farthest: Where to stop searching.
    """
    ox, oy, oz = origin
    dx, dy, dz = direction
    if relief.low_m == relief.high_m:
        if oz <= relief.low_m or dz >= 0.0:
            return math.inf
        t = (relief.low_m - oz) / dz
        return t if t <= farthest else math.inf
    starts, heights_m = relief.ground.starts, relief.ground.heights_m
    columns, rows, base = relief.ground.columns, relief.ground.rows, relief.ground.base_m
    # The ray in grid coordinates.
    cell = relief.ground.cell_m
    ou, ov = (ox - relief.ground.x0_m) / cell, (oy - relief.ground.y0_m) / cell
    du, dv = dx / cell, dy / cell
    pace = math.sqrt(dx * dx + dy * dy)
    t, level = start, level_m
    if oz + dz * t > relief.high_m:
        if dz >= 0.0:
            return math.inf
        t = max(t, (relief.high_m - oz) / dz)
    level = _height(starts, heights_m, columns, rows, base, ou + du * t, ov + dv * t, level)
    gap = oz + dz * t - level
    if gap <= 0.0:
        if t == 0.0:
            return math.inf
        t, level = 0.0, level_m
        gap = oz - level
        if gap <= 0.0:
            return math.inf
    if pace < 1e-9:
        t = (level - oz) / dz if dz < 0.0 else math.inf
        return t if t <= farthest else math.inf
    while t < farthest:
        step = max((_STEP_M + _STEP_GROWTH * t * pace) / pace, gap / (_STEEPEST * pace + abs(dz)))
        after = t + step
        if dz > 0.0 and oz + dz * after > relief.high_m:
            return math.inf
        new = _height(
            starts, heights_m, columns, rows, base, ou + du * after, ov + dv * after, level
        )
        gap_after = oz + dz * after - new
        if gap_after > 0.0:
            t, gap, level = after, gap_after, new
            continue
        t = _root(starts, heights_m, columns, rows, base, (ou, ov, oz), (du, dv, dz), level,
                  (t, after), (gap, gap_after))  # fmt: skip
        return t if t <= farthest else math.inf
    return math.inf


@kernel
def _root(
    starts: NDArray[np.int32], heights_m: NDArray[np.float32], columns: int, rows: int,
    base_m: float, origin: tuple[float, float, float], direction: tuple[float, float, float],
    level: float, bracket: tuple[float, float], gaps: tuple[float, float],
) -> float:  # fmt: skip
    """Root of the gap by false position, halving the value kept at a stale end."""
    (t, after), (gap, gap_after) = bracket, gaps
    side = 0
    middle = t
    for _ in range(20):
        middle = t + (after - t) * gap / (gap - gap_after)
        u, v = origin[0] + direction[0] * middle, origin[1] + direction[1] * middle
        height = _height(starts, heights_m, columns, rows, base_m, u, v, level)
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
