"""The ground in one row of a picture: asphalt, paving, kerbs, grass, paint, water."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._road_paint import (
    INDEX_CELL_M,
    MIXED,
    ROAD,
    SIDEWALK,
    RoadPaint,
    paint_at,
    share_at,
)
from jaywalk.server.sensors._rows import LINEAR, Row
from jaywalk.server.sensors._solids import as_int64, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height
from jaywalk.server.sensors._textures import Textures, texel_index
from jaywalk.server.sensors._visibility import GROUND
from jaywalk.server.sensors._weather import SceneLight

# Colour (sRGB) and texture of the ground by CARLA label; labels without a row look like earth.
_LOOKS: Final = {
    SemanticTag.ROAD: ((88, 88, 91), Texture.ASPHALT),
    SemanticTag.SIDEWALK: ((150, 146, 140), Texture.PAVING),
    SemanticTag.BUILDING: ((130, 125, 120), Texture.CONCRETE),
    SemanticTag.TRAFFIC_SIGN: ((200, 200, 200), Texture.NONE),
    SemanticTag.VEGETATION: ((74, 98, 48), Texture.GRASS),
    SemanticTag.TERRAIN: ((92, 108, 56), Texture.GRASS),
    SemanticTag.OTHER: ((125, 118, 105), Texture.GRAVEL),
    SemanticTag.WATER: ((40, 62, 76), Texture.WATER),
    SemanticTag.ROAD_LINE: ((216, 214, 206), Texture.NONE),
    SemanticTag.GROUND: ((136, 126, 108), Texture.GRAVEL),
    SemanticTag.BRIDGE: ((120, 120, 122), Texture.CONCRETE),
    SemanticTag.RAIL_TRACK: ((105, 98, 92), Texture.GRAVEL),
}
_EARTH: Final = ((122, 112, 95), Texture.GRAVEL)


def _looks() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    colors = np.empty((256, 3), np.float32)
    colors[:] = LINEAR[list(_EARTH[0])]
    kinds = np.full(256, int(_EARTH[1]), np.int64)
    for label, (color, kind) in _LOOKS.items():
        colors[label], kinds[label] = LINEAR[list(color)], int(kind)
    return colors, kinds


GROUND_COLORS, GROUND_TEXTURES = _looks()
_ASPHALT: Final = int(Texture.ASPHALT)
_KERB: Final = int(Texture.KERB)
_WATER: Final = int(Texture.WATER)
_GRASS: Final = int(Texture.GRASS)
_TERRAIN: Final = int(SemanticTag.TERRAIN)
_KERB_COLOR: Final = float(LINEAR[172])
_PAINT: Final = float(LINEAR[222])
_YELLOW: Final = (float(LINEAR[226]), float(LINEAR[170]), float(LINEAR[44]))
_KERB_SHARE: Final = 0.045  # share of road at the inner edge of a kerb stone, 0.16 m from the road
_GUTTER: Final = 0.82  # the road is darker beside a kerb
_WATER_M: Final = 11.0  # size of the pattern of puddles


@kernel
def ground_row(
    paint: RoadPaint,
    relief: Relief,
    textures: Textures,
    light: SceneLight,
    surface: NDArray[np.int32],
    focal_px: float,
    row: Row,
) -> None:
    """Write the ground's part of a row."""
    texels, first, size, per_m = textures
    flat = relief.low_m == relief.high_m
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        x, y = row.x[u], row.y[u]
        dx, dy, dz = row.dx[u], row.dy[u], row.dz[u]
        nx, ny, nz = 0.0, 0.0, 1.0
        if not flat:
            z = row.z[u]
            east = ground_height(relief, x + 0.5, y, z) - ground_height(relief, x - 0.5, y, z)
            south = ground_height(relief, x, y + 0.5, z) - ground_height(relief, x, y - 0.5, z)
            nz = 1.0 / math.sqrt(east * east + south * south + 1.0)
            nx, ny = -east * nz, -south * nz
        row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
        # The footprint of a pixel: wide across the ray, long along it.
        wide = row.far[u] / focal_px
        facing = max(abs(dx * nx + dy * ny + dz * nz), 0.02)
        long = wide / facing
        pixel = math.sqrt(wide * long)
        label, road, walk = _classes(paint, x, y)
        inside = label >= 0
        label = label if inside else _TERRAIN
        sharp = paint.cell_m / max(min(pixel, paint.cell_m), 1e-3)
        road_on = min(max((road - 0.5) * sharp + 0.5, 0.0), 1.0)
        red, green, blue = 0.0, 0.0, 0.0
        gloss, rough = 0.02, 0.95
        if road_on < 1.0:
            red, green, blue = _verge(textures, (x, y), pixel, label, (road, walk), sharp)
        if road_on > 0.0:
            ahead = (1.0, 0.0)
            if abs(dx) + abs(dy) > 1e-6:
                flat_length = math.sqrt(dx * dx + dy * dy)
                ahead = (dx / flat_length, dy / flat_length)
            r, g, b = _asphalt(paint, textures, (x, y), ahead, (wide, long, pixel), inside)
            if road < 0.72 and walk > 0.0:
                r, g, b = r * _GUTTER, g * _GUTTER, b * _GUTTER
            red += road_on * (r - red)
            green += road_on * (g - green)
            blue += road_on * (b - blue)
        if light.wet > 0.0 and (label != _TERRAIN or road > 0.0 or walk > 0.0):
            index = texel_index(
                first, size, per_m, _WATER, x * 4.0 / _WATER_M, y * 4.0 / _WATER_M, pixel
            )
            dark, gloss, rough = _soaked(light, texels[index, 0], road_on)
            red, green, blue = red * dark, green * dark, blue * dark
        row.red[u], row.green[u], row.blue[u] = red, green, blue
        row.gloss[u], row.rough[u] = gloss, rough
        row.own_red[u] = row.own_green[u] = row.own_blue[u] = 0.0
        row.open[u] = 1.0


