"""Solids and the sky in one row of a picture."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._facades import FOUNDATION_M, facade_run, local, roof_run
from jaywalk.server.sensors._intersect import ROUND, solid_normal
from jaywalk.server.sensors._lamps import COLORS, NO_LAMP, lamp_at, shines
from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._rows import LINEAR, Row
from jaywalk.server.sensors._solids import (
    CUT_OUT,
    GLASS,
    HULL,
    LOWER,
    MESH,
    PICTURE,
    PLAIN,
    UPPER,
    WINDOWS,
    Pictures,
    Solids,
    as_int64,
    ink_at,
    kernel,
)
from jaywalk.server.sensors._textures import Textures, texel_index
from jaywalk.server.sensors._visibility import SKY
from jaywalk.server.sensors._weather import SceneLight, sky_color

# Textures of scenery by CARLA label, for boxes and for round solids; other labels have none.
_BOXES: Final = {
    SemanticTag.WALL: Texture.BRICK,
    SemanticTag.FENCE: Texture.WOOD,
    SemanticTag.VEGETATION: Texture.HEDGE,
    SemanticTag.GUARD_RAIL: Texture.METAL,
    SemanticTag.SIDEWALK: Texture.PAVING,
    SemanticTag.BUILDING: Texture.PLASTER,
}
_ROUNDS: Final = {
    SemanticTag.VEGETATION: Texture.HEDGE,
    SemanticTag.POLE: Texture.METAL,
}


def _by_label(textures: dict[SemanticTag, Texture]) -> NDArray[np.int64]:
    table = np.zeros(256, np.int64)
    for label, texture in textures.items():
        table[label] = int(texture)
    return table


_BOX_TEXTURES, _ROUND_TEXTURES = _by_label(_BOXES), _by_label(_ROUNDS)
_VEGETATION: Final = int(SemanticTag.VEGETATION)
_BARK: Final = int(Texture.BARK)
_CLOUDS: Final = int(Texture.CLOUDS)


@kernel
def _shows_glass(
    form: NDArray[np.float64], pattern: int, k: int, part: int, x: float, y: float, z: float
) -> bool:
    """True where the pattern of a vehicle's box has a window at a point of one of its sides."""
    if part >= 4 or pattern == HULL:  # no windows in roofs
        return False
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    axis = 1 if part < 2 else 0
    first = 3 * axis + 3
    along = form[k, first] * px + form[k, first + 1] * py + form[k, first + 2] * pz
    up = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz + form[k, 14]
    side = abs(along) / max(form[k, 12 + axis], 1e-6)
    share = up / max(2.0 * form[k, 14], 1e-6)
    if pattern == GLASS:
        return bool(side < 0.93 and share < 0.88)
    # BUS_WINDOWS: all sides but the back
    return bool(side < 0.94 and 0.52 < share < 0.88 and part != 1)


@kernel
def _shows_picture(pattern: int, part: int) -> bool:
    """True for the faces with ink: both large ones, of cut-outs only the front."""
    return bool(part == UPPER or (part == LOWER and pattern < CUT_OUT))


@kernel
def _building_run(
    solids: Solids,
    textures: Textures,
    code: int,
    wall: tuple[float, float, float],
    dark: float,
    focal_px: float,
    span: tuple[int, int],
    row: Row,
) -> None:
    form, k, part = solids.form, code >> 3, code & 7
    if part >= 4:
        roof_run(textures, wall, focal_px, span, row)
        return
    half = form[k, 13] if part < 2 else form[k, 12]
    height = 2.0 * form[k, 14] - FOUNDATION_M
    start = (half, form[k, 14] - FOUNDATION_M)
    seed = as_int64(solids.instance[k])
    face = (part, 2.0 * half, height)
    facade_run(textures, seed, wall, face, start, dark, form, k, focal_px, span, row)


@kernel
def _vehicle(
    form: NDArray[np.float64],
    pattern: int,
    flags: int,
    k: int,
    part: int,
    place: tuple[float, float, float],
    paint: tuple[float, float, float],
) -> tuple[tuple[float, float, float], float, float, float]:
    """Colour of a point of a vehicle's box, its gloss, its roughness, and 1 if a lamp shines."""
    look = lamp_at(form, pattern, flags, k, part, place)
    if look != NO_LAMP:
        red = float(LINEAR[COLORS[look, 0]])
        green = float(LINEAR[COLORS[look, 1]])
        blue = float(LINEAR[COLORS[look, 2]])
        if shines(look):
            return (1.3 * red, 1.3 * green, 1.3 * blue), 0.0, 1.0, 1.0
        return (red, green, blue), 0.05, 0.2, 0.0
    if _shows_glass(form, pattern, k, part, place[0], place[1], place[2]):
        return (0.012, 0.015, 0.018), 0.09, 0.04, 0.0
    return paint, 0.05, 0.2, 0.0


