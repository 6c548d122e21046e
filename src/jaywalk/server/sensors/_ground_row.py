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
_ROAD_RED, _ROAD_GREEN, _ROAD_BLUE = (float(value) for value in GROUND_COLORS[ROAD])
_ASPHALT: Final = int(Texture.ASPHALT)
_KERB: Final = int(Texture.KERB)
_WATER: Final = int(Texture.WATER)
_GRASS: Final = int(Texture.GRASS)
_TERRAIN: Final = int(SemanticTag.TERRAIN)
_KERB_COLOR: Final = float(LINEAR[172])
_PAINT: Final = float(LINEAR[222])
_YELLOW: Final = (float(LINEAR[226]), float(LINEAR[170]), float(LINEAR[44]))
_KERB_M: Final = 0.11  # height of kerbs in pictures
_MOST_KERB_M: Final = 3.0  # length of road that one hides, or of its face, on the ground
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
    """Write the ground's part of a row.

    Sidewalks rise over the road in the picture alone: a pixel shows the kerb's top where the ray
    meets it, its face where the ray passes below the top, and the road before it.
    """
    texels, first, size, per_m = textures
    kind, labels, roads, walks = paint.kind, paint.label, paint.road, paint.walk
    bands, starts, items = paint.bands, paint.starts, paint.items
    x0, y0, cell_m, index_columns = paint.x0_m, paint.y0_m, paint.cell_m, paint.index_columns
    per_cell = 1.0 / cell_m
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
        # The footprint of a pixel: wide across the ray, long along it.
        wide = row.far[u] / focal_px
        facing = max(abs(dx * nx + dy * ny + dz * nz), 0.02)
        long = wide / facing
        pixel = math.sqrt(wide * long)
        level = math.sqrt(dx * dx + dy * dy) + 1e-9
        ahead = (dx / level, dy / level)
        label, road, walk = _classes(
            kind, labels, roads, walks, (x - x0) * per_cell, (y - y0) * per_cell
        )
        inside = label >= 0
        label = label if inside else _TERRAIN
        sharp = cell_m / max(min(pixel, cell_m), 1e-3)
        road_on = min(max((road - 0.5) * sharp + 0.5, 0.0), 1.0)
        # The place where the ray is as high as a kerb.
        back = min(_KERB_M * level / max(-dz, 0.02), _MOST_KERB_M)
        top_x, top_y = x - back * ahead[0], y - back * ahead[1]
        top_label, top_road, top_walk = _classes(
            kind, labels, roads, walks, (top_x - x0) * per_cell, (top_y - y0) * per_cell
        )
        face_on, top_on = 0.0, 1.0 - road_on
        verge_x, verge_y = x, y
        if top_walk > 0.0 and inside:
            before = min(max((top_road - 0.5) * sharp + 0.5, 0.0), 1.0)
            verge_x, verge_y, label = top_x, top_y, top_label
            top_on = 1.0 - before
            face_on = before * (1.0 - road_on)
            road, walk = top_road, top_walk
        elif walk > 0.0 and top_road > 0.5:
            face_on, top_on = 1.0 - road_on, 0.0
        red, green, blue = 0.0, 0.0, 0.0
        gloss, rough = 0.02, 0.95
        if top_on > 0.0:
            red, green, blue = _verge(
                texels, first, size, per_m, (verge_x, verge_y), pixel, label, (road, walk), sharp
            )
        if top_on < 1.0:
            r, g, b = _asphalt(texels, first, size, per_m, x, y, pixel)
            if inside:
                column = int((x - x0) * (1.0 / INDEX_CELL_M))
                cell = int((y - y0) * (1.0 / INDEX_CELL_M)) * index_columns + column
                if starts[cell] != starts[cell + 1]:
                    painted, yellow = paint_at(bands, starts, items, cell, x, y, ahead, wide, long)
                    if painted > 0.0:
                        r, g, b = _painted(r, g, b, painted, yellow)
            if road < 0.72 and walk > 0.0:
                r, g, b = r * _GUTTER, g * _GUTTER, b * _GUTTER
            on = 1.0 - top_on
            red += on * (r - red)
            green += on * (g - green)
            blue += on * (b - blue)
        if face_on > 0.0:
            index = texel_index(first, size, per_m, _KERB, x + y, 0.0, pixel)
            tone = texels[index, 0] * 0.0078125 * 0.86 * _KERB_COLOR
            red += face_on * (tone - red)
            green += face_on * (tone - green)
            blue += face_on * (tone * 0.97 - blue)
            nx, ny, nz = _kerb_normal(
                roads,
                (x - x0) * per_cell,
                (y - y0) * per_cell,
                0.3 * per_cell,
                face_on,
                (nx, ny, nz),
            )
        row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
        if light.wet > 0.0 and (label != _TERRAIN or road > 0.0 or walk > 0.0):
            index = texel_index(
                first, size, per_m, _WATER, x * 4.0 / _WATER_M, y * 4.0 / _WATER_M, pixel
            )
            dark, gloss, rough = _soaked(light, texels[index, 0], 1.0 - top_on)
            red, green, blue = red * dark, green * dark, blue * dark
        row.red[u], row.green[u], row.blue[u] = red, green, blue
        row.gloss[u], row.rough[u] = gloss, rough
        row.own_red[u] = row.own_green[u] = row.own_blue[u] = 0.0
        row.open[u] = 1.0


