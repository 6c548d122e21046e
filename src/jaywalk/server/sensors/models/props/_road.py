"""Props of roads and road works: cones, barriers, signs, trailers, debris.

Every function fills a box of the given half extents that stands on the origin. The warning trailer
shows its board along -y, warning signs along +y: that is how scenarios place them.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.scenery._furniture import Half, sides
from jaywalk.server.sensors.models.vehicles._surfaces import Point, Surfaces

UP: Final = (0.0, 0.0, 1.0)
_ORIGIN: Final = (0.0, 0.0, 0.0)
_ORANGE, _WHITE, _RED = int(Material.ORANGE), int(Material.WHITE), int(Material.RED)
_YELLOW, _BLACK, _GREY = int(Material.YELLOW), int(Material.BLACK), int(Material.GREY)


def cone(out: Surfaces, half: Half, level: int) -> None:
    """A traffic cone with two white bands on a square foot."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, 0.0), (x, y, 0.06 * high), _ORANGE if level == 2 else _BLACK)
    foot, tip = 0.72 * min(x, y), 0.12 * min(x, y)

    def at(share: float) -> tuple[float, float]:
        return (0.06 + 0.94 * share) * high, foot + (tip - foot) * share

    rings = [at(0.0), at(0.28), at(0.48), at(0.60), at(0.78), at(1.0), (high, 0.0)]
    kinds = [_ORANGE, _WHITE, _ORANGE, _WHITE, _ORANGE, _BLACK]
    out.lathe(_ORIGIN, UP, rings, sides(level, 16), kinds)


def barrier(out: Surfaces, half: Half, level: int) -> None:
    """A folding barrier: two planks with red and white stripes on trestles."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    for low, top in ((0.62, 0.97), (0.22, 0.50)):
        striped_plank(out, (-x, -0.03, low * high), (x, 0.03, top * high), (8, 6, 4)[level])
    for at in (-0.8 * x, 0.8 * x):
        for side in (-1.0, 1.0):
            foot, head = (at, side * y, 0.0), (at, 0.0, high)
            out.bar(foot, head, 0.022, _GREY, sides=4)
    out.box((-x, -y, 0.0), (-x + 0.02, y, 0.02), _GREY)
    out.box((x - 0.02, -y, 0.0), (x, y, 0.02), _GREY)


def striped_plank(out: Surfaces, low: Point, high: Point, stripes: int) -> None:
    """Add an upright plank across x whose two sides have slanted red and white stripes."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    lean = 0.6 * (z1 - z0)
    wide = (x1 - x0 + lean) / (2 * stripes)
    for k in range(2 * stripes):
        start = x0 - lean + k * wide
        bottom = [min(max(start + s, x0), x1) for s in (0.0, wide)]
        top = [min(max(start + lean + s, x0), x1) for s in (0.0, wide)]
        kind = _RED if k % 2 == 0 else _WHITE
        for y, way in ((y0, -1.0), (y1, 1.0)):
            corners = [
                (bottom[0], y, z0), (bottom[1], y, z0), (top[1], y, z1), (top[0], y, z1),
            ]  # fmt: skip
            if bottom[1] > bottom[0] or top[1] > top[0]:
                out.quad(corners, kind, outward=(0.0, way, 0.0))
    out.box((x0, 0.8 * y0, z0), (x1, 0.8 * y1, z1), _WHITE)


def disc(out: Surfaces, centre: Point, way: float, radius: float, kind: int, corners: int) -> None:
    """Add a flat disc or polygon that faces along y; the first corner is below."""
    out.lathe(centre, (0.0, way, 0.0), [(0.0, radius), (0.002, 0.0)], corners, kind)


def triangle_sign(out: Surfaces, middle: Point, half_m: float, way: float) -> None:
    """Add a warning triangle with a red rim that faces along y."""
    x, y, z = middle
    for share, kind, before in ((1.0, _RED, 0.0), (0.72, _WHITE, 0.004)):
        s = share * half_m
        at = y + way * before
        low, tip = z - 0.577 * s, z + 1.155 * s
        corners = [(x - s, at, low), (x + s, at, low), (x, at, tip), (x, at, tip)]
        out.quad(corners, kind, outward=(0.0, way, 0.0))