@kernel
def _scenery_run(
    solids: Solids,
    textures: Textures,
    code: int,
    color: tuple[float, float, float],
    focal_px: float,
    span: tuple[int, int],
    row: Row,
) -> None:
    """Write the colours of a run of pixels of the scenery; it is darker near the ground."""
    texels, first, sizes, per_m = textures
    form, k, part = solids.form, code >> 3, code & 7
    label = as_int64(solids.label[k])
    kind = _BOX_TEXTURES[label] if part < ROUND else _ROUND_TEXTURES[label]
    if label == _VEGETATION and part >= ROUND and solids.color[k, 0] > solids.color[k, 1]:
        kind = _BARK
    foot = form[k, 2] - form[k, 14]
    for u in range(span[0], span[1]):
        x, y, z = row.x[u], row.y[u], row.z[u]
        row.open[u] = 0.65 + 0.35 * min(max(z - foot, 0.0) / 0.6, 1.0)
        row.gloss[u], row.rough[u] = 0.02, 0.9
        if kind == 0:
            continue
        across, up = 0.7 * (x - y) + 0.3 * z, z + 0.2 * (x + y)
        if part < ROUND:
            across, up = local(form, k, part, x, y, z)
        pixel = row.far[u] / focal_px
        index = texel_index(first, sizes, per_m, kind, across, up, pixel)
        row.red[u] = color[0] * texels[index, 0] * 0.0078125
        row.green[u] = color[1] * texels[index, 1] * 0.0078125
        row.blue[u] = color[2] * texels[index, 2] * 0.0078125


@kernel
def _picture_run(
    solids: Solids, pictures: Pictures, code: int, focal_px: float, span: tuple[int, int], row: Row
) -> None:
    k, part = code >> 3, code & 7
    pattern = as_int64(solids.pattern[k])
    for u in range(span[0], span[1]):
        row.gloss[u], row.rough[u] = 0.02, 0.9
        if _shows_picture(pattern, part):
            place = (row.x[u], row.y[u], row.z[u])
            r, g, b, _ = ink_at(
                pictures, solids.form, pattern, k, part, place, row.far[u] / focal_px
            )
            row.red[u] = LINEAR[int(r + 0.5)]
            row.green[u] = LINEAR[int(g + 0.5)]
            row.blue[u] = LINEAR[int(b + 0.5)]


@kernel
def _vehicle_run(
    solids: Solids,
    code: int,
    color: tuple[float, float, float],
    exposure: float,
    span: tuple[int, int],
    row: Row,
) -> None:
    """Write the colours of a run of pixels of a vehicle's box."""
    form, k, part = solids.form, code >> 3, code & 7
    pattern, flags = as_int64(solids.pattern[k]), as_int64(solids.lamps[k])
    for u in range(span[0], span[1]):
        place = (row.x[u], row.y[u], row.z[u])
        shown, gloss, rough, lamp = _vehicle(form, pattern, flags, k, part, place, color)
        row.gloss[u], row.rough[u] = gloss, rough
        red, green, blue = shown
        if lamp > 0.0:
            lamp /= exposure
            row.own_red[u], row.own_green[u], row.own_blue[u] = (
                lamp * red,
                lamp * green,
                lamp * blue,
            )
            red = green = blue = 0.0
        row.red[u], row.green[u], row.blue[u] = red, green, blue


