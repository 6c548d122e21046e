"""Facades of buildings: walls, rows of windows, doors, and windows that are lit at night."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._rows import hashed, overlap
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._textures import Textures, texel_index

FOUNDATION_M: Final = 1.0  # of a building below its foot, see the rules of the scenery
_BRICK: Final = int(Texture.BRICK)
_PLASTER: Final = int(Texture.PLASTER)
_CONCRETE: Final = int(Texture.CONCRETE)
_ROOF: Final = int(Texture.ROOF_FLAT)
_STOREY_M: Final = 3.1
_LIT: Final = 0.30  # share of the windows with a lamp on


@kernel
def wall_texture(red: float, green: float, blue: float) -> int:
    """Texture of a wall in this linear colour: brick if it is reddish, concrete if grey."""
    if red > 1.6 * green:
        return _BRICK
    if abs(red - blue) < 0.05 * (red + blue):
        return _CONCRETE
    return _PLASTER


@kernel
def facade(
    textures: Textures,
    seed: int,
    wall: tuple[float, float, float],
    place: tuple[float, float],
    size: tuple[float, float],
    face: int,
    pixel: float,
    dark: float,
) -> tuple[float, float, float, float, float, float]:
    """Colour of a point of a facade, its gloss, roughness and light of its own.

    Args:
        textures: All textures.
        seed: Number of the building.
        wall: Linear colour of its wall.
        place: Metres from the left edge and above the foot.
        size: Width and height of the facade above the foot.
        face: Side of the building.
        pixel: Metres of the facade that a pixel covers.
        dark: 1 at night.
    """
    texels, first, scale, per_m = textures
    across, up = place
    width, height = size
    kind = wall_texture(wall[0], wall[1], wall[2])
    index = texel_index(first, scale, per_m, kind, across + 0.37 * seed, up, pixel)
    red = wall[0] * texels[index, 0] * 0.0078125
    green = wall[1] * texels[index, 1] * 0.0078125
    blue = wall[2] * texels[index, 2] * 0.0078125
    # Rain and soot: darker near the foot and under the eaves.
    stain = 1.0 - 0.22 * max(1.0 - up / 1.2, 0.0) - 0.12 * max(1.0 - (height - up) / 0.8, 0.0)
    red, green, blue = red * stain, green * stain, blue * stain
    gloss, rough, lamp = 0.02, 0.95, 0.0
    mix = hashed(seed, 17, 3)
    storeys = max(int(height / _STOREY_M + 0.35), 1)
    storey_m = height / storeys
    pitch = 2.3 + 1.3 * ((mix >> 3) & 15) / 15.0
    bays = max(int(width / pitch), 1)
    bay_m = width / bays
    storey = min(int(up / storey_m), storeys - 1)
    bay = min(int(across / bay_m), bays - 1)
    if up < 0.0 or across < 0.0:
        return red, green, blue, gloss, rough, lamp
    a, h = across - bay * bay_m, up - storey * storey_m
    half = (0.24 + 0.10 * ((mix >> 7) & 7) / 7.0) * bay_m
    low, high = 0.30 * storey_m, (0.74 + 0.10 * ((mix >> 10) & 3) / 3.0) * storey_m
    door = False
    if storey == 0:
        if face < 4 and bay == hashed(seed, face, 5) % bays and face == ((mix >> 1) & 2) + 1:
            door, low, high, half = True, 0.0, min(2.25, 0.85 * storey_m), min(0.62, 0.4 * bay_m)
        elif storeys >= 3 and (mix >> 13) & 1:
            low, high, half = 0.14 * storey_m, 0.82 * storey_m, 0.42 * bay_m  # a shop
    middle = 0.5 * bay_m
    # A band of stone between the storeys, a sill under each window.
    if storeys >= 3 and (mix >> 15) & 1:
        band = overlap(h, 0.0, 0.14, pixel) * (0.0 if storey == 0 else 1.0)
        red += band * 0.35 * (0.62 - red)
        green += band * 0.35 * (0.60 - green)
        blue += band * 0.35 * (0.56 - blue)
    frame = 0.09
    outer = overlap(a, middle - half - frame, middle + half + frame, pixel) * overlap(
        h, low - (0.0 if door else 0.16), high + frame, pixel
    )
    if outer <= 0.0:
        return red, green, blue, gloss, rough, lamp
    tone = 0.66 if (mix >> 17) & 1 else 0.30
    red += outer * (tone - red)
    green += outer * (tone * 0.98 - green)
    blue += outer * (tone * 0.94 - blue)
    inner = overlap(a, middle - half, middle + half, pixel) * overlap(h, low, high, pixel)
    if inner <= 0.0:
        return red, green, blue, gloss, rough, lamp
    own = hashed(seed + 131 * face, bay, storey)
    if door:
        tint = (own >> 4) & 3
        r, g, b = 0.10, 0.05, 0.03
        if tint == 1:
            r, g, b = 0.03, 0.07, 0.05
        elif tint == 2:
            r, g, b = 0.04, 0.05, 0.09
        red += inner * (r - red)
        green += inner * (g - green)
        blue += inner * (b - blue)
        return red, green, blue, 0.04, 0.5, lamp
    # Glass with bars, and a curtain in some windows.
    bar = overlap(a, middle - 0.03, middle + 0.03, pixel)
    bar = max(bar, overlap(h, high - 0.32 * (high - low), high - 0.32 * (high - low) + 0.05, pixel))
    shade = 0.018 + 0.02 * ((own >> 6) & 7) / 7.0
    r, g, b = shade, 1.1 * shade, 1.25 * shade
    if (own >> 9) & 3 == 0:
        fold = abs(a - middle) / half
        if fold > 0.45:
            r, g, b = 0.34, 0.32, 0.28
    share = inner * (1.0 - bar)
    red += share * (r - red)
    green += share * (g - green)
    blue += share * (b - blue)
    gloss += share * (0.075 - gloss)
    rough += share * (0.04 - rough)
    if dark > 0.0 and (own & 255) < 256.0 * _LIT:
        lamp = share * dark * (0.035 + 0.06 * ((own >> 12) & 7) / 7.0)
    return red, green, blue, gloss, rough, lamp


@kernel
def roof_cover(
    textures: Textures, wall: tuple[float, float, float], x: float, y: float, pixel: float
) -> tuple[float, float, float]:
    """Colour of a flat roof."""
    texels, first, scale, per_m = textures
    index = texel_index(first, scale, per_m, _ROOF, x, y, pixel)
    tone = texels[index, 0] * 0.0078125
    grey = 0.3 * (wall[0] + wall[1] + wall[2]) / 3.0 + 0.08
    return tone * grey, tone * grey, tone * grey


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