def work_sign(out: Surfaces, half: Half, level: int) -> None:
    """A road-works sign: a triangle with a figure that digs, on a stand."""
    _sign_stand(out, half)
    high, y = 2.0 * half[2], half[1]
    middle = (0.0, 0.25 * y, 0.58 * high)
    triangle_sign(out, middle, 0.92 * half[0], 1.0)
    if level < 2:
        front, s, z = middle[1] + 0.012, 0.34 * half[0], middle[2]
        face = (0.0, 1.0, 0.0)
        disc(out, (0.15 * s, front, z + 0.75 * s), 1.0, 0.16 * s, _BLACK, 10)
        limbs = [((0.1, 0.55), (-0.1, -0.05), 0.15), ((-0.1, -0.05), (-0.45, -0.7), 0.1),
                 ((-0.1, -0.05), (0.3, -0.7), 0.1), ((0.1, 0.45), (0.55, 0.0), 0.08),
                 ((0.25, 0.5), (0.85, -0.65), 0.06)]  # fmt: skip
        for (x0, z0), (x1, z1), wide in limbs:
            across = np.array([z1 - z0, x0 - x1]) / math.hypot(x1 - x0, z1 - z0) * wide
            ends = [(x0, z0, 1.0), (x1, z1, 1.0), (x1, z1, -1.0), (x0, z0, -1.0)]
            corners = [
                (s * (a + e * across[0]), front, z + s * (b + e * across[1])) for a, b, e in ends
            ]
            out.quad(corners, _BLACK, outward=face)
        heap = [(0.55, -0.72), (1.15, -0.72), (0.95, -0.4), (0.8, -0.4)]
        out.quad([(s * a, front, z + s * b) for a, b in heap], _BLACK, outward=face)


def accident_sign(out: Surfaces, half: Half, level: int) -> None:
    """A warning sign with an exclamation mark on a stand."""
    _sign_stand(out, half)
    high, y = 2.0 * half[2], half[1]
    middle = (0.0, 0.25 * y, 0.58 * high)
    triangle_sign(out, middle, 0.92 * half[0], 1.0)
    front, s, z = middle[1] + 0.012, 0.34 * half[0], middle[2]
    mark = [(-0.09, -0.2), (0.09, -0.2), (0.17, 1.1), (-0.17, 1.1)]
    out.quad([(s * a, front, z + s * b) for a, b in mark], _BLACK, outward=(0.0, 1.0, 0.0))
    disc(out, (0.0, front, z - 0.5 * s), 1.0, 0.16 * s, _BLACK, (12, 8, 4)[level])


def _sign_stand(out: Surfaces, half: Half) -> None:
    x, y, high = half[0], half[1], 2.0 * half[2]
    top = 0.58 * high + 1.155 * 0.92 * x
    for side in (-1.0, 1.0):
        out.bar((side * x, y, 0.0), (0.0, 0.1 * y, min(top, high)), 0.02, _GREY, sides=4)
        out.bar((side * x, -y, 0.0), (0.0, 0.1 * y, min(top, high)), 0.02, _GREY, sides=4)
    back = 0.2 * y
    low, tip = 0.58 * high - 0.577 * 0.92 * x, 0.58 * high + 1.155 * 0.92 * x
    wide = 0.92 * x
    corners = [(-wide, back, low), (wide, back, low), (0.0, back, tip), (0.0, back, tip)]
    out.quad(corners, _GREY, outward=(0.0, -1.0, 0.0))


