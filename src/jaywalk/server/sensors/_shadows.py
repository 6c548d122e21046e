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

from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._rows import Row
from jaywalk.server.sensors._shadow_maps import ABOVE_M, BLOCK, SIDE, draw_heights
from jaywalk.server.sensors._solids import Solids, kernel
from jaywalk.server.sensors._visibility import GROUND, SKY

NEAR_CELL_M: Final = 0.0625
FAR_CELL_M: Final = 0.25
_NEAR_STEP_M: Final = 16.0  # maps move in steps of this size
_FAR_STEP_M: Final = 64.0
_LOWEST_SUN: Final = 0.12  # sine of the altitude; a lower sun casts shadows as if it were there
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
            busy = np.zeros((SIDE // BLOCK, SIDE // BLOCK), np.bool_)
            grid = (near[0], near[1], NEAR_CELL_M, level)
            draw_heights(solids, meshes, (static, solids.used), shear, grid, moving, busy)
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
            busy = np.zeros((SIDE // BLOCK, SIDE // BLOCK), np.bool_)
            draw_heights(solids, meshes, (0, static), shear, grid, drawn, busy)
            self._kept[key] = drawn
        self._kept.move_to_end(key)
        return self._kept[key]


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
    last = SIDE - 3
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
        if a > 1.0 and b > 1.0 and i < last and j < last:
            height = h + ABOVE_M
            if busy[j // BLOCK, i // BLOCK]:
                row.sun[u] = min(_lit(near, i, j, a, b, height), _lit(moving, i, j, a, b, height))
            else:
                row.sun[u] = _lit(near, i, j, a, b, height)
            continue
        out = 0.0 if code == GROUND else _MOVE_CELLS * FAR_CELL_M
        h = z + out * nz
        a = (x + out * nx - kx * h - far_x) * (1.0 / FAR_CELL_M) - 0.5
        b = (y + out * ny - ky * h - far_y) * (1.0 / FAR_CELL_M) - 0.5
        i, j = int(a), int(b)
        if a > 1.0 and b > 1.0 and i < last and j < last:
            row.sun[u] = _lit(far, i, j, a, b, h + ABOVE_M)


@kernel
def _lit(heights: NDArray[np.float32], i: int, j: int, a: float, b: float, height: float) -> float:
    """Share of the cells around a place, (j, i) and its neighbours, that the sun reaches there."""
    shaded = (heights[j, i] >= height) + (heights[j, i + 1] >= height)
    shaded += (heights[j + 1, i] >= height) + (heights[j + 1, i + 1] >= height)
    shaded += (heights[j - 1, i - 1] >= height) + (heights[j - 1, i + 2] >= height)
    shaded += (heights[j + 2, i - 1] >= height) + (heights[j + 2, i + 2] >= height)
    if shaded == 0:
        return 1.0
    if shaded == 8:
        return 0.0
    # Near an edge: a tent over four by four cells.
    fa, fb = a - i, b - j
    total = 0.0
    for q in range(4):
        down = 1.0 - fb if q == 0 else fb if q == 3 else 1.0
        for p in range(4):
            if heights[j - 1 + q, i - 1 + p] < height:
                total += down * (1.0 - fa if p == 0 else fa if p == 3 else 1.0)
    return total / 9.0
