"""Procedural textures that repeat, in sizes that halve.

A texel is a factor of the surface's own colour in linear light: 128 is 1. The fourth channel is
the alpha of cut-out textures. All textures follow from fixed seeds and are made once per process.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.server.sensors._materials import Texture
from jaywalk.server.sensors._solids import as_int64, kernel

Field = NDArray[np.float64]
LEVELS: Final = 8


class Textures(NamedTuple):
    """All textures: texels one after the other, and where each size begins."""

    texels: NDArray[np.uint8]  # (n, 4)
    first: NDArray[np.int64]  # (textures, LEVELS)
    size: NDArray[np.int64]  # (textures,) texels per side of the largest size
    per_m: NDArray[np.float64]  # (textures,) tiles per metre


def _noise(random: np.random.Generator, size: int, cells: int) -> Field:
    """Smooth noise from -1 to 1 that repeats, with ``cells`` values per side."""
    values = random.uniform(-1.0, 1.0, (cells, cells))
    at = np.arange(size) * (cells / size)
    i = at.astype(int)
    f = at - i
    f = f * f * (3.0 - 2.0 * f)
    j = (i + 1) % cells
    rows = values[i] * (1.0 - f)[:, None] + values[j] * f[:, None]
    out: Field = rows[:, i] * (1.0 - f)[None, :] + rows[:, j] * f[None, :]
    return out


def _rough(random: np.random.Generator, size: int, cells: int, octaves: int) -> Field:
    """Noise of several scales, from -1 to 1 at most."""
    total, weight = np.zeros((size, size)), 0.0
    for octave in range(octaves):
        share = 0.55**octave
        total += share * _noise(random, size, min(cells << octave, size))
        weight += share
    return total / weight


def _cracks(random: np.random.Generator, size: int, cells: int, thick: float) -> Field:
    """Return 1 on thin winding lines, 0 elsewhere."""
    a = _rough(random, size, cells, 4)
    line = np.clip(1.0 - np.abs(a) / thick, 0.0, 1.0)
    where = _noise(random, size, cells) > 0.1
    out: Field = line * where
    return out


def _grey(value: Field) -> Field:
    return np.repeat(value[..., None], 3, axis=2)


def _tiles(
    size: int, across: int, down: int, joint: float, shift: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Column and row of the tile of each texel, and where the joints are."""
    v, u = np.mgrid[0:size, 0:size] / size
    row = np.floor(v * down).astype(np.int64)
    moved = (u * across + shift * (row % 2)) % across
    column = np.floor(moved).astype(np.int64)
    fu, fv = moved - column, v * down - row
    gap = (fu < joint * across / down) | (fv < joint)
    return column, row, gap