@kernel
def solid_row(
    solids: Solids,
    pictures: Pictures,
    textures: Textures,
    light: SceneLight,
    surface: NDArray[np.int32],
    focal_px: float,
    joined: bool,
    row: Row,
) -> None:
    """Write the solids' part of a row, one run of pixels on a face after the other.

    ``joined`` is false if the columns are no neighbours; each is then a run of its own.
    """
    form = solids.form
    width = len(surface)
    end = 0
    while end < width:
        start, code = end, surface[end]
        end += 1
        if code < 0:
            continue
        while joined and end < width and surface[end] == code:
            end += 1
        k, part = code >> 3, code & 7
        if solids.shape[k] == MESH:
            continue
        span = (start, end)
        sign = 1.0 if part % 2 == 0 else -1.0
        at = 3 * (part // 2) + 3
        color = (
            float(LINEAR[solids.color[k, 0]]),
            float(LINEAR[solids.color[k, 1]]),
            float(LINEAR[solids.color[k, 2]]),
        )
        for u in range(start, end):
            if part < ROUND:
                nx, ny, nz = sign * form[k, at], sign * form[k, at + 1], sign * form[k, at + 2]
            else:
                nx, ny, nz = solid_normal(form, solids.shape, k, part, row.x[u], row.y[u], row.z[u])
            row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
            row.red[u], row.green[u], row.blue[u] = color
            row.gloss[u], row.rough[u] = 0.03, 0.7
            row.own_red[u] = row.own_green[u] = row.own_blue[u] = 0.0
            row.open[u] = 1.0
        pattern = as_int64(solids.pattern[k])
        if pattern == WINDOWS:
            _building_run(solids, textures, code, color, light.dark, focal_px, span, row)
        elif pattern >= PICTURE:
            _picture_run(solids, pictures, code, focal_px, span, row)
        elif pattern != PLAIN:
            _vehicle_run(solids, code, color, light.exposure, span, row)
        elif solids.owner[k] < 0:
            _scenery_run(solids, textures, code, color, focal_px, span, row)


@kernel
def _cloud(texels: NDArray[np.uint8], at: int, side: int, x: float, y: float) -> float:
    """Clouds, 0..255, between the texels of a picture that repeats."""
    x, y = x * side, y * side
    i, j = math.floor(x), math.floor(y)
    fx, fy = x - i, y - j
    mask = side - 1
    upper = at + (j & mask) * side
    lower = at + ((j + 1) & mask) * side
    i0, i1 = i & mask, (i + 1) & mask
    a = texels[upper + i0, 0] * (1.0 - fx) + texels[upper + i1, 0] * fx
    b = texels[lower + i0, 0] * (1.0 - fx) + texels[lower + i1, 0] * fx
    return float(a * (1.0 - fy) + b * fy)


@kernel
def sky_row(textures: Textures, light: SceneLight, surface: NDArray[np.int32], row: Row) -> None:
    """Write the sky's part of a row as light of its own."""
    at, side = textures.first[_CLOUDS, 0], textures.size[_CLOUDS]
    texels = textures.texels
    # The share of the sky that clouds cover grows with the cloudiness.
    least = 255.0 * (0.80 - 0.72 * light.cloud)
    white = 0.0
    for m in range(3):
        white += (0.9 * light.direct[m] + 1.35 * light.above[m]) / 3.0
    grey = 0.55 * white * (1.0 - 0.35 * light.rain)
    for u in range(len(surface)):
        if surface[u] != SKY:
            continue
        dx, dy, dz = row.dx[u], row.dy[u], row.dz[u]
        red, green, blue = sky_color(light, dx, dy, dz)
        toward = dx * light.sun[0] + dy * light.sun[1] + dz * light.sun[2]
        cover = 0.0
        if dz > 0.015 and light.cloud > 0.02:
            reach = 0.16 / (dz + 0.10)
            value = _cloud(texels, at, side, dx * reach, dy * reach)
            value += 0.35 * (
                _cloud(texels, at, side, 3.1 * dx * reach + 0.3, 3.1 * dy * reach) - 128.0
            )
            cover = min(max((value - least) / 70.0, 0.0), 1.0)
            thick = min(max((value - least - 40.0) / 130.0, 0.0), 1.0)
            cover *= min(dz * 9.0, 1.0)
            tone = white + thick * (grey - white)
            silver = max(toward, 0.0)
            silver = silver * silver * silver * silver * (1.0 - thick)
            red += cover * (tone * 1.0 + 0.5 * silver * light.glow[0] - red)
            green += cover * (tone * 1.0 + 0.5 * silver * light.glow[1] - green)
            blue += cover * (tone * 1.03 + 0.5 * silver * light.glow[2] - blue)
        if toward > 0.99985 and light.sun[2] > -0.02:
            disc = min((toward - 0.99985) * 12000.0, 1.0) * (1.0 - cover)
            red += disc * 14.0 * light.direct[0]
            green += disc * 14.0 * light.direct[1]
            blue += disc * 14.0 * light.direct[2]
        if dz < 0.0:
            # Far land below the horizon: the colour of haze.
            down = min(-dz * 30.0, 1.0)
            red += down * (light.haze[0] - red)
            green += down * (light.haze[1] - green)
            blue += down * (light.haze[2] - blue)
        row.own_red[u], row.own_green[u], row.own_blue[u] = red, green, blue
        row.red[u] = row.green[u] = row.blue[u] = 0.0
        row.gloss[u], row.rough[u] = 0.0, 1.0
        row.nx[u], row.ny[u], row.nz[u] = 0.0, 0.0, 1.0
        row.open[u] = 1.0
