"""Props of gardens and playgrounds.

Every function fills a box of the given half extents that stands on the origin.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.props._road import UP
from jaywalk.server.sensors.models.scenery._furniture import Half, sides
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

_ORIGIN: Final = (0.0, 0.0, 0.0)
_PAINT, _WHITE, _BLACK = int(Material.PAINT), int(Material.WHITE), int(Material.BLACK)
_GREY, _WOOD, _METAL = int(Material.GREY), int(Material.WOOD), int(Material.METAL)
_STRAW, _GLASS, _RED = int(Material.STRAW), int(Material.GLASS), int(Material.RED)


def chair(out: Surfaces, half: Half, level: int) -> None:
    """A plastic garden chair."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    seat = 0.5 * high
    out.box((-x, -y, seat - 0.03), (x, y, seat), _PAINT)
    out.box((-x, -y, seat), (-x + 0.04, y, high), _PAINT, taper=(1.0, 0.8))
    for i in (-1.0, 1.0):
        for j in (-1.0, 1.0):
            foot, top = (i * x * 0.95, j * y * 0.95, 0.0), (i * x * 0.8, j * y * 0.8, seat)
            out.bar(foot, top, 0.025, _PAINT, sides=sides(level, 6))
    for j in (-1.0, 1.0):
        near, far = sorted((j * y, j * (y - 0.05)))
        out.box((-x, near, 0.7 * high), (0.7 * x, far, 0.73 * high), _PAINT)


def table(out: Surfaces, half: Half, level: int) -> None:
    """A table on four legs; with a parasol where the box is high."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    parasol = high > 1.5
    top = 0.72 if parasol else high
    r = min(x, y)
    n = sides(level, 20)
    if parasol:
        out.bar(_ORIGIN, (0.0, 0.0, high), 0.03, _GREY)
        out.lathe(_ORIGIN, UP, [(high - 0.4, r), (high, 0.03)], n, _PAINT)
        x = y = 0.55 * r
    out.box((-x, -y, top - 0.04), (x, y, top), _PAINT)
    for i in (-0.85, 0.85):
        for j in (-0.85, 0.85):
            out.bar((i * x, j * y, 0.0), (i * x, j * y, top - 0.04), 0.03, _PAINT, sides=4)


def pot(out: Surfaces, half: Half, level: int) -> None:
    """A pot with a bush."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    body = (-0.9 * x, -0.9 * y, 0.0), (0.9 * x, 0.9 * y, 0.5 * high)
    out.box(*body, _PAINT, taper=(1.1, 1.1))
    n, rings = (14, 10, 6)[level], (6, 4, 3)[level]
    angles = 2.0 * math.pi * np.arange(n + 1) / n
    grid = np.zeros((rings, n + 1, 3))
    for k in range(rings):
        up = math.pi * k / (rings - 1) - 0.5 * math.pi
        bump = 0.9 + 0.1 * np.cos(5.0 * angles + 2.0 * k)
        grid[k, :, 0] = 0.98 * x * math.cos(up) * bump * np.cos(angles)
        grid[k, :, 1] = 0.98 * y * math.cos(up) * bump * np.sin(angles)
        grid[k, :, 2] = high * (0.68 + 0.32 * math.sin(up))
    out.grid(grid, int(Material.GREENERY))