@kernel
def _kerb_normal(
    roads: NDArray[np.uint8],
    u: float,
    v: float,
    step: float,
    share: float,
    level: tuple[float, float, float],
) -> tuple[float, float, float]:
    """Normal of a pixel of which a share is the face of a kerb; it looks up a little."""
    fx = share_at(roads, u + step, v) - share_at(roads, u - step, v)
    fy = share_at(roads, u, v + step) - share_at(roads, u, v - step)
    steep = math.sqrt(fx * fx + fy * fy)
    if steep <= 1e-6:
        return level
    nx = level[0] + share * (0.92 * fx / steep - level[0])
    ny = level[1] + share * (0.92 * fy / steep - level[1])
    nz = level[2] + share * (0.39 - level[2])
    one = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz)
    return nx * one, ny * one, nz * one


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
    texels: NDArray[np.uint8],
    first: NDArray[np.int64],
    size: NDArray[np.int64],
    per_m: NDArray[np.float64],
    x: float,
    y: float,
    pixel: float,
) -> tuple[float, float, float]:
    """Colour of the road without its paint."""
    index = texel_index(first, size, per_m, _ASPHALT, x, y, pixel)
    tone = texels[index, 0] * 0.0078125
    # Patches and worn lanes, from the same texture at another scale.
    index = texel_index(first, size, per_m, _ASPHALT, 0.053 * x + 0.7, 0.047 * y, 0.05 * pixel)
    tone *= 0.72 + 0.28 * texels[index, 0] * 0.0078125
    return tone * _ROAD_RED, tone * _ROAD_GREEN, tone * _ROAD_BLUE


@kernel
def _painted(
    red: float, green: float, blue: float, painted: float, yellow: float
) -> tuple[float, float, float]:
    """Colour of a place of the road of which a share is paint."""
    yellow /= painted
    # Paint is worn where stones show.
    painted *= min(max(0.72 + 0.30 * red / _ROAD_RED, 0.0), 1.0)
    red += painted * (_PAINT + yellow * (_YELLOW[0] - _PAINT) - red)
    green += painted * (_PAINT + yellow * (_YELLOW[1] - _PAINT) - green)
    blue += painted * (0.98 * _PAINT + yellow * (_YELLOW[2] - _PAINT) - blue)
    return red, green, blue


@kernel
def _classes(
    kind: NDArray[np.uint8],
    labels: NDArray[np.uint8],
    roads: NDArray[np.uint8],
    walks: NDArray[np.uint8],
    u: float,
    v: float,
) -> tuple[int, float, float]:
    """Label of the ground (-1 outside the raster) and the shares of road and sidewalk."""
    rows, columns = kind.shape
    i, j = math.floor(u), math.floor(v)
    if i < 0 or j < 0 or i >= columns or j >= rows:
        return -1, 0.0, 0.0
    label = as_int64(kind[j, i])
    if label != MIXED:
        return label, 1.0 if label == ROAD else 0.0, 1.0 if label == SIDEWALK else 0.0
    return as_int64(labels[j, i]), share_at(roads, u, v), share_at(walks, u, v)


@kernel
def _verge(
    texels: NDArray[np.uint8],
    first: NDArray[np.int64],
    size: NDArray[np.int64],
    per_m: NDArray[np.float64],
    place: tuple[float, float],
    pixel: float,
    label: int,
    shares: tuple[float, float],
    sharp: float,
) -> tuple[float, float, float]:
    """Colour of the ground beside the road: sidewalk, kerb stones, grass and others."""
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
