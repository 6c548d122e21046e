"""Where a cut-out texture has something: one test for cameras, LiDARs and radars.

Texture coordinates are metres. The pattern depends on the place alone, so every sensor and every
process sees the same leaves.
"""

from __future__ import annotations

import math
from typing import Final

from jaywalk.server.sensors._solids import kernel

_CELL_M: Final = 0.16  # one leaf or bunch of leaves a cell


@kernel
def leaf_there(u_m: float, v_m: float) -> bool:
    """Return whether a leaf covers a point of a cut-out surface."""
    i, j = math.floor(u_m / _CELL_M), math.floor(v_m / _CELL_M)
    for dj in range(-1, 2):
        for di in range(-1, 2):
            mix = ((i + di) * 73856093) ^ ((j + dj) * 19349663)
            mix = (mix ^ (mix >> 13)) * 1274126177
            x = u_m / _CELL_M - (i + di) - 0.5 - 0.3 * (((mix >> 4) & 255) / 255.0 - 0.5)
            y = v_m / _CELL_M - (j + dj) - 0.5 - 0.3 * (((mix >> 12) & 255) / 255.0 - 0.5)
            turn = 6.283185307179586 * ((mix >> 20) & 255) / 256.0
            c, s = math.cos(turn), math.sin(turn)
            a, b = (c * x + s * y) / 0.68, (c * y - s * x) / 0.36
            if a * a + b * b < 1.0:
                return True
    return False
