"""Shadows of the sun: maps of what stands between the sun and each place.

A map is a grid on level ground. A point at height z belongs to the cell in which the sun's ray
through it meets the ground; the cell stores the greatest height above which nothing shades it.
Whatever lies lower on the ray is in shadow. Near the camera cells are small; far away they are
large. Maps of the scenery are kept until the sun or the camera's surroundings change; actors are
drawn into a near map of their own in each tick. Maps depend on the scene and the place of the
camera alone, so other cameras and clients change nothing.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, NamedTuple

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
from jaywalk.server.sensors._rows import Row
from jaywalk.server.sensors._solids import BOX, CUT_OUT, MESH, SPHERE, Solids, kernel
from jaywalk.server.sensors._visibility import GROUND, SKY

SIDE: Final = 2048  # cells per side of a map
NEAR_CELL_M: Final = 0.0625
FAR_CELL_M: Final = 0.25
_NEAR_STEP_M: Final = 16.0  # maps move in steps of this size
_FAR_STEP_M: Final = 64.0
_BLOCK: Final = 32  # cells per side of the blocks that are marked where actors cast shadows
_LOWEST_SUN: Final = 0.12  # sine of the altitude; a lower sun casts shadows as if it were there
_ABOVE_M: Final = 512.0  # added to heights, so that 0 means: nothing there
_LIFT_M: Final = 0.03  # points are lifted by this and moved along the normal, against speckles
_MOVE_CELLS: Final = 1.6
_KEPT: Final = 6  # maps of the scenery, for cameras in different places


class SunMaps(NamedTuple):
    """Shadow maps around a place, for kernels."""

    shear: tuple[float, float]  # metres along the ground per metre of height, towards the sun
    level_m: float  # height of the map's plane
    near_corner: tuple[float, float]
    far_corner: tuple[float, float]
    near: NDArray[np.float32]  # (SIDE, SIDE); 0: nothing
    far: NDArray[np.float32]
    moving: NDArray[np.float32]  # of actors, as ``near``
    busy: NDArray[np.bool_]  # blocks of ``moving`` with something in them


def _nothing() -> SunMaps:
    none = np.zeros((0, 0), np.float32)
    return SunMaps((0.0, 0.0), 0.0, (0.0, 0.0), (0.0, 0.0), none, none, none, none > 0.0)


NO_SHADOWS: Final = _nothing()


class ShadowCache:
    """Shadow maps of one scenery."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, NDArray[np.float32]] = OrderedDict()

    def maps(
        self,
        solids: Solids,
        meshes: Meshes,
        static: int,
        sun: tuple[float, float, float],
        eye: tuple[float, float, float],
        shared: dict[Hashable, object],
    ) -> SunMaps:
        """Return the maps around a camera.

        Args:
            solids: The scenery first, then the actors.
            meshes: Their meshes.
            static: Number of solids that are scenery.
            sun: Unit vector towards the sun.
            eye: Place of the camera.
            shared: Results of this tick, where the map of the actors is kept.
        """
        rise = max(sun[2], _LOWEST_SUN)
        shear = (sun[0] / rise, sun[1] / rise)
        level = 8.0 * math.floor(eye[2] / 8.0)
        drop = eye[2] - level
        near = self._corner(eye, shear, drop, _NEAR_STEP_M, NEAR_CELL_M)
        far = self._corner(eye, shear, drop, _FAR_STEP_M, FAR_CELL_M)
        key = ("actors' shadows", near, level)
        if key not in shared:
            moving = np.zeros((SIDE, SIDE), np.float32)
            busy = np.zeros((SIDE // _BLOCK, SIDE // _BLOCK), np.bool_)
            grid = (near[0], near[1], NEAR_CELL_M, level)
            _draw(solids, meshes, (static, solids.used), shear, grid, moving, busy)
            shared[key] = (moving, busy)
        moving, busy = shared[key]  # type: ignore[misc]
        near_map = self._static(solids, meshes, static, shear, (*near, NEAR_CELL_M, level))
        far_map = self._static(solids, meshes, static, shear, (*far, FAR_CELL_M, level))
        return SunMaps(shear, level, near, far, near_map, far_map, moving, busy)

    @staticmethod
    def _corner(
        eye: tuple[float, float, float],
        shear: tuple[float, float],
        drop: float,
        step_m: float,
        cell_m: float,
    ) -> tuple[float, float]:
        """Return the corner of a map around the place of a camera, on a grid of steps."""
        half = 0.5 * SIDE * cell_m
        x = math.floor((eye[0] - shear[0] * drop) / step_m + 0.5) * step_m - half
        y = math.floor((eye[1] - shear[1] * drop) / step_m + 0.5) * step_m - half
        return x, y

    def _static(
        self,
        solids: Solids,
        meshes: Meshes,
        static: int,
        shear: tuple[float, float],
        grid: tuple[float, float, float, float],
    ) -> NDArray[np.float32]:
        key = (shear, grid)
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.popitem(last=False)
            drawn = np.zeros((SIDE, SIDE), np.float32)
            busy = np.zeros((SIDE // _BLOCK, SIDE // _BLOCK), np.bool_)
            _draw(solids, meshes, (0, static), shear, grid, drawn, busy)
            self._kept[key] = drawn
        self._kept.move_to_end(key)
        return self._kept[key]


@kernel
def _draw(
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
    shift[2] = _ABOVE_M - level
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
            top, left = max(window[2] - 1, 0) // _BLOCK, max(window[0] - 1, 0) // _BLOCK
            bottom, right = (window[3] // _BLOCK) + 1, (window[1] // _BLOCK) + 1
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
                value = np.float32(above - t - level + _ABOVE_M)
                if value > heights[j, i]:
                    heights[j, i] = value
                    window[0], window[1] = min(window[0], i), max(window[1], i)
                    window[2], window[3] = min(window[2], j), max(window[3], j)


@kernel
def sun_row(
    maps: SunMaps, sun: tuple[float, float, float], surface: NDArray[np.int32], row: Row
) -> None:
    """Write the share of the sun that reaches each pixel of a row: 0 in full shadow."""
    near, far, moving, busy = maps.near, maps.far, maps.moving, maps.busy
    if len(near) == 0:
        return
    kx, ky = maps.shear
    near_x, near_y = maps.near_corner
    far_x, far_y = maps.far_corner
    level = maps.level_m
    sx, sy, sz = sun
    last = SIDE - 2
    for u in range(len(surface)):
        code = surface[u]
        if code == SKY:
            continue
        nx, ny, nz = row.nx[u], row.ny[u], row.nz[u]
        if nx * sx + ny * sy + nz * sz <= 0.0:
            continue
        x, y, z = row.x[u], row.y[u], row.z[u] - level + _LIFT_M
        out = 0.0 if code == GROUND else _MOVE_CELLS * NEAR_CELL_M
        h = z + out * nz
        a = (x + out * nx - kx * h - near_x) * (1.0 / NEAR_CELL_M) - 0.5
        b = (y + out * ny - ky * h - near_y) * (1.0 / NEAR_CELL_M) - 0.5
        i, j = int(a), int(b)
        if a > 0.0 and b > 0.0 and i < last and j < last:
            fa, fb = np.float32(a - i), np.float32(b - j)
            height = np.float32(h + _ABOVE_M)
            h00, h10, h01, h11 = near[j, i], near[j, i + 1], near[j + 1, i], near[j + 1, i + 1]
            if busy[j // _BLOCK, i // _BLOCK]:
                h00, h10 = max(h00, moving[j, i]), max(h10, moving[j, i + 1])
                h01, h11 = max(h01, moving[j + 1, i]), max(h11, moving[j + 1, i + 1])
        else:
            out = 0.0 if code == GROUND else _MOVE_CELLS * FAR_CELL_M
            h = z + out * nz
            a = (x + out * nx - kx * h - far_x) * (1.0 / FAR_CELL_M) - 0.5
            b = (y + out * ny - ky * h - far_y) * (1.0 / FAR_CELL_M) - 0.5
            i, j = int(a), int(b)
            if not (a > 0.0 and b > 0.0 and i < last and j < last):
                continue
            fa, fb = np.float32(a - i), np.float32(b - j)
            height = np.float32(h + _ABOVE_M)
            h00, h10, h01, h11 = far[j, i], far[j, i + 1], far[j + 1, i], far[j + 1, i + 1]
        one, none = np.float32(1.0), np.float32(0.0)
        s00, s10 = one if h00 < height else none, one if h10 < height else none
        s01, s11 = one if h01 < height else none, one if h11 < height else none
        upper = s00 + (s10 - s00) * fa
        row.sun[u] = upper + (s01 + (s11 - s01) * fa - upper) * fb
