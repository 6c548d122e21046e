"""Goods of streets: containers, machines, stalls, boxes, luggage, carts.

Every function fills a box of the given half extents that stands on the origin.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.props._road import UP, disc
from jaywalk.server.sensors.models.scenery._furniture import Half, sides
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

_ORIGIN: Final = (0.0, 0.0, 0.0)
_PAINT, _WHITE, _BLACK = int(Material.PAINT), int(Material.WHITE), int(Material.BLACK)
_GREY, _WOOD, _METAL = int(Material.GREY), int(Material.WOOD), int(Material.METAL)
_STRAW, _GLASS, _RED = int(Material.STRAW), int(Material.GLASS), int(Material.RED)


def barrel(out: Surfaces, half: Half, level: int) -> None:
    """A drum with two ribs."""
    r, high = min(half[:2]), 2.0 * half[2]
    shape = [
        (0.0, 0.0),
        (0.0, 0.94),
        (0.02, 0.97),
        (0.32, 0.94),
        (0.34, 1.0),
        (0.36, 0.94),
        (0.64, 0.94),
        (0.66, 1.0),
        (0.68, 0.94),
        (0.98, 0.97),
        (1.0, 0.94),
        (1.0, 0.86),
        (0.97, 0.84),
        (0.97, 0.0),
    ]
    rings = [(z * high, share * r) for z, share in shape]
    out.lathe(_ORIGIN, UP, rings, sides(level, 18), _PAINT)


def hay(out: Surfaces, half: Half, level: int) -> None:
    """A round bale that lies on its side, with a spiral of straw on its ends."""
    x, z = half[0], half[2]
    n = sides(level, 22)
    shape = [(-x, 0.0), (-x, 0.93 * z), (-0.94 * x, z), (0.94 * x, z), (x, 0.93 * z), (x, 0.0)]
    out.lathe((0.0, 0.0, z), (1.0, 0.0, 0.0), shape, n, _STRAW)
    if level < 2:
        for end in (-1.0, 1.0):
            for share in (0.75, 0.5, 0.25):
                ring = [(0.0, share * z), (0.006, (share - 0.05) * z)]
                out.lathe((end * x, 0.0, z), (end, 0.0, 0.0), ring, n, int(Material.WOOD))
        for at in (-0.4, 0.4):
            band = [(at * x - 0.015, 1.004 * z), (at * x + 0.015, 1.004 * z)]
            out.lathe((0.0, 0.0, z), (1.0, 0.0, 0.0), band, n, int(Material.WOOD))


def vending(out: Surfaces, half: Half, level: int) -> None:
    """A vending machine: a lit window with rows of bottles, buttons and a flap, on +x and -y."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.0), (x, y, high), _PAINT)
    front = x + 0.001
    out.box(
        (x, -0.85 * y, 0.34 * high), (front + 0.01, 0.45 * y, 0.93 * high), int(Material.SCREEN)
    )
    out.box((x, 0.55 * y, 0.3 * high), (front + 0.01, 0.88 * y, 0.8 * high), _BLACK)
    out.box((x, -0.7 * y, 0.1 * high), (front + 0.01, 0.4 * y, 0.26 * high), _BLACK)
    if level < 2:
        colors = (_RED, int(Material.GREEN), int(Material.YELLOW), int(Material.BLUE), _WHITE)
        for row in range(4):
            z = (0.38 + 0.135 * row) * high
            out.box((x, -0.85 * y, z - 0.02), (front + 0.03, 0.45 * y, z), _GREY)
            for k in range(6 if level == 0 else 3):
                wide = 1.2 * y / (6 if level == 0 else 3)
                left = -0.8 * y + k * wide
                bottle = (x, left, z), (front + 0.03, left + 0.6 * wide, z + 0.09 * high)
                out.box(*bottle, colors[(k + row) % len(colors)])


