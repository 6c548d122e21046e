"""Colours of the ground: materials by label, kerbs, paint and water."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._road_paint import ROAD, SIDEWALK, share_at
from jaywalk.server.sensors._rows import LINEAR
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._textures import texel_index
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
ROAD_RED, ROAD_GREEN, ROAD_BLUE = (float(value) for value in GROUND_COLORS[ROAD])
ASPHALT: Final = int(Texture.ASPHALT)
KERB: Final = int(Texture.KERB)
WATER: Final = int(Texture.WATER)
_GRASS: Final = int(Texture.GRASS)
_TERRAIN: Final = int(SemanticTag.TERRAIN)
KERB_COLOR: Final = float(LINEAR[172])
_PAINT: Final = float(LINEAR[222])
_YELLOW: Final = (float(LINEAR[226]), float(LINEAR[170]), float(LINEAR[44]))
_KERB_M: Final = 0.16  # width of a kerb stone
_FILLED_M: Final = 0.15  # gaps of this width between road and sidewalk are paved


@kernel
def kerb_normal(
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
def soaked(light: SceneLight, hollow: float, road_on: float) -> tuple[float, float, float]:
    """Factor of the colour, gloss and roughness of wet ground; water stands where it is low."""
    pool = 0.0
    if light.puddles > 0.0:
        pool = min(max((148.0 - hollow) * 0.04 + 1.6 * (light.puddles - 0.72), 0.0), 1.0)
        pool *= 1.0 if road_on > 0.5 else 0.5
    dark = (1.0 - 0.45 * light.wet) * (1.0 - 0.35 * pool)
    rough = 0.95 - 0.60 * light.wet
    return dark, 0.02 + 0.005 * light.wet, rough + pool * (0.03 - rough)


@kernel
def painted_road(
    red: float, green: float, blue: float, painted: float, yellow: float
) -> tuple[float, float, float]:
    """Colour of a place of the road of which a share is paint."""
    yellow /= painted
    # Paint is worn where stones show.
    painted *= min(max(0.72 + 0.30 * red / ROAD_RED, 0.0), 1.0)
    red += painted * (_PAINT + yellow * (_YELLOW[0] - _PAINT) - red)
    green += painted * (_PAINT + yellow * (_YELLOW[1] - _PAINT) - green)
    blue += painted * (0.98 * _PAINT + yellow * (_YELLOW[2] - _PAINT) - blue)
    return red, green, blue


@kernel
def verge(
    texels: NDArray[np.uint8],
    first: NDArray[np.int64],
    size: NDArray[np.int64],
    per_m: NDArray[np.float64],
    place: tuple[float, float],
    pixel: float,
    label: int,
    shares: tuple[float, float],
    scale: tuple[float, float],
) -> tuple[float, float, float]:
    """Colour of the ground beside the road: sidewalk, kerb stones, grass and others."""
    x, y = place
    road, walk = shares
    sharp, reach_m = scale
    walk_on = min(max((walk - 0.5) * sharp + 0.5, 0.0), 1.0)
    if road > 0.0 and walk > 0.0:
        both = road + walk - 1.0 + _FILLED_M / reach_m  # the sidewalk reaches up to the road
        walk_on = max(walk_on, min(max(both * sharp + 0.5, 0.0), 1.0))
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
        kerb_on = min(max((road - 0.5 + _KERB_M / reach_m) * sharp + 0.5, 0.0), 1.0) * walk_on
        index = texel_index(first, size, per_m, KERB, x + y, 0.0, pixel)
        tone = texels[index, 0] * 0.0078125 * KERB_COLOR
        red += kerb_on * (tone - red)
        green += kerb_on * (tone - green)
        blue += kerb_on * (tone * 0.97 - blue)
    return red, green, blue
