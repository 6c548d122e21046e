"""One row of a picture on its way to colours: what each pixel shows, before it is lit."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._solids import kernel

Values = NDArray[np.float32]


class Row(NamedTuple):
    """Columns of one row; colours are linear."""

    x: NDArray[np.float64]  # place in the world
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    far: Values  # depth along the camera axis
    dx: Values  # unit vector of the ray
    dy: Values
    dz: Values
    nx: Values  # unit normal
    ny: Values
    nz: Values
    red: Values  # share of light that the surface throws back
    green: Values
    blue: Values
    gloss: Values  # share that it mirrors when seen straight on
    rough: Values
    own_red: Values  # light of its own
    own_green: Values
    own_blue: Values
    open: Values  # share of the sky that lights it
    sun: Values  # share of the sun that reaches it
    lamp_red: Values  # light of lamps
    lamp_green: Values
    lamp_blue: Values


def new_row(width: int) -> Row:
    """Return a row with room for a picture's width."""
    x, y, z = np.zeros(width), np.zeros(width), np.zeros(width)
    return Row(x, y, z, *(np.zeros(width, np.float32) for _ in range(20)))


def _linear(steps: int) -> NDArray[np.float32]:
    value = np.arange(steps) / (steps - 1)
    low, high = value / 12.92, ((value + 0.055) / 1.055) ** 2.4
    return np.where(value <= 0.04045, low, high).astype(np.float32)


LINEAR: Final = _linear(256)  # sRGB to linear


@kernel
def hashed(a: int, b: int, c: int) -> int:
    """Return 24 well mixed bits of three whole numbers."""
    mix = (a * 73856093) ^ (b * 19349663) ^ (c * 83492791)
    mix = (mix ^ ((mix >> 15) & 0x1FFFF)) * 2246822519
    mix = mix & 0xFFFFFFFF
    mix = (mix ^ (mix >> 13)) * 3266489917
    mix = mix & 0xFFFFFFFF
    return (mix ^ (mix >> 16)) & 0xFFFFFF
