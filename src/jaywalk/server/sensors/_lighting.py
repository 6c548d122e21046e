"""Light on the pixels of one row, and the way from light to the bytes of a picture."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._rows import Row
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._visibility import SKY
from jaywalk.server.sensors._weather import SceneLight, sky_color

_MIRROR: Final = 0.72  # rougher surfaces show no reflection
_AIR_M: Final = 40.0
FOG_STEPS: Final = 2048
FOG_REACH_M: Final = 1024.0


def fog_table(light: SceneLight) -> NDArray[np.float32]:
    """Share of the light of a thing that gets through, by distance in steps of half a metre."""
    far = np.arange(FOG_STEPS + 1) * (FOG_REACH_M / FOG_STEPS)
    clear = np.exp(-light.fog_per_m * np.maximum(far - light.fog_from_m, 0.0))
    return np.asarray(clear, np.float32)


@kernel
def light_row(
    light: SceneLight,
    fog: NDArray[np.float32],
    surface: NDArray[np.int32],
    slant: NDArray[np.float32],
    row: Row,
) -> None:
    """Light a row in place: the result replaces ``red``, ``green`` and ``blue``.

    Args:
        light: Of the scene.
        fog: See ``fog_table``.
        surface: What each pixel shows.
        slant: Length of each pixel's ray per metre along the camera axis.
        row: The row.
    """
    sx, sy, sz = light.sun
    up_r, up_g, up_b = light.above
    low_r, low_g, low_b = light.below
    direct_r, direct_g, direct_b = light.direct
    shines = direct_r > 1e-6 and sz > -0.05
    steps = FOG_STEPS / FOG_REACH_M
    for u in range(len(surface)):
        if surface[u] == SKY:
            # Air is thick near the ground: mist covers the lower sky.
            far = min(_AIR_M / (max(row.dz[u], 0.0) + 0.04) * steps, FOG_STEPS - 1.0)
            clear = fog[int(far)]
            row.red[u] = light.haze[0] + clear * (row.own_red[u] - light.haze[0])
            row.green[u] = light.haze[1] + clear * (row.own_green[u] - light.haze[1])
            row.blue[u] = light.haze[2] + clear * (row.own_blue[u] - light.haze[2])
            continue
        nx, ny, nz = row.nx[u], row.ny[u], row.nz[u]
        above = (0.5 + 0.5 * nz) * row.open[u]
        below = (0.5 - 0.5 * nz) * row.open[u]
        red = above * up_r + below * low_r + row.lamp_red[u]
        green = above * up_g + below * low_g + row.lamp_green[u]
        blue = above * up_b + below * low_b + row.lamp_blue[u]
        sun = 0.0
        if shines:
            sun = max(nx * sx + ny * sy + nz * sz, 0.0) * row.sun[u]
            red += sun * direct_r
            green += sun * direct_g
            blue += sun * direct_b
        red = red * row.red[u] + row.own_red[u]
        green = green * row.green[u] + row.own_green[u]
        blue = blue * row.blue[u] + row.own_blue[u]
        rough = row.rough[u]
        if rough < _MIRROR:
            dx, dy, dz = row.dx[u], row.dy[u], row.dz[u]
            facing = -(dx * nx + dy * ny + dz * nz)
            rx, ry, rz = dx + 2.0 * facing * nx, dy + 2.0 * facing * ny, dz + 2.0 * facing * nz
            grazing = 1.0 - min(max(facing, 0.0), 1.0)
            five = grazing * grazing
            five = five * five * grazing
            clear = (1.0 - rough / _MIRROR) * (1.0 - rough / _MIRROR)
            share = (row.gloss[u] + (1.0 - row.gloss[u]) * five) * clear * row.open[u]
            if rz > 0.0:
                r, g, b = sky_color(light, rx, ry, rz)
            else:
                # The mirrored ground: what the sun and the sky leave on asphalt.
                r, g, b = 0.7 * low_r, 0.7 * low_g, 0.7 * low_b
            if rz < 0.25:
                # Houses and trees stand before the lowest part of the sky.
                town = min((0.25 - max(rz, 0.0)) * 2.4, 0.6)
                r += town * (0.8 * low_r - r)
                g += town * (0.8 * low_g - g)
                b += town * (0.8 * low_b - b)
            red += share * (r - red)
            green += share * (g - green)
            blue += share * (b - blue)
            if shines and sun > 0.0:
                toward = max(rx * sx + ry * sy + rz * sz, 0.0)
                wide = 0.002 + 0.25 * rough * rough
                spot = wide / (wide + (1.0 - toward))
                spot = spot * spot * spot * share * row.sun[u] * (1.2 / (0.15 + rough))
                red += spot * direct_r
                green += spot * direct_g
                blue += spot * direct_b
        far = min(row.far[u] * slant[u] * steps, FOG_STEPS - 1.0)
        clear = fog[int(far)]
        row.red[u] = light.haze[0] + clear * (red - light.haze[0])
        row.green[u] = light.haze[1] + clear * (green - light.haze[1])
        row.blue[u] = light.haze[2] + clear * (blue - light.haze[2])


TONES: Final = 4096
_BRIGHTEST: Final = 16.0


class FilmCurve(NamedTuple):
    """The curve from light to bytes; the defaults are those of CARLA."""

    gamma: float = 2.2
    slope: float = 0.88  # contrast
    black_clip: float = 0.0
    white_clip: float = 0.04
    curved: bool = True  # False: bright light is cut off


_DEFAULT_FILM: Final = FilmCurve()
_MIDDLE: Final = 0.18  # light that the contrast leaves as it is


@lru_cache(maxsize=64)
def tone_table(film: FilmCurve) -> NDArray[np.uint8]:
    """Byte of a light by the square root of its brightness: film curve, then gamma."""
    light = (np.arange(TONES) / (TONES - 1)) ** 2 * _BRIGHTEST
    if film.curved:
        light = _MIDDLE * (light / _MIDDLE) ** (max(film.slope, 0.01) / _DEFAULT_FILM.slope)
        light = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14)
        light = light * (1.0 + film.white_clip - _DEFAULT_FILM.white_clip) - film.black_clip
    return np.rint(255.0 * np.clip(light, 0.0, 1.0) ** (1.0 / film.gamma)).astype(np.uint8)


@kernel
def tone_row(
    row: Row,
    gain: tuple[float, float, float],
    table: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> None:
    """Write the bytes of a row: blue, green, red, 255."""
    scale = (TONES - 1) / math.sqrt(_BRIGHTEST)
    top = TONES - 1.0
    for u in range(len(row.red)):
        out[u, 2] = table[int(min(math.sqrt(max(row.red[u] * gain[0], 0.0)) * scale + 0.5, top))]
        out[u, 1] = table[int(min(math.sqrt(max(row.green[u] * gain[1], 0.0)) * scale + 0.5, top))]
        out[u, 0] = table[int(min(math.sqrt(max(row.blue[u] * gain[2], 0.0)) * scale + 0.5, top))]
        out[u, 3] = 255
