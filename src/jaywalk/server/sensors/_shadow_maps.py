"""Drawing of shadow maps: the greatest height that shades each cell, see ``_shadows``."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._intersect import ray_solid
from jaywalk.server.sensors._leaves import leaf_there
from jaywalk.server.sensors._mesh import (
    END_TRIANGLE,
    FIRST_POINT,
    FIRST_TRIANGLE,
    MID,
    SHIFT,
    Meshes,
    most_points,
    place_points,
)
from jaywalk.server.sensors._solids import BOX, CUT_OUT, MESH, SPHERE, Solids, kernel

SIDE: Final = 2048  # cells per side of a map
BLOCK: Final = 32  # cells per side of the blocks that are marked where something was drawn
ABOVE_M: Final = 512.0  # added to heights, so that 0 means: nothing there


@kernel
def draw_heights(
    solids: Solids,
    meshes: Meshes,
    rows: tuple[int, int],
    shear: tuple[float, float],
    grid: tuple[float, float, float, float],
    heights: NDArray[np.float32],
    busy: NDArray[np.bool_],
) -> None:
    """Draw the solids ``rows[0]`` to ``rows[1]`` into a map with (corner x, y, cell, level)."""
    form = solids.form
    x0, y0, cell, level = grid
    across = SIDE * cell
    points = np.empty((most_points(meshes), 3))
    corner = np.empty((4, 3))
    window = np.empty(4, np.int64)
    # Rows of the map from the world: cells along both sides, and the stored height.
    turn = np.zeros((3, 3))
    turn[0, 0], turn[0, 2] = 1.0 / cell, -shear[0] / cell
    turn[1, 1], turn[1, 2] = 1.0 / cell, -shear[1] / cell
    turn[2, 2] = 1.0
    shift = np.empty(3)
    shift[0] = (shear[0] * level - x0) / cell
    shift[1] = (shear[1] * level - y0) / cell
    shift[2] = ABOVE_M - level
    for k in range(rows[0], rows[1]):
        z = form[k, 2] - level
        a = form[k, 0] - shear[0] * z - x0
        b = form[k, 1] - shear[1] * z - y0
        r = form[k, 15]
        reach_a, reach_b = r * (1.0 + abs(shear[0])), r * (1.0 + abs(shear[1]))
        if a + reach_a < 0.0 or a - reach_a > across:
            continue
        if b + reach_b < 0.0 or b - reach_b > across:
            continue
        window[0], window[1], window[2], window[3] = SIDE, 0, SIDE, 0
        if solids.shape[k] == MESH:
            _draw_mesh(
                meshes, form, k, solids.mesh[k], turn, shift, points, corner, heights, window
            )
        elif solids.shape[k] == BOX:
            if solids.pattern[k] < CUT_OUT:
                _draw_box(form, k, turn, shift, corner, heights, window)
        else:
            _draw_round(form, solids.shape, k, shear, grid, heights, window)
        if window[0] <= window[1]:
            top, left = max(window[2] - 1, 0) // BLOCK, max(window[0] - 1, 0) // BLOCK
            bottom, right = (window[3] // BLOCK) + 1, (window[1] // BLOCK) + 1
            busy[top:bottom, left:right] = True


@kernel
def _draw_box(
    form: NDArray[np.float64],
    k: int,
    turn: NDArray[np.float64],
    shift: NDArray[np.float64],
    corner: NDArray[np.float64],
    heights: NDArray[np.float32],
    window: NDArray[np.int64],
) -> None:
    for face in range(6):
        axis = face // 2
        sign = 1.0 if face % 2 == 0 else -1.0
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for q in range(4):
            along = 1.0 if q in (1, 2) else -1.0
            aside = 1.0 if q >= 2 else -1.0
            for i in range(3):
                total = shift[i]
                for m in range(3):
                    at = form[k, m] + sign * form[k, 12 + axis] * form[k, 3 + 3 * axis + m]
                    at += along * form[k, 12 + b] * form[k, 3 + 3 * b + m]
                    at += aside * form[k, 12 + c] * form[k, 3 + 3 * c + m]
                    total += turn[i, m] * at
                corner[q, i] = total
        _fill(corner, 4, heights, window)


@kernel
def _draw_mesh(
    meshes: Meshes,
    form: NDArray[np.float64],
    k: int,
    instance: int,
    turn: NDArray[np.float64],
    shift: NDArray[np.float64],
    points: NDArray[np.float64],
    corner: NDArray[np.float64],
    heights: NDArray[np.float32],
    window: NDArray[np.int64],
) -> None:
    axes = np.empty((3, 3))
    origin = np.empty(3)
    for i in range(3):
        origin[i] = shift[i]
        for m in range(3):
            origin[i] += turn[i, m] * meshes.origin[instance, m]
        for j in range(3):
            axes[i, j] = 0.0
            for m in range(3):
                axes[i, j] += turn[i, m] * form[k, 3 + 3 * j + m]
    place_points(meshes, instance, MID, axes, (origin[0], origin[1], origin[2]), points)
    span = meshes.span[instance, MID]
    first = span[FIRST_POINT] - span[SHIFT]
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        if meshes.cut_out[t] and _is_gap(meshes, t):
            continue
        for q in range(3):
            p = meshes.triangles[t, q] - first
            for i in range(3):
                corner[q, i] = points[p, i]
        _fill(corner, 3, heights, window)


@kernel
def _is_gap(meshes: Meshes, t: int) -> bool:
    """Whether there is no leaf in the middle of a cut-out triangle: leaves let some sun through."""
    uv = meshes.uv
    return not leaf_there(
        (uv[t, 0, 0] + uv[t, 1, 0] + uv[t, 2, 0]) / 3.0,
        (uv[t, 0, 1] + uv[t, 1, 1] + uv[t, 2, 1]) / 3.0,
    )


@kernel
def _fill(
    corner: NDArray[np.float64],
    corners: int,
    heights: NDArray[np.float32],
    window: NDArray[np.int64],
) -> None:
    """Raise the cells whose middles lie in a flat polygon (cells along x and y, height)."""
    top, bottom, left, right = math.inf, -math.inf, math.inf, -math.inf
    for q in range(corners):
        top, bottom = min(top, corner[q, 1]), max(bottom, corner[q, 1])
        left, right = min(left, corner[q, 0]), max(right, corner[q, 0])
    if right < 0.5 or left > SIDE - 0.5 or bottom < 0.5 or top > SIDE - 0.5:
        return
    ax, ay, az = (
        corner[1, 0] - corner[0, 0],
        corner[1, 1] - corner[0, 1],
        corner[1, 2] - corner[0, 2],
    )
    bx, by, bz = (
        corner[2, 0] - corner[0, 0],
        corner[2, 1] - corner[0, 1],
        corner[2, 2] - corner[0, 2],
    )
    area = ax * by - ay * bx
    if abs(area) < 1e-9:
        return
    grow_x = (az * by - ay * bz) / area
    grow_y = (ax * bz - az * bx) / area
    at_zero = corner[0, 2] - grow_x * corner[0, 0] - grow_y * corner[0, 1]
    first = max(0, math.ceil(top - 0.5))
    last = min(SIDE, math.ceil(bottom - 0.5))
    for j in range(first, last):
        middle = j + 0.5
        start, end = math.inf, -math.inf
        for q in range(corners):
            r = q + 1 if q + 1 < corners else 0
            if (corner[q, 1] <= middle) != (corner[r, 1] <= middle):
                at = corner[q, 0] + (corner[r, 0] - corner[q, 0]) * (middle - corner[q, 1]) / (
                    corner[r, 1] - corner[q, 1]
                )
                start, end = min(start, at), max(end, at)
        if start > end:
            continue
        i0 = math.ceil(max(start, 0.0) - 0.5)
        i1 = math.ceil(min(end, float(SIDE)) - 0.5)
        if i0 >= i1:
            continue
        window[0], window[1] = min(window[0], i0), max(window[1], i1 - 1)
        window[2], window[3] = min(window[2], j), max(window[3], j)
        base = at_zero + grow_y * middle + 0.5 * grow_x
        line = heights[j]
        for i in range(i0, i1):
            value = np.float32(base + grow_x * i)
            if value > line[i]:
                line[i] = value


@kernel
def _draw_round(
    form: NDArray[np.float64],
    shape: NDArray[np.uint8],
    k: int,
    shear: tuple[float, float],
    grid: tuple[float, float, float, float],
    heights: NDArray[np.float32],
    window: NDArray[np.int64],
) -> None:
    """Cast the sun's rays of the cells around a sphere, cylinder or capsule."""
    x0, y0, cell, level = grid
    stretch = math.sqrt(1.0 + shear[0] * shear[0] + shear[1] * shear[1])
    low_a, high_a, low_b, high_b = math.inf, -math.inf, math.inf, -math.inf
    half = 0.0 if shape[k] == SPHERE else form[k, 14]
    radius = form[k, 12]
    for end in range(2):
        shift = half if end == 0 else -half
        z = form[k, 2] + shift * form[k, 11] - level
        a = form[k, 0] + shift * form[k, 9] - shear[0] * z - x0
        b = form[k, 1] + shift * form[k, 10] - shear[1] * z - y0
        low_a, high_a = min(low_a, a - radius * stretch), max(high_a, a + radius * stretch)
        low_b, high_b = min(low_b, b - radius * stretch), max(high_b, b + radius * stretch)
    i0, i1 = max(0, math.floor(low_a / cell)), min(SIDE, math.ceil(high_a / cell))
    j0, j1 = max(0, math.floor(low_b / cell)), min(SIDE, math.ceil(high_b / cell))
    above = form[k, 2] + form[k, 15] + 1.0
    for j in range(j0, j1):
        for i in range(i0, i1):
            oz = above - level
            ox = x0 + (i + 0.5) * cell + shear[0] * oz
            oy = y0 + (j + 0.5) * cell + shear[1] * oz
            t, _ = ray_solid(form, shape, k, ox, oy, above, -shear[0], -shear[1], -1.0)
            if t < math.inf:
                value = np.float32(above - t - level + ABOVE_M)
                if value > heights[j, i]:
                    heights[j, i] = value
                    window[0], window[1] = min(window[0], i), max(window[1], i)
                    window[2], window[3] = min(window[2], j), max(window[3], j)