@kernel
def _soaked(light: SceneLight, hollow: float, road_on: float) -> tuple[float, float, float]:
    """Factor of the colour, gloss and roughness of wet ground; water stands where it is low."""
    pool = 0.0
    if light.puddles > 0.0:
        pool = min(max((148.0 - hollow) * 0.04 + 4.2 * (light.puddles - 0.55), 0.0), 1.0)
        pool *= 1.0 if road_on > 0.5 else 0.5
    dark = (1.0 - 0.45 * light.wet) * (1.0 - 0.35 * pool)
    rough = 0.95 - 0.60 * light.wet
    return dark, 0.02 + 0.005 * light.wet, rough + pool * (0.03 - rough)


@kernel
def _asphalt(
    paint: RoadPaint,
    textures: Textures,
    place: tuple[float, float],
    ahead: tuple[float, float],
    footprint: tuple[float, float, float],
    inside: bool,
) -> tuple[float, float, float]:
    """Colour of the road with its paint.

    Args:
        paint: The ground.
        textures: All textures.
        place: Where, in the world.
        ahead: Unit vector along which the footprint of the pixel is long.
        footprint: Its width, length and mean, metres.
        inside: The place lies in the town's raster.
    """
    texels, first, size, per_m = textures
    x, y = place
    pixel = footprint[2]
    index = texel_index(first, size, per_m, _ASPHALT, x, y, pixel)
    tone = texels[index, 0] * 0.0078125
    # Patches and worn lanes, from the same texture at another scale.
    index = texel_index(first, size, per_m, _ASPHALT, 0.053 * x + 0.7, 0.047 * y, 0.05 * pixel)
    tone *= 0.72 + 0.28 * texels[index, 0] * 0.0078125
    red = tone * GROUND_COLORS[ROAD, 0]
    green = tone * GROUND_COLORS[ROAD, 1]
    blue = tone * GROUND_COLORS[ROAD, 2]
    if not inside or len(paint.items) == 0:
        return red, green, blue
    column = int((x - paint.x0_m) * (1.0 / INDEX_CELL_M))
    cell = int((y - paint.y0_m) * (1.0 / INDEX_CELL_M)) * paint.index_columns + column
    if paint.starts[cell] == paint.starts[cell + 1]:
        return red, green, blue
    painted, yellow = paint_at(
        paint.bands, paint.starts, paint.items, cell, x, y, ahead, footprint[0], footprint[1]
    )
    if painted > 0.0:
        yellow /= painted
        painted *= min(max(0.72 + 0.30 * tone, 0.0), 1.0)  # worn where stones show
        red += painted * (_PAINT + yellow * (_YELLOW[0] - _PAINT) - red)
        green += painted * (_PAINT + yellow * (_YELLOW[1] - _PAINT) - green)
        blue += painted * (0.98 * _PAINT + yellow * (_YELLOW[2] - _PAINT) - blue)
    return red, green, blue