def advertisement(out: Surfaces, half: Half, level: int) -> None:
    """A lit poster case with a picture of hills and a sun on both sides."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.12 * high), (x, y, high), _GREY)
    out.box((-0.4 * x, -0.6 * y, 0.0), (0.4 * x, 0.6 * y, 0.12 * high), _BLACK)
    low, tall, w = 0.18 * high, 0.77 * high, 0.9 * x
    patches: list[tuple[list[tuple[float, float]], int, float]] = [
        ([(-1, 0), (1, 0), (1, 1), (-1, 1)], int(Material.SCREEN), 0.0)
    ]
    if level < 2:
        patches += [
            ([(-1, 0), (1, 0), (1, 0.35), (-1, 0.5)], int(Material.GREEN), 0.002),
            ([(-1, 0), (1, 0), (1, 0.3), (-1, 0.12)], int(Material.YELLOW), 0.004),
            ([(-0.8, 0.8), (0.8, 0.8), (0.8, 0.9), (-0.8, 0.9)], _RED, 0.003),
        ]
    for way in (-1.0, 1.0):
        at = way * (y + 0.001)
        for corners, kind, before in patches:
            places = [(w * a, at + way * before, low + tall * b) for a, b in corners]
            out.quad(places, kind, outward=(0.0, way, 0.0))
        sun = (0.4 * w, at + way * 0.001, low + 0.66 * tall)
        disc(out, sun, way, 0.2 * x, int(Material.YELLOW), sides(level, 16))


def carton(out: Surfaces, half: Half, level: int) -> None:
    """A cardboard box with tape over the flaps."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.0), (x, y, high - 0.002), int(Material.CARTON))
    if level < 2:
        out.box((-x - 0.001, -0.1 * y, 0.7 * high), (x + 0.001, 0.1 * y, high), int(Material.WOOD))


def wheelie_bin(out: Surfaces, half: Half, level: int) -> None:
    """A litter bin with a slanted lid, a grip and wheels."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    body = (-0.8 * x, -0.8 * y, 0.06 * high), (0.8 * x, 0.8 * y, 0.86 * high)
    out.box(*body, _PAINT, taper=(1.2, 1.2))
    out.box((-x, -y, 0.86 * high), (x, y, high), _PAINT, taper=(0.85, 0.9))
    if level < 2:
        for side in (-1.0, 1.0):
            near, far = sorted((side * 0.7 * y, side * 0.85 * y))
            out.lathe(
                (-0.7 * x, near, 0.1 * high),
                (0.0, 1.0, 0.0),
                [(0.0, 0.0), (0.0, 0.1 * high), (far - near, 0.1 * high), (far - near, 0.0)],
                sides(level, 12),
                _BLACK,
            )
        out.box((-x, -0.6 * y, 0.82 * high), (-0.9 * x, 0.6 * y, 0.86 * high), _BLACK)


def skip_container(out: Surfaces, half: Half, level: int) -> None:
    """A large waste container with ribs, a lid and small wheels."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    body = (-0.88 * x, -0.85 * y, 0.1 * high), (0.88 * x, 0.85 * y, 0.8 * high)
    out.box(*body, _PAINT, taper=(1.1, 1.12))
    out.box((-x, -y, 0.8 * high), (x, y, 0.84 * high), _PAINT)
    out.box((-x, -y, 0.84 * high), (x, y, high), _GREY, taper=(0.95, 0.5))
    for i in (-0.7, 0.7):
        for j in (-0.6, 0.6):
            out.bar(
                (i * x, j * y - 0.03, 0.05 * high),
                (i * x, j * y + 0.03, 0.05 * high),
                0.05 * high,
                _BLACK,
                sides=sides(level, 10),
            )
    if level < 2:
        for k in range(-2, 3):
            at = 0.36 * k * x
            out.box((at - 0.03, -0.96 * y, 0.15 * high), (at + 0.03, 0.96 * y, 0.79 * high), _PAINT)