def slide(out: Surfaces, half: Half, level: int) -> None:
    """A playground slide with a ladder."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    top = 0.72 * high
    chute = np.array(
        [
            [(s * 0.8 * x, v * y, z * high) for s in (-1.0, 1.0)]
            for v, z in ((-0.4, 0.72), (-0.2, 0.66), (0.5, 0.25), (0.85, 0.1), (1.0, 0.09))
        ]
    )
    out.grid(chute, _PAINT, outward=UP)
    for side in (-1.0, 1.0):
        edge = chute[:, 0 if side < 0 else 1]
        out.grid(
            np.stack([edge, edge + np.array([0.0, 0.0, 0.12])]), _PAINT, outward=(side, 0.0, 0.0)
        )
        out.bar((side * x, -y, 0.0), (side * 0.8 * x, -0.45 * y, high), 0.03, _GREY, sides=6)
        out.bar((side * x, -0.4 * y, 0.0), (side * 0.8 * x, -0.4 * y, top), 0.03, _GREY, sides=6)
    for k in range(6 >> level):
        share = (k + 1) / (7 >> level)
        out.bar(
            (-0.9 * x, (-1.0 + 0.5 * share) * y, share * top),
            (0.9 * x, (-1.0 + 0.5 * share) * y, share * top),
            0.025,
            _GREY,
            sides=4,
        )


def swing(out: Surfaces, half: Half, level: int) -> None:
    """A swing: two frames, a beam and two seats."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    n = sides(level, 8)
    for end in (-1.0, 1.0):
        for side in (-1.0, 1.0):
            out.bar((end * x, side * y, 0.0), (0.92 * end * x, 0.0, high), 0.05, _PAINT, sides=n)
    out.bar((-0.95 * x, 0.0, high - 0.06), (0.95 * x, 0.0, high - 0.06), 0.06, _PAINT, sides=n)
    for at in (-0.4 * x, 0.4 * x):
        out.box((at - 0.24, -0.12, 0.45), (at + 0.24, 0.12, 0.5), _RED)
        for side in (-0.22, 0.22):
            out.bar((at + side, 0.0, 0.5), (at + side, 0.0, high - 0.06), 0.012, _GREY, sides=3)


def swing_couch(out: Surfaces, half: Half, level: int) -> None:
    """A garden swing seat with cushions under a roof."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, high - 0.12), (x, y, high), _PAINT, taper=(0.8, 0.95))
    for end in (-1.0, 1.0):
        for side in (-1.0, 1.0):
            foot, top = (
                (side * x, end * 0.95 * y, 0.0),
                (0.3 * side * x, end * 0.95 * y, high - 0.1),
            )
            out.bar(foot, top, 0.035, _GREY, sides=sides(level, 6))
    out.box((-0.5 * x, -0.8 * y, 0.45), (0.5 * x, 0.8 * y, 0.58), _PAINT)
    out.box((-0.6 * x, -0.8 * y, 0.55), (-0.45 * x, 0.8 * y, 1.15), _PAINT)


def trampoline(out: Surfaces, half: Half, level: int) -> None:
    """A trampoline with a net on posts."""
    r, high = min(half[:2]), 2.0 * half[2]
    n = sides(level, 24)
    bed = 0.32 * high
    out.lathe(_ORIGIN, UP, [(bed, 0.0), (bed + 0.001, 0.82 * r)], n, _BLACK)
    out.lathe(_ORIGIN, UP, [(bed, 0.82 * r), (bed + 0.02, r), (bed - 0.06, r)], n, _PAINT)
    posts = (8, 8, 4)[level]
    for k in range(posts):
        a = 2.0 * math.pi * k / posts
        x, y = 0.97 * r * math.cos(a), 0.97 * r * math.sin(a)
        out.bar((x, y, 0.0), (x, y, high), 0.03, _GREY, sides=4)
        b = 2.0 * math.pi * (k + 1) / posts
        u, v = 0.97 * r * math.cos(b), 0.97 * r * math.sin(b)
        for z in (high - 0.03, 0.66 * high):
            out.bar((x, y, z), (u, v, z), 0.012, _GREY, sides=3)


def gnome(out: Surfaces, half: Half, level: int) -> None:
    """A garden gnome: boots, coat, beard, nose and a pointed hat."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    r = min(x, y)
    n = sides(level, 14)
    rings = [
        (0.0, 0.0),
        (0.0, 0.8),
        (0.1, 0.85),
        (0.12, 1.0),
        (0.35, 0.95),
        (0.5, 0.62),
        (0.52, 0.55),
        (0.62, 0.58),
        (0.66, 0.66),
        (0.68, 0.66),
        (0.85, 0.3),
        (1.0, 0.0),
    ]
    kinds = [
        _BLACK,
        _BLACK,
        _BLACK,
        int(Material.BLUE),
        int(Material.BLUE),
        int(Material.BLUE),
        int(Material.SKIN),
        int(Material.SKIN),
        _PAINT,
        _PAINT,
        _PAINT,
    ]
    out.lathe(_ORIGIN, UP, [(z * high, s * r) for z, s in rings], n, kinds)
    beard = [(0.0, 0.42 * r), (0.12 * high, 0.46 * r), (0.24 * high, 0.0)]
    out.lathe((0.42 * r, 0.0, 0.58 * high), (0.25, 0.0, -1.0), beard, n, _WHITE)
    out.lathe(
        (0.55 * r, 0.0, 0.6 * high),
        UP,
        [(-0.05, 0.0), (0.0, 0.12 * r), (0.04, 0.0)],
        n,
        int(Material.SKIN),
    )