def _asphalt(random: np.random.Generator, size: int) -> Field:
    base = 1.0 + 0.10 * _rough(random, size, 6, 3) + 0.22 * random.uniform(-1, 1, (size, size))
    stones = _noise(random, size, size // 3)
    base += np.where(stones > 0.62, 0.28, 0.0) - np.where(stones < -0.72, 0.18, 0.0)
    base *= 1.0 - 0.45 * _cracks(random, size, 3, 0.012)
    return _grey(base)


def _paving(random: np.random.Generator, size: int) -> Field:
    column, row, gap = _tiles(size, 4, 8, 0.05, 0.5)
    tint = random.uniform(-0.09, 0.09, (8, 4))[row, column]
    value = 1.0 + tint + 0.05 * _rough(random, size, 16, 3)
    value += 0.04 * random.uniform(-1, 1, (size, size))
    return _grey(np.where(gap, 0.58 * value, value))


def _kerb(random: np.random.Generator, size: int) -> Field:
    column, _, _ = _tiles(size, 2, 1, 0.0, 0.0)
    u = np.mgrid[0:size, 0:size][1] / size * 2.0
    value = 1.0 + random.uniform(-0.05, 0.05, 2)[column]
    value = value + 0.08 * _rough(random, size, 24, 3)
    return _grey(np.where(np.abs(u - np.round(u)) < 0.012, 0.55 * value, value))


def _grass(random: np.random.Generator, size: int) -> Field:
    blades = _noise(random, size, size // 2) * 0.5 + random.uniform(-0.5, 0.5, (size, size))
    patch = _rough(random, size, 4, 4)
    value = 1.0 + 0.42 * blades + 0.24 * patch
    dry = np.clip(patch, 0.0, 1.0)
    return np.stack([value * (1.0 + 0.35 * dry), value, value * (1.0 - 0.2 * dry)], axis=2)


def _gravel(random: np.random.Generator, size: int) -> Field:
    stones = _noise(random, size, size // 4)
    value = 1.0 + 0.35 * stones + 0.16 * random.uniform(-1, 1, (size, size))
    return _grey(value + 0.12 * _rough(random, size, 4, 3))


def _plaster(random: np.random.Generator, size: int) -> Field:
    value = 1.0 + 0.05 * _rough(random, size, 4, 5) + 0.03 * random.uniform(-1, 1, (size, size))
    return _grey(value)


def _brick(random: np.random.Generator, size: int) -> Field:
    # 8 x 26 bricks of 25 x 7.7 cm on 2 m.
    column, row, gap = _tiles(size, 8, 26, 0.13, 0.5)
    tint = random.uniform(-0.22, 0.22, (26, 8))[row, column]
    value = 1.0 + tint + 0.12 * _rough(random, size, 32, 3)
    brick = np.stack([value, value * (1.0 - 0.3 * tint), value], axis=2)
    mortar = _grey(1.0 + 0.08 * random.uniform(-1, 1, (size, size))) * (1.12, 1.62, 1.82)
    return np.where(gap[..., None], mortar, brick)


def _concrete(random: np.random.Generator, size: int) -> Field:
    value = 1.0 + 0.08 * _rough(random, size, 5, 5)
    pores = random.uniform(0, 1, (size, size)) > 0.993
    return _grey(np.where(pores, 0.75 * value, value))


def _roof_tiles(random: np.random.Generator, size: int) -> Field:
    column, row, _ = _tiles(size, 8, 8, 0.0, 0.5)
    v, u = np.mgrid[0:size, 0:size] / size * 8.0
    tint = random.uniform(-0.14, 0.14, (8, 8))[row, column]
    wave = 0.14 * np.cos(2.0 * np.pi * (u + 0.5 * (row % 2)))
    edge = np.where(v - np.floor(v) > 0.86, 0.55, 1.0)
    return _grey((1.0 + tint + wave + 0.05 * random.uniform(-1, 1, (size, size))) * edge)


def _roof_flat(random: np.random.Generator, size: int) -> Field:
    return _grey(
        1.0 + 0.14 * _rough(random, size, 4, 5) + 0.1 * random.uniform(-1, 1, (size, size))
    )


def _bark(random: np.random.Generator, size: int) -> Field:
    u = np.mgrid[0:size, 0:size][1] / size
    bent = u + 0.05 * _rough(random, size, 4, 3)
    ridge = np.abs(np.sin(np.pi * 9.0 * bent))
    return _grey(0.6 + 0.6 * ridge + 0.16 * random.uniform(-1, 1, (size, size)))


def _scattered(random: np.random.Generator, size: int, leaves: int, long: float) -> Any:
    """Leaves as rotated ellipses, later ones on top: brightness and cover."""
    value, cover = np.full((size, size), 0.35), np.zeros((size, size), np.bool_)
    places = random.uniform(0, size, (leaves, 2))
    turns, bright = random.uniform(0, np.pi, leaves), random.uniform(0.55, 1.45, leaves)
    reach = int(np.ceil(long))
    d = np.arange(-reach, reach + 1)
    dy, dx = np.meshgrid(d, d, indexing="ij")
    for (y, x), turn, tone in zip(places, turns, bright, strict=True):
        a = dx * np.cos(turn) + dy * np.sin(turn)
        b = -dx * np.sin(turn) + dy * np.cos(turn)
        inside = (a / long) ** 2 + (b / (0.48 * long)) ** 2 < 1.0
        rows, columns = (int(y) + dy[inside]) % size, (int(x) + dx[inside]) % size
        value[rows, columns] = tone * (1.0 - 0.25 * np.abs(b[inside]) / (0.48 * long))
        cover[rows, columns] = True
    return value, cover


def _leaf_color(value: Field) -> Field:
    return np.stack([value * (0.85 + 0.25 * value), value, 0.9 * value], axis=2)


def _leaves(random: np.random.Generator, size: int) -> Field:
    value, cover = _scattered(random, size, 300, 11.0)
    return np.concatenate([_leaf_color(value), np.where(cover, 2.0, 0.0)[..., None]], axis=2)


def _hedge(random: np.random.Generator, size: int) -> Field:
    value, _ = _scattered(random, size, 1500, 7.0)
    return _leaf_color(value)


def _fabric(random: np.random.Generator, size: int) -> Field:
    v, u = np.mgrid[0:size, 0:size]
    weave = 0.05 * np.where((u + v) % 2 == 0, 1.0, -1.0)
    return _grey(1.0 + weave + 0.12 * _rough(random, size, 4, 3))


def _denim(random: np.random.Generator, size: int) -> Field:
    v, u = np.mgrid[0:size, 0:size]
    twill = 0.1 * np.where((u + v) % 4 < 2, 1.0, -1.0)
    return _grey(1.0 + twill + 0.14 * _rough(random, size, 4, 3))


def _fur(random: np.random.Generator, size: int) -> Field:
    fine = np.repeat(random.uniform(-1, 1, (size // 8, size)), 8, axis=0)
    return _grey(1.0 + 0.16 * fine + 0.16 * _rough(random, size, 6, 3))


def _wood(random: np.random.Generator, size: int) -> Field:
    v = np.mgrid[0:size, 0:size][0] / size
    grain = np.sin(2.0 * np.pi * (12.0 * v + 0.6 * _rough(random, size, 3, 3)))
    board = np.where((v * 4.0) % 1.0 < 0.04, 0.5, 1.0)
    return _grey((1.0 + 0.12 * grain + 0.05 * random.uniform(-1, 1, (size, size))) * board)


def _metal(random: np.random.Generator, size: int) -> Field:
    streaks = np.repeat(random.uniform(-1, 1, (1, size)), size, axis=0)
    return _grey(1.0 + 0.04 * streaks + 0.05 * _rough(random, size, 4, 3))


def _water(random: np.random.Generator, size: int) -> Field:
    return _grey(1.0 + 0.2 * _rough(random, size, 8, 3))


def _clouds(random: np.random.Generator, size: int) -> Field:
    return _grey(1.0 + 1.1 * _rough(random, size, 4, 6))


# Function, texels per side, metres per tile.
_MADE: Final[dict[Texture, tuple[Any, int, float]]] = {
    Texture.ASPHALT: (_asphalt, 512, 4.0),
    Texture.PAVING: (_paving, 512, 4.0),
    Texture.KERB: (_kerb, 128, 2.0),
    Texture.GRASS: (_grass, 256, 3.0),
    Texture.GRAVEL: (_gravel, 256, 2.5),
    Texture.PLASTER: (_plaster, 256, 5.0),
    Texture.BRICK: (_brick, 256, 2.0),
    Texture.CONCRETE: (_concrete, 256, 5.0),
    Texture.ROOF_TILES: (_roof_tiles, 256, 2.4),
    Texture.ROOF_FLAT: (_roof_flat, 256, 6.0),
    Texture.BARK: (_bark, 128, 1.0),
    Texture.LEAVES: (_leaves, 256, 1.6),
    Texture.HEDGE: (_hedge, 256, 1.5),
    Texture.FABRIC: (_fabric, 128, 0.5),
    Texture.DENIM: (_denim, 64, 0.25),
    Texture.FUR: (_fur, 128, 0.6),
    Texture.WOOD: (_wood, 128, 1.0),
    Texture.METAL: (_metal, 64, 1.0),
    Texture.WATER: (_water, 128, 4.0),
    Texture.CLOUDS: (_clouds, 512, 1.0),
}


@cache
def textures() -> Textures:
    """All textures, by number; NONE is a single white texel."""
    count = len(Texture)
    first, size = np.zeros((count, LEVELS), np.int64), np.ones(count, np.int64)
    per_m, parts, at = np.ones(count), [np.full((1, 4), 128, np.uint8)], 1
    for kind, (draw, side, tile_m) in _MADE.items():
        picture = draw(stream(0, "texture", kind.name.lower()), side)
        if picture.shape[2] == 3:
            picture = np.concatenate([picture, np.full((side, side, 1), 2.0)], axis=2)
        size[kind], per_m[kind] = side, 1.0 / tile_m
        for level in range(LEVELS):
            first[kind, level] = at
            coded = np.clip(np.rint(picture * 128.0), 0, 255).astype(np.uint8).reshape(-1, 4)
            parts.append(coded)
            at += len(coded)
            if len(picture) > 1:
                picture = 0.25 * (
                    picture[::2, ::2]
                    + picture[1::2, ::2]
                    + picture[::2, 1::2]
                    + picture[1::2, 1::2]
                )
    return Textures(np.concatenate(parts), first, size, per_m)


@kernel
def texel_index(
    first: NDArray[np.int64],
    size: NDArray[np.int64],
    per_m: NDArray[np.float64],
    kind: int,
    u_m: float,
    v_m: float,
    pixel_m: float,
) -> int:
    """Row of ``texels`` for a place on a surface of which a pixel covers ``pixel_m``."""
    side = size[kind]
    level = 0
    ratio = pixel_m * per_m[kind] * side
    while ratio > 1.4 and level < LEVELS - 1 and side > 1:
        ratio *= 0.5
        side >>= 1
        level += 1
    scale = per_m[kind] * side
    i = np.int64(np.floor(u_m * scale)) & (side - 1)
    j = np.int64(np.floor(v_m * scale)) & (side - 1)
    return as_int64(first[kind, level] + j * side + i)


@kernel
def level_of(ratio: float, side: int) -> int:
    """Size of a texture to use where a pixel covers ``ratio`` texels of the largest one."""
    level = 0
    while ratio > 1.4 and level < LEVELS - 1 and side > 1:
        ratio *= 0.5
        side >>= 1
        level += 1
    return level


@kernel
def texel_at(u: float, v: float, side: int) -> int:
    """Number of the texel at a place of a size of a texture that repeats."""
    return (math.floor(v) & (side - 1)) * side + (math.floor(u) & (side - 1))