def clothes_container(out: Surfaces, half: Half, level: int) -> None:
    """A bank for clothes or glass with a hatch and a sign."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.05 * high), (x, y, 0.88 * high), _PAINT)
    out.box((-x, -y, 0.88 * high), (x, y, high), _PAINT, taper=(0.75, 0.85))
    out.box((-0.9 * x, -0.9 * y, 0.0), (0.9 * x, 0.9 * y, 0.05 * high), _BLACK)
    for way in (-1.0, 1.0):
        near, far = sorted((way * x, way * (x + 0.004)))
        out.box((near, -0.6 * y, 0.6 * high), (far, 0.6 * y, 0.8 * high), _BLACK)
        out.box((near, -0.5 * y, 0.25 * high), (far, 0.5 * y, 0.5 * high), _WHITE)
    del level


def bag(out: Surfaces, half: Half, level: int) -> None:
    """A full sack that is tied at the top."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    n = (14, 10, 6)[level]
    angles = 2.0 * math.pi * np.arange(n + 1) / n
    rings = [
        (0.0, 0.75),
        (0.08, 0.95),
        (0.3, 1.0),
        (0.55, 0.9),
        (0.75, 0.55),
        (0.84, 0.16),
        (0.92, 0.22),
        (1.0, 0.3),
    ]
    grid = np.zeros((len(rings), n + 1, 3))
    for k, (z, share) in enumerate(rings):
        fold = 1.0 - 0.08 * (1.0 + np.cos(4.0 * angles + k))
        grid[k, :, 0] = x * share * fold * np.cos(angles)
        grid[k, :, 1] = y * share * fold * np.sin(angles)
        grid[k, :, 2] = z * high
    out.grid(grid, _PAINT)


def case(out: Surfaces, half: Half, level: int) -> None:
    """A suitcase with ribs, a handle and wheels."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -0.9 * y, 0.06 * high), (x, 0.9 * y, 0.8 * high), _PAINT)
    for at in (-0.5, 0.0, 0.5):
        if level < 2:
            out.box((at * x - 0.02, -y, 0.1 * high), (at * x + 0.02, y, 0.77 * high), _PAINT)
    for side in (-0.5, 0.5):
        out.bar((side * x, 0.0, 0.8 * high), (side * x, 0.0, high), 0.012, _GREY, sides=4)
        out.bar(
            (side * x * 1.5, 0.0, 0.03 * high),
            (side * x * 1.5 + 0.02, 0.0, 0.03 * high),
            0.03 * high,
            _BLACK,
            sides=6,
        )
    out.box((-0.5 * x, -0.02, 0.97 * high), (0.5 * x, 0.02, high), _BLACK)


def trolley(out: Surfaces, half: Half, level: int) -> None:
    """A shopping cart: a basket of bars on wheels with a grip."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    low, top = 0.45 * high, 0.9 * high
    bars = (9, 6, 2)[level]
    for k in range(bars + 1):
        share = 2.0 * k / bars - 1.0
        for side in (-1.0, 1.0):
            out.bar(
                (side * 0.7 * x, 0.85 * share * y, low),
                (side * x, 0.95 * share * y, top),
                0.008,
                _METAL,
                sides=3,
            )
            out.bar(
                (share * 0.7 * x, side * 0.85 * y, low),
                (share * x, side * 0.95 * y, top),
                0.008,
                _METAL,
                sides=3,
            )
        out.bar(
            (-0.7 * x, 0.85 * share * y, low),
            (0.7 * x, 0.85 * share * y, low),
            0.008,
            _METAL,
            sides=3,
        )
    out.bar((-x, -y, high), (x, -y, high), 0.02, _RED, sides=6)
    for i in (-0.8, 0.8):
        out.bar((i * x, -0.9 * y, 0.12), (i * x, -y, high), 0.012, _METAL, sides=4)
        for j in (-0.8, 0.8):
            out.bar((i * x, j * y, 0.12), (0.7 * i * x, j * y, low), 0.012, _METAL, sides=4)
            out.bar(
                (i * x - 0.02, j * y, 0.06),
                (i * x + 0.02, j * y, 0.06),
                0.06,
                _BLACK,
                sides=sides(level, 8),
            )


