"""Where a cut-out texture has something: one test for cameras, LiDARs and radars.

Texture coordinates are metres. The pattern depends on the place alone, so every sensor and every
process sees the same leaves.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.server.sensors._solids import kernel

_CELL_M: Final = 0.16  # one leaf or bunch of leaves a cell
_LONG, _WIDE = 0.68, 0.36  # half axes of a leaf, in cells
_FARTHEST: Final = 0.463  # square of the distance from its middle that a leaf does not reach
_TURNS: Final = 256
_COS: Final = np.array([math.cos(6.283185307179586 * k / 256.0) for k in range(_TURNS)])
_SIN: Final = np.array([math.sin(6.283185307179586 * k / 256.0) for k in range(_TURNS)])


@kernel
def leaf_there(u_m: float, v_m: float) -> bool:
    """Return whether a leaf covers a point of a cut-out surface."""
    u, v = u_m / _CELL_M, v_m / _CELL_M
    i, j = math.floor(u), math.floor(v)
    for dj in range(-1, 2):
        for di in range(-1, 2):
            mix = ((i + di) * 73856093) ^ ((j + dj) * 19349663)
            mix = (mix ^ (mix >> 13)) * 1274126177
            x = u - (i + di) - 0.5 - 0.3 * (((mix >> 4) & 255) / 255.0 - 0.5)
            y = v - (j + dj) - 0.5 - 0.3 * (((mix >> 12) & 255) / 255.0 - 0.5)
            if x * x + y * y >= _FARTHEST:
                continue
            turn = (mix >> 20) & 255
            c, s = _COS[turn], _SIN[turn]
            a, b = (c * x + s * y) / _LONG, (c * y - s * x) / _WIDE
            if a * a + b * b < 1.0:
                return True
    return False