def barbecue(out: Surfaces, half: Half, level: int) -> None:
    """A kettle grill on legs."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    n = sides(level, 16)
    r = min(x, y)
    bowl = [
        (0.55 * high, 0.0),
        (0.6 * high, 0.7 * r),
        (0.72 * high, r),
        (0.74 * high, r),
        (0.9 * high, 0.7 * r),
        (0.96 * high, 0.15 * r),
        (high, 0.0),
    ]
    out.lathe(_ORIGIN, UP, bowl, n, _PAINT)
    for k in range(3):
        a = 2.0 * math.pi * k / 3.0
        out.bar(
            (r * math.cos(a), r * math.sin(a), 0.0),
            (0.4 * r * math.cos(a), 0.4 * r * math.sin(a), 0.6 * high),
            0.02,
            _GREY,
            sides=4,
        )
    out.box((-x, -0.12, 0.7 * high), (x, 0.12, 0.73 * high), _WOOD)


def hut(out: Surfaces, half: Half, level: int) -> None:
    """A kennel with a pitched roof and a round door."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    eaves = 0.6 * high
    out.box((-0.9 * x, -0.9 * y, 0.0), (0.9 * x, 0.9 * y, eaves), _WOOD)
    for side in (-1.0, 1.0):
        corners = [
            (-x, side * y, 0.95 * eaves),
            (x, side * y, 0.95 * eaves),
            (x, 0.0, high),
            (-x, 0.0, high),
        ]
        out.quad(corners, _RED, outward=(0.0, side, 1.0))
    for end in (-0.9, 0.9):
        gable = [
            (end * x, -0.9 * y, eaves),
            (end * x, 0.9 * y, eaves),
            (end * x, 0.0, high * 0.98),
            (end * x, 0.0, high * 0.98),
        ]
        out.quad(gable, _WOOD, outward=(end, 0.0, 0.0))
    arch = [(0.0, 0.34 * y), (0.004, 0.0)]
    out.lathe((0.901 * x, 0.0, 0.3 * high), (1.0, 0.0, 0.0), arch, sides(level, 14), _BLACK)


def fountain(out: Surfaces, half: Half, level: int) -> None:
    """A fountain with a basin and two bowls."""
    r, high = min(half[:2]), 2.0 * half[2]
    n = sides(level, 28)
    shape = [
        (0.0, 1.0),
        (0.12, 1.0),
        (0.12, 0.9),
        (0.08, 0.9),
        (0.08, 0.15),
        (0.4, 0.1),
        (0.45, 0.55),
        (0.49, 0.57),
        (0.48, 0.1),
        (0.72, 0.07),
        (0.76, 0.28),
        (0.79, 0.28),
        (0.78, 0.06),
        (0.95, 0.05),
        (1.0, 0.0),
    ]
    kinds = [int(Material.CONCRETE)] * (len(shape) - 1)
    kinds[3] = int(Material.GLASS)
    out.lathe(_ORIGIN, UP, [(z * high, s * r) for z, s in shape], n, kinds)