def stall(out: Surfaces, half: Half, level: int) -> None:
    """A food cart: a counter under a striped roof, with wheels and a lit menu."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-0.8 * x, -0.85 * y, 0.15 * high), (0.8 * x, 0.85 * y, 0.42 * high), _PAINT)
    out.box((-0.9 * x, -0.9 * y, 0.42 * high), (0.9 * x, 0.9 * y, 0.45 * high), _METAL)
    stripes = (10, 6, 2)[level]
    for k in range(stripes):
        left, right = -y + 2.0 * y * k / stripes, -y + 2.0 * y * (k + 1) / stripes
        kind = _PAINT if k % 2 else _WHITE
        for side in (-1.0, 1.0):
            corners = [
                (side * x, left, 0.88 * high),
                (side * x, right, 0.88 * high),
                (0.0, right, high),
                (0.0, left, high),
            ]
            out.quad(corners, kind, outward=UP)
    for i in (-0.85, 0.85):
        for j in (-0.9, 0.9):
            out.bar((i * x, j * y, 0.4 * high), (i * x, j * y, 0.9 * high), 0.03, _GREY, sides=4)
    for side in (-1.0, 1.0):
        near = side * 0.82 * x
        out.bar(
            (near - 0.04, 0.4 * y, 0.12 * high),
            (near + 0.04, 0.4 * y, 0.12 * high),
            0.12 * high,
            _BLACK,
            sides=sides(level, 16),
        )
        low, far = sorted((side * 0.8 * x, side * (0.8 * x + 0.01)))
        out.box((low, -0.6 * y, 0.22 * high), (far, 0.6 * y, 0.36 * high), int(Material.YELLOW))


def machine(out: Surfaces, half: Half, level: int) -> None:
    """A cash machine: a cabinet with a screen and keys."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.0), (x, y, high), _PAINT)
    for way in (-1.0, 1.0):
        near, far = sorted((way * x, way * (x + 0.004)))
        out.box((near, -0.6 * y, 0.58 * high), (far, 0.6 * y, 0.74 * high), int(Material.SCREEN))
        out.box((near, -0.4 * y, 0.46 * high), (far, 0.4 * y, 0.54 * high), _BLACK)
        out.box((near, -0.9 * y, 0.84 * high), (far, 0.9 * y, 0.95 * high), _WHITE)
    del level


def pram(out: Surfaces, half: Half, level: int) -> None:
    """A pram: a tub with a hood, a bow to push it and four wheels."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    n = sides(level, 14)
    tub = (-0.6 * x, -0.75 * y, 0.42 * high), (0.75 * x, 0.75 * y, 0.66 * high)
    out.box(*tub, _PAINT, taper=(1.12, 1.1))
    hood = [(-0.75 * y, 0.0), (-0.75 * y, 0.34 * high), (0.75 * y, 0.34 * high), (0.75 * y, 0.0)]
    out.lathe((0.4 * x, 0.0, 0.66 * high), (0.0, 1.0, 0.0), hood, n, _PAINT)
    for side in (-1.0, 1.0):
        out.bar(
            (-0.5 * x, side * 0.7 * y, 0.5 * high),
            (-x, side * 0.7 * y, 0.95 * high),
            0.014,
            _METAL,
            sides=4,
        )
        for at in (-0.6, 0.65):
            centre = (at * x, side * 0.8 * y, 0.19 * high)
            wheel = [(-0.03, 0.0), (-0.03, 0.19 * high), (0.03, 0.19 * high), (0.03, 0.0)]
            out.lathe(centre, (0.0, 1.0, 0.0), wheel, n, int(Material.RUBBER))
            out.bar(
                (at * x, side * 0.6 * y, 0.2 * high),
                (0.2 * at * x, side * 0.5 * y, 0.45 * high),
                0.015,
                _METAL,
                sides=4,
            )
    out.bar((-x, -0.7 * y, 0.95 * high), (-x, 0.7 * y, 0.95 * high), 0.02, _BLACK, sides=6)
