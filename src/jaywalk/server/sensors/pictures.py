"""Pictures on solids, in sizes that halve, for kernels to look up.

A picture covers the upper face of a box: columns run along the box's first axis, rows along its
second. Where it is not cut out, the lower face shows it too, readable from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.solids import CUT_OUT, PICTURE

UPPER: Final = 4  # parts of a box that show its picture
LOWER: Final = 5
_SIZES: Final = 8
_INK: Final = 127.5  # alpha from which a pixel is there
_COARSER: Final = 1.5  # texels per pixel from which the next size is taken


class Pictures(NamedTuple):
    """All pictures of a scene: RGBA texels one after the other, and where each size begins."""

    texels: NDArray[np.uint8]  # (n, 4)
    table: NDArray[np.int64]  # (pictures, sizes, 3): first texel, rows, columns


def no_pictures() -> Pictures:
    """The pictures of a scene without any."""
    return Pictures(np.zeros((0, 4), np.uint8), np.zeros((0, _SIZES, 3), np.int64))


def pack_pictures(pictures: Sequence[NDArray[np.uint8]]) -> Pictures:
    """Put (rows, columns, 4) pictures into the form that kernels read."""
    table = np.zeros((len(pictures), _SIZES, 3), np.int64)
    parts, first = [np.zeros((0, 4), np.uint8)], 0
    for number, picture in enumerate(pictures):
        for size in range(_SIZES):
            rows, columns, _ = picture.shape
            table[number, size] = first, rows, columns
            parts.append(picture.reshape(-1, 4))
            first += rows * columns
            picture = _halved(picture)
    return Pictures(np.concatenate(parts), table)


def pattern_of(picture: NDArray[np.uint8], number: int) -> int:
    """What a solid that shows a picture has as its pattern."""
    return number + (CUT_OUT if (picture[..., 3] < _INK).any() else PICTURE)


def _halved(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Half the size: means of 2 x 2 pixels; transparent ones lend no colour."""
    rows, columns, _ = picture.shape
    even = np.pad(picture, ((0, rows % 2), (0, columns % 2), (0, 0)), mode="edge")
    four = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2, 4).astype(np.float64)
    alpha = four[..., 3:].sum(axis=(1, 3))
    colour = (four[..., :3] * four[..., 3:]).sum(axis=(1, 3)) / np.maximum(alpha, 1.0)
    half: NDArray[np.float64] = np.concatenate([colour, alpha / 4.0], axis=-1)
    return np.rint(half).astype(np.uint8)


@kernel
def ink_at(
    pictures: Pictures,
    form: NDArray[np.float64],
    pattern: int,
    k: int,
    part: int,
    place: tuple[float, float, float],
    pixel_m: float,
) -> tuple[float, float, float, bool]:
    """Colour of a picture at a point of solid ``k``, and whether there is any.

    Args:
        pictures: All pictures.
        form: Of the solids.
        pattern: Of the solid.
        k: The solid.
        part: ``UPPER`` or ``LOWER``.
        place: The point, in the world.
        pixel_m: How much of a surface at that distance a pixel of the camera covers.
    """
    px, py, pz = place[0] - form[k, 0], place[1] - form[k, 1], place[2] - form[k, 2]
    across = (form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz) / form[k, 12]
    down = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / form[k, 13]
    # From behind a cut-out is the mirror image of its front; a picture is turned to be readable.
    if part == LOWER and pattern < CUT_OUT:
        across = -across
    number = pattern - (PICTURE if pattern < CUT_OUT else CUT_OUT)
    size = 0
    texels = pixel_m * pictures.table[number, 0, 2] / (2.0 * form[k, 12])
    while texels > _COARSER and size < _SIZES - 1:
        texels *= 0.5
        size += 1
    first, rows, columns = (
        pictures.table[number, size, 0],
        pictures.table[number, size, 1],
        pictures.table[number, size, 2],
    )
    return _blend(pictures.texels, first, rows, columns, 0.5 + 0.5 * across, 0.5 + 0.5 * down)


@kernel
def _blend(
    texels: NDArray[np.uint8], first: int, rows: int, columns: int, across: float, down: float
) -> tuple[float, float, float, bool]:
    """Between the four nearest texels; transparent ones lend no colour."""
    x = min(max(across * columns - 0.5, 0.0), columns - 1.0)
    y = min(max(down * rows - 0.5, 0.0), rows - 1.0)
    i, j = int(x), int(y)
    fx, fy = x - i, y - j
    red, green, blue, alpha = 0.0, 0.0, 0.0, 0.0
    for corner in range(4):
        right, low = corner & 1, corner >> 1
        weight = (fx if right else 1.0 - fx) * (fy if low else 1.0 - fy)
        at = first + min(j + low, rows - 1) * columns + min(i + right, columns - 1)
        weight *= texels[at, 3]
        red += weight * texels[at, 0]
        green += weight * texels[at, 1]
        blue += weight * texels[at, 2]
        alpha += weight
    scale = 1.0 / max(alpha, 1e-9)
    return red * scale, green * scale, blue * scale, alpha > _INK