@kernel
def _classes(paint: RoadPaint, x: float, y: float) -> tuple[int, float, float]:
    """Label of the ground (-1 outside the raster) and the shares of road and sidewalk."""
    rows, columns = paint.kind.shape
    u, v = (x - paint.x0_m) / paint.cell_m, (y - paint.y0_m) / paint.cell_m
    i, j = math.floor(u), math.floor(v)
    if i < 0 or j < 0 or i >= columns or j >= rows:
        return -1, 0.0, 0.0
    label = as_int64(paint.kind[j, i])
    if label != MIXED:
        return label, 1.0 if label == ROAD else 0.0, 1.0 if label == SIDEWALK else 0.0
    road, walk = share_at(paint.road, u, v), share_at(paint.walk, u, v)
    return as_int64(paint.label[j, i]), road, walk


@kernel
def _verge(
    textures: Textures,
    place: tuple[float, float],
    pixel: float,
    label: int,
    shares: tuple[float, float],
    sharp: float,
) -> tuple[float, float, float]:
    """Colour of the ground beside the road: sidewalk, kerb stones, grass and others."""
    texels, first, size, per_m = textures
    x, y = place
    road, walk = shares
    walk_on = min(max((walk - 0.5) * sharp + 0.5, 0.0), 1.0)
    if road > 0.0 and walk > 0.0:
        walk_on = max(walk_on, min(2.0 * walk, 1.0))  # the sidewalk reaches up to the road
    red, green, blue = 0.0, 0.0, 0.0
    if walk_on < 1.0:
        if label in (ROAD, SIDEWALK):
            label = _TERRAIN
        index = texel_index(first, size, per_m, GROUND_TEXTURES[label], x, y, pixel)
        patch = 0.0078125
        if GROUND_TEXTURES[label] == _GRASS:
            # Patches of several metres keep a meadow from looking like a carpet.
            other = texel_index(first, size, per_m, _GRASS, 0.09 * y + 1.1, 0.083 * x, 0.09 * pixel)
            patch *= 0.62 + 0.38 * texels[other, 0] * 0.0078125
        red = GROUND_COLORS[label, 0] * texels[index, 0] * patch
        green = GROUND_COLORS[label, 1] * texels[index, 1] * patch
        blue = GROUND_COLORS[label, 2] * texels[index, 2] * patch
    if walk_on > 0.0:
        index = texel_index(first, size, per_m, GROUND_TEXTURES[SIDEWALK], x, y, pixel)
        tone = texels[index, 0] * 0.0078125
        red += walk_on * (tone * GROUND_COLORS[SIDEWALK, 0] - red)
        green += walk_on * (tone * GROUND_COLORS[SIDEWALK, 1] - green)
        blue += walk_on * (tone * GROUND_COLORS[SIDEWALK, 2] - blue)
    if 0.0 < road < 1.0 and walk > 0.0:
        kerb_on = min(max((road - _KERB_SHARE) * sharp * 3.0 + 0.5, 0.0), 1.0)
        index = texel_index(first, size, per_m, _KERB, x + y, 0.0, pixel)
        tone = texels[index, 0] * 0.0078125 * _KERB_COLOR
        red += kerb_on * (tone - red)
        green += kerb_on * (tone - green)
        blue += kerb_on * (tone * 0.97 - blue)
    return red, green, blue
