"""Streaks of falling rain in front of a picture."""

from __future__ import annotations

from typing import Final

from jaywalk.server.sensors._rows import Row, hashed
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._weather import SceneLight

_LAYERS: Final = 3  # near drops are long and rare, far ones short and frequent
_TICKS_PER_S: Final = 20.0
_SLANT: Final = 0.06  # pixels to the side per pixel down


@kernel
def rain_row(light: SceneLight, time_s: float, height: int, v: int, row: Row) -> None:
    """Draw the streaks over a row of lit pixels; they fall anew at each moment."""
    if light.rain < 0.05:
        return
    width = len(row.red)
    tick = int(time_s * _TICKS_PER_S + 0.5)
    red = 1.25 * light.haze[0] + 0.3 * light.above[0]
    green = 1.25 * light.haze[1] + 0.3 * light.above[1]
    blue = 1.25 * light.haze[2] + 0.3 * light.above[2]
    for layer in range(_LAYERS):
        pitch = max(width // (50 << layer), 2)
        long = 0.20 * height / (1 << layer)
        for column in range(width // pitch + 1):
            mix = hashed(column, 3 * tick + layer, 977)
            if (mix & 255) > 255.0 * light.rain:
                continue
            bottom = ((mix >> 8) & 255) / 255.0 * (height + long)
            above = bottom - v
            if above < 0.0 or above > long:
                continue
            u = int(column * pitch + ((mix >> 16) & 255) * pitch / 256.0 + _SLANT * above)
            if u >= width:
                continue
            share = 0.30 * min(above, long - above) / long * light.rain
            row.red[u] += share * (red - row.red[u])
            row.green[u] += share * (green - row.green[u])
            row.blue[u] += share * (blue - row.blue[u])
