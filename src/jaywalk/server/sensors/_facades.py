"""Facades of buildings: walls, rows of windows, doors, and windows that are lit at night."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._rows import Row, hashed
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._textures import LEVELS, Textures, texel_index

FOUNDATION_M: Final = 1.0  # of a building below its foot, see the rules of the scenery
_BRICK: Final = int(Texture.BRICK)
_PLASTER: Final = int(Texture.PLASTER)
_CONCRETE: Final = int(Texture.CONCRETE)
_ROOF: Final = int(Texture.ROOF_FLAT)
_STOREY_M: Final = 3.1
_LIT: Final = 0.30  # share of the windows with a lamp on
_FRAME_M: Final = 0.09  # around a window
_CONTACT_M: Final = 1.6  # walls are darker this near to their foot


@kernel
def wall_texture(red: float, green: float, blue: float) -> int:
    """Texture of a wall in this linear colour: brick if it is reddish, concrete if grey."""
    if red > 1.6 * green:
        return _BRICK
    if abs(red - blue) < 0.05 * (red + blue):
        return _CONCRETE
    return _PLASTER


@kernel
def facade_run(
    textures: Textures,
    seed: int,
    wall: tuple[float, float, float],
    face: tuple[int, float, float],
    start: tuple[float, float],
    dark: float,
    form: NDArray[np.float64],
    k: int,
    focal_px: float,
    span: tuple[int, int],
    row: Row,
) -> None:
    """Write the colours of a run of pixels that show one facade.

    Args:
        textures: All textures.
        seed: Number of the building.
        wall: Linear colour of its wall.
        face: Side of the building, width and height of the facade above the foot.
        start: What to add to the place along the building's axes: its left edge and its foot.
        dark: 1 at night.
        form: Of the solids.
        k: The building.
        focal_px: Of the camera.
        span: First pixel of the run, and the one after its last.
        row: The row.
    """
    texels, first, sizes, per_m = textures
    part, width, height = face
    kind = wall_texture(wall[0], wall[1], wall[2])
    mix = hashed(seed, 17, 3)
    storeys = max(int(height / _STOREY_M + 0.35), 1)
    storey_m = height / storeys
    bays = max(int(width / (2.3 + 1.3 * ((mix >> 3) & 15) / 15.0)), 1)
    bay_m = width / bays
    per_storey, per_bay = 1.0 / storey_m, 1.0 / bay_m
    usual_half = (0.24 + 0.10 * ((mix >> 7) & 7) / 7.0) * bay_m
    usual_low = 0.30 * storey_m
    usual_high = (0.74 + 0.10 * ((mix >> 10) & 3) / 3.0) * storey_m
    door_bay = -1
    if part == ((mix >> 1) & 2) + 1:
        door_bay = hashed(seed, part, 5) % bays
    shops = storeys >= 3 and (mix >> 13) & 1
    banded = storeys >= 3 and (mix >> 15) & 1
    stone = 0.66 if (mix >> 17) & 1 else 0.30
    middle = 0.5 * bay_m
    last_bay, last_storey, own = -1, -1, 0
    # The size of the texture changes little from pixel to pixel.
    level, side = 0, sizes[kind]
    fine = per_m[kind] * side
    axis = 3 * (1 if part < 2 else 0) + 3
    ax, ay, az = form[k, axis], form[k, axis + 1], form[k, axis + 2]
    bx, by, bz = form[k, 9], form[k, 10], form[k, 11]
    cx, cy, cz = form[k, 0], form[k, 1], form[k, 2]
    nx, ny, nz = row.nx[span[0]], row.ny[span[0]], row.nz[span[0]]
    for u in range(span[0], span[1]):
        px, py, pz = row.x[u] - cx, row.y[u] - cy, row.z[u] - cz
        across = ax * px + ay * py + az * pz + start[0]
        up = bx * px + by * py + bz * pz + start[1]
        facing = max(abs(nx * row.dx[u] + ny * row.dy[u] + nz * row.dz[u]), 0.1)
        pixel = row.far[u] / (focal_px * math.sqrt(facing))
        while pixel * fine > 1.4 and level < LEVELS - 1 and side > 1:
            fine, side, level = 0.5 * fine, side >> 1, level + 1
        while level > 0 and pixel * fine <= 0.7:
            fine, side, level = 2.0 * fine, side << 1, level - 1
        i = math.floor((across + 0.37 * seed) * fine) & (side - 1)
        j = math.floor(up * fine) & (side - 1)
        index = first[kind, level] + j * side + i
        # Rain and soot: darker near the foot and under the eaves.
        stain = 1.0 - 0.22 * max(1.0 - up / 1.2, 0.0) - 0.12 * max(1.0 - (height - up) / 0.8, 0.0)
        stain *= 0.0078125
        red = wall[0] * texels[index, 0] * stain
        green = wall[1] * texels[index, 1] * stain
        blue = wall[2] * texels[index, 2] * stain
        gloss, rough, lamp = 0.02, 0.95, 0.0
        row.open[u] = 0.6 + 0.4 * min(max(up, 0.0) / _CONTACT_M, 1.0)
        storey = min(int(up * per_storey), storeys - 1)
        bay = min(int(across * per_bay), bays - 1)
        if up >= 0.0 and across >= 0.0:
            inverse = 1.0 / pixel
            a, h = across - bay * bay_m, up - storey * storey_m
            door = storey == 0 and bay == door_bay
            half, low, high, sill = usual_half, usual_low, usual_high, 0.16
            if storey == 0 and (door or shops):
                half, low, high, sill = _ground_floor(door, bay_m, storey_m)
            # A band of stone between the storeys, a sill under each window.
            if banded and storey > 0:
                share = 0.35 * _cover(h, 0.0, 0.14, pixel, inverse)
                red += share * (0.62 - red)
                green += share * (0.60 - green)
                blue += share * (0.56 - blue)
            outer = _cover(a, middle - half - _FRAME_M, middle + half + _FRAME_M, pixel, inverse)
            if outer > 0.0:
                outer *= _cover(h, low - sill, high + _FRAME_M, pixel, inverse)
            if outer > 0.0:
                red += outer * (stone - red)
                green += outer * (stone * 0.98 - green)
                blue += outer * (stone * 0.94 - blue)
                inner = _cover(a, middle - half, middle + half, pixel, inverse)
                inner *= _cover(h, low, high, pixel, inverse)
                if inner > 0.0:
                    if bay != last_bay or storey != last_storey:
                        own = hashed(seed + 131 * part, bay, storey)
                        last_bay, last_storey = bay, storey
                    r, g, b, share, gloss, rough, lamp = _filling(
                        own, door, inner, a - middle, h, half, low, high, pixel, dark
                    )
                    red += share * (r - red)
                    green += share * (g - green)
                    blue += share * (b - blue)
        row.red[u], row.green[u], row.blue[u] = red, green, blue
        row.gloss[u], row.rough[u] = gloss, rough
        row.own_red[u], row.own_green[u], row.own_blue[u] = lamp, 0.72 * lamp, 0.38 * lamp


@kernel
def _ground_floor(door: bool, bay_m: float, storey_m: float) -> tuple[float, float, float, float]:
    """Half width, lower and upper edge and sill of a door or a shop window."""
    if door:
        return min(0.62, 0.4 * bay_m), 0.0, min(2.25, 0.85 * storey_m), 0.0
    return 0.42 * bay_m, 0.14 * storey_m, 0.82 * storey_m, 0.16


@kernel
def _filling(
    own: int,
    door: bool,
    inner: float,
    a: float,
    h: float,
    half: float,
    low: float,
    high: float,
    pixel: float,
    dark: float,
) -> tuple[float, float, float, float, float, float, float]:
    """Colour of what fills an opening, its share of the pixel, gloss, roughness and lamp."""
    if door:
        tint = (own >> 4) & 3
        r, g, b = 0.10, 0.05, 0.03
        if tint == 1:
            r, g, b = 0.03, 0.07, 0.05
        elif tint == 2:
            r, g, b = 0.04, 0.05, 0.09
        return r, g, b, inner, 0.04, 0.5, 0.0
    # Glass with bars, and a curtain in some windows.
    inverse = 1.0 / pixel
    bar = _cover(a, -0.03, 0.03, pixel, inverse)
    rail = high - 0.32 * (high - low)
    bar = max(bar, _cover(h, rail, rail + 0.05, pixel, inverse))
    shade = 0.018 + 0.02 * ((own >> 6) & 7) / 7.0
    r, g, b = shade, 1.1 * shade, 1.25 * shade
    if (own >> 9) & 3 == 0 and abs(a) > 0.45 * half:
        r, g, b = 0.34, 0.32, 0.28
    share = inner * (1.0 - bar)
    lamp = 0.0
    if dark > 0.0 and (own & 255) < 256.0 * _LIT:
        lamp = share * dark * (0.035 + 0.06 * ((own >> 12) & 7) / 7.0)
    return r, g, b, share, 0.02 + share * 0.055, 0.95 - share * 0.91, lamp


@kernel
def _cover(at: float, low: float, high: float, pixel: float, inverse: float) -> float:
    """Share of the interval of length ``pixel`` around ``at`` that lies between two values."""
    return max(min(at + 0.5 * pixel, high) - max(at - 0.5 * pixel, low), 0.0) * inverse


@kernel
def roof_run(
    textures: Textures,
    wall: tuple[float, float, float],
    focal_px: float,
    span: tuple[int, int],
    row: Row,
) -> None:
    """Write the colours of a run of pixels that show a flat roof."""
    texels, first, sizes, per_m = textures
    grey = 0.3 * (wall[0] + wall[1] + wall[2]) / 3.0 + 0.08
    for u in range(span[0], span[1]):
        facing = max(abs(row.nz[u] * row.dz[u]), 0.1)
        pixel = row.far[u] / (focal_px * math.sqrt(facing))
        index = texel_index(first, sizes, per_m, _ROOF, row.x[u], row.y[u], pixel)
        tone = texels[index, 0] * 0.0078125 * grey
        row.red[u], row.green[u], row.blue[u] = tone, tone, tone
        row.gloss[u], row.rough[u] = 0.02, 0.95


@kernel
def local(
    form: NDArray[np.float64], k: int, part: int, x: float, y: float, z: float
) -> tuple[float, float]:
    """Place on a face of a box: metres from its left edge and above its lower edge."""
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    axis = 1 if part < 2 else 0
    first = 3 * axis + 3
    along = form[k, first] * px + form[k, first + 1] * py + form[k, first + 2] * pz
    up = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
    if part >= 4:
        other = form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz
        return along + form[k, 12 + axis], other + form[k, 13]
    return along + form[k, 12 + axis], up + form[k, 14]