def warning_trailer(out: Surfaces, half: Half, level: int) -> None:
    """A trailer with a board of red and white stripes, an arrow and lamps."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    deck = 0.18 * high
    out.box((-0.9 * x, -y + 0.4, deck), (0.9 * x, y - 0.7, deck + 0.12), _ORANGE)
    out.bar((0.0, y - 0.7, deck + 0.05), (0.0, y, deck - 0.1), 0.04, _GREY)
    n = sides(level, 16)
    for side in (-1.0, 1.0):
        shape = [(-0.09, 0.0), (-0.09, deck), (0.09, deck), (0.09, 0.0)]
        at = (side * (x - 0.12), 0.1 * y, deck)
        out.lathe(at, (1.0, 0.0, 0.0), shape, n, int(Material.RUBBER))
        foot, head = (side * 0.7 * x, -0.4 * y, deck), (side * 0.7 * x, -y + 0.3, 0.8 * high)
        out.bar(foot, head, 0.035, _GREY, sides=4)
    board = -y + 0.12
    bottom = deck + 0.1
    out.box((-x, board, bottom), (x, board + 0.05, high), _YELLOW)
    striped_plank(out, (-x, -y, bottom), (x, board, bottom + 0.16 * high), (7, 5, 3)[level])
    striped_plank(out, (-x, -y, high - 0.12 * high), (x, board, high), (7, 5, 3)[level])
    middle, front = 0.62 * high, board - 0.004
    disc(out, (0.0, front, middle), -1.0, 0.62 * x, int(Material.BLUE), (24, 16, 8)[level])
    s = 0.34 * x
    face = (0.0, -1.0, 0.0)
    front -= 0.006
    shaft = [(-0.75, 0.55), (-0.45, 0.85), (0.4, 0.0), (0.1, -0.3)]
    tip = [(0.75, -0.75), (0.75, 0.25), (0.4, 0.0), (-0.25, -0.75)]
    for shape2 in (shaft, tip):
        out.quad([(s * a, front, middle + s * b) for a, b in shape2], _WHITE, outward=face)
    if level < 2:
        for side in (-1.0, 1.0):
            for z in (bottom + 0.22 * high, high - 0.17 * high):
                lamp = (side * 0.82 * x, front, z)
                disc(out, lamp, -1.0, 0.09, int(Material.SIGNAL_AMBER), 12)


def debris(out: Surfaces, half: Half, level: int) -> None:
    """A heap of earth with stones."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    random = stream(0, "debris", round(1000.0 * high))
    n, rings = (16, 10, 6)[level], (5, 4, 3)[level]
    grid = np.zeros((rings, n + 1, 3))
    for ring in range(rings):
        share = 1.0 - ring / (rings - 1)
        rough = random.uniform(0.8, 1.0, n)
        rough = np.append(rough, rough[0])
        angles = 2.0 * math.pi * np.arange(n + 1) / n
        grid[ring, :, 0] = x * share * rough * np.cos(angles)
        grid[ring, :, 1] = y * share * rough * np.sin(angles)
        grid[ring, :, 2] = high * (1.0 - share**1.5) * (0.85 + 0.15 * rough)
    out.grid(grid, int(Material.EARTH), outward=UP)
    for _ in range((14, 7, 0)[level]):
        angle, far = random.uniform(0.0, 6.28), random.uniform(0.3, 0.9)
        at = (0.9 * x * far * math.cos(angle), 0.9 * y * far * math.sin(angle))
        size = float(random.uniform(0.02, 0.05))
        low = high * (1.0 - far**1.5) * 0.8
        out.box((at[0] - size, at[1] - size, max(low - size, 0.0)),
                (at[0] + size, at[1] + size, low + size), int(Material.CONCRETE),
                taper=(0.7, 0.7))  # fmt: skip


def chain_barrier(out: Surfaces, half: Half, level: int) -> None:
    """Two posts with a chain between them; one post where the box is narrow."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    places = (-x + y, x - y) if x > 2.0 * y else (0.0,)
    n = sides(level, 10)
    for at in places:
        bands = [(0.0, y), (0.06 * high, y), (0.08 * high, 0.35 * y), (0.5 * high, 0.35 * y),
                 (0.75 * high, 0.35 * y), (0.95 * high, 0.4 * y), (high, 0.0)]  # fmt: skip
        kinds = [_BLACK, _BLACK, _RED, _WHITE, _RED, _RED]
        out.lathe((at, 0.0, 0.0), UP, bands, n, kinds)
    if len(places) == 2:
        links = (8, 5, 2)[level]
        for k in range(links):
            ends = []
            for share in (k / links, (k + 1) / links):
                sag = 0.35 * high * 4.0 * share * (1.0 - share)
                ends.append((places[0] + share * (places[1] - places[0]), 0.0, 0.88 * high - sag))
            out.bar(ends[0], ends[1], 0.02, _RED if k % 2 else _WHITE, sides=4)


def street_sign(out: Surfaces, half: Half, level: int) -> None:
    """A board with lines of writing on posts."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    for at in (-0.7 * x, 0.7 * x) if x > 0.8 else (0.0,):
        out.bar((at, 0.0, 0.0), (at, 0.0, high), 0.5 * y, _GREY, sides=sides(level, 8))
    low = 0.55 * high
    out.box((-x, -y, low), (x, y, high), int(Material.BLUE))
    if level < 2:
        for way in (-1.0, 1.0):
            for k, wide in enumerate((0.8, 0.55, 0.7)):
                z = high - (0.25 + 0.25 * k) * (high - low)
                near, far = sorted((way * y, way * (y + 0.002)))
                out.box((-wide * x, near, z - 0.02), (wide * x, far, z + 0.02), _WHITE)
