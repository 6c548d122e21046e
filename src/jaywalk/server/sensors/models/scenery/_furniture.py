"""Furniture of streets, drawn by hand: frame x along the street, y away from it, z up, metres.

Every function fills a box of the given half extents that stands on the origin. ``level`` 0 is seen
near, 2 from afar.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

Half = tuple[float, float, float]
Maker = Callable[[Surfaces, Half, int], None]
_UP: Final = (0.0, 0.0, 1.0)


def sides(level: int, near: int = 12) -> int:
    """Corners of a round shape at a level of detail."""
    return max(4, near >> level)


def bench(out: Surfaces, half: Half, level: int) -> None:
    """A park bench with slats; its back is away from the street."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    seat = 0.53 * high
    slats = (5, 3, 1)[level]
    wide = 2.0 * (y - 0.04) / slats
    for k in range(slats):
        low = -y + k * wide
        out.box((-x, low, seat - 0.03), (x, low + 0.82 * wide, seat), int(Material.WOOD))
    rows = (3, 2, 1)[level]
    tall = (high - seat - 0.08) / rows
    for k in range(rows):
        low = seat + 0.08 + k * tall
        out.box((-x, y - 0.05, low), (x, y - 0.02, low + 0.8 * tall), int(Material.WOOD))
    for place in (-0.8 * x, 0.8 * x):
        out.box(
            (place - 0.03, -y + 0.03, 0.0),
            (place + 0.03, -y + 0.08, seat - 0.03),
            int(Material.GREY),
        )
        out.box((place - 0.03, y - 0.07, 0.0), (place + 0.03, y, high), int(Material.GREY))
        if level < 2:
            out.box(
                (place - 0.03, -y, seat - 0.07), (place + 0.03, y, seat - 0.03), int(Material.GREY)
            )


def bin_(out: Surfaces, half: Half, level: int) -> None:
    """A round litter bin with a lid."""
    r, high = half[0], 2.0 * half[2]
    n = sides(level, 16)
    shape = [
        (0.0, 0.0),
        (0.0, 0.82 * r),
        (0.03, 0.86 * r),
        (0.78 * high, r),
        (0.78 * high, 0.9 * r),
    ]
    out.lathe((0.0, 0.0, 0.0), _UP, shape, n, int(Material.PAINT))
    dark = [(0.78 * high, 0.88 * r), (0.86 * high, 0.88 * r)]
    out.lathe((0.0, 0.0, 0.0), _UP, dark, n, int(Material.BLACK))
    lid = [(0.86 * high, 0.95 * r), (0.93 * high, 0.85 * r), (high, 0.0)]
    out.lathe((0.0, 0.0, 0.0), _UP, lid, n, int(Material.PAINT))


def mailbox(out: Surfaces, half: Half, level: int) -> None:
    """A letter box on a post."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-0.05, -0.05, 0.0), (0.05, 0.05, 0.5 * high), int(Material.GREY))
    out.box((-x, -y, 0.42 * high), (x, y, 0.92 * high), int(Material.PAINT))
    out.box((-x, -y, 0.92 * high), (x, y, high), int(Material.PAINT), taper=(0.86, 0.7))
    if level < 2:
        front = -y - 0.001
        slot = (-0.7 * x, front, 0.80 * high), (0.7 * x, front + 0.01, 0.84 * high)
        out.box(*slot, int(Material.BLACK))
        note = (-0.5 * x, front, 0.56 * high), (0.5 * x, front + 0.005, 0.68 * high)
        out.box(*note, int(Material.WHITE))


def hydrant(out: Surfaces, half: Half, level: int) -> None:
    """A hydrant with side caps."""
    r, high = half[0], 2.0 * half[2]
    n = sides(level, 12)
    shape = [(0.0, 0.0), (0.0, 0.8), (0.06, 0.8), (0.08, 0.5), (0.62, 0.52), (0.64, 0.66),
             (0.70, 0.66), (0.84, 0.52), (0.95, 0.28), (1.0, 0.0)]  # fmt: skip
    scaled = [(z * high, share * r) for z, share in shape]
    out.lathe((0.0, 0.0, 0.0), _UP, scaled, n, int(Material.PAINT))
    if level < 2:
        for side in (-1.0, 1.0):
            end = (0.0, side * r, 0.5 * high)
            out.bar((0.0, side * 0.3 * r, 0.5 * high), end, 0.3 * r, int(Material.PAINT), sides=n)
        out.bar(
            (0.0, 0.0, 0.5 * high), (-r, 0.0, 0.5 * high), 0.36 * r, int(Material.PAINT), sides=n
        )


def bollard(out: Surfaces, half: Half, level: int) -> None:
    """A marker post: a dark band with a reflector near its top."""
    r, high = half[0], 2.0 * half[2]
    n = sides(level, 10)
    bands = [(0.0, r), (0.72 * high, r), (0.90 * high, r), (0.97 * high, 0.9 * r), (high, 0.0)]
    kinds = [int(Material.PAINT), int(Material.BLACK), int(Material.PAINT), int(Material.PAINT)]
    out.lathe((0.0, 0.0, 0.0), _UP, bands, n, kinds)
    if level < 2:
        for side in (-1.0, 1.0):
            low = (-0.3 * r, side * r - 0.004, 0.76 * high)
            out.box(low, (0.3 * r, side * r + 0.004, 0.86 * high), int(Material.REFLECTOR))


def lamp(out: Surfaces, half: Half, level: int) -> None:
    """A lamp post with a lantern on its top, the same from all sides."""
    r, high = half[0], 2.0 * half[2]
    n = sides(level, 12)
    top = high - 0.75
    post = [(0.0, 0.0), (0.0, 1.5 * r), (0.35, 1.45 * r), (0.42, r), (top, 0.55 * r)]
    out.lathe((0.0, 0.0, 0.0), _UP, post, n, int(Material.PAINT))
    glass = [(top, 0.12), (top + 0.5, 0.24)]
    out.lathe((0.0, 0.0, 0.0), _UP, glass, n, int(Material.REFLECTOR))
    roof = [(top + 0.5, 0.30), (top + 0.56, 0.30), (top + 0.70, 0.10), (high, 0.0)]
    out.lathe((0.0, 0.0, 0.0), _UP, roof, n, int(Material.PAINT))
    if level == 0:
        out.lathe((0.0, 0.0, 0.0), _UP, [(top - 0.04, 0.0), (top - 0.04, 0.16), (top, 0.16)], n,
                  int(Material.PAINT))  # fmt: skip


def pole(out: Surfaces, half: Half, level: int) -> None:
    """The pole of traffic lights."""
    r, high = half[0], 2.0 * half[2]
    shape = [(0.0, 0.0), (0.0, 1.9 * r), (0.05, 1.9 * r), (0.06, r), (high, 0.7 * r), (high, 0.0)]
    out.lathe((0.0, 0.0, 0.0), _UP, shape, sides(level, 12), int(Material.PAINT))


def guard_rail(out: Surfaces, half: Half, level: int) -> None:
    """A steel beam with a double wave on posts."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    low = high - 0.31
    wave = [(-y, low), (0.0, low + 0.05), (0.0, low + 0.09), (-y, low + 0.14),
            (-y, low + 0.17), (0.0, low + 0.22), (0.0, low + 0.26), (-y, high)]  # fmt: skip
    if level == 2:
        wave = [wave[0], wave[-1]]
    grid = np.array([[(end, side, z) for side, z in wave] for end in (-x, x)])
    out.grid(grid, int(Material.METAL), outward=(0.0, -1.0, 0.0))
    out.grid(grid + np.array([0.0, 0.012, 0.0]), int(Material.METAL), outward=(0.0, 1.0, 0.0))
    for k in range((5, 3, 2)[level]):
        at = -0.9 * x + 1.8 * x * k / ((5, 3, 2)[level] - 1)
        out.box((at - 0.05, 0.0, 0.0), (at + 0.05, y, high - 0.02), int(Material.METAL))


def fence(out: Surfaces, half: Half, level: int) -> None:
    """A garden fence of boards."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    if level == 2:
        out.box((-x, -0.02, 0.08 * high), (x, 0.02, high), int(Material.WOOD))
        return
    for low in (0.22, 0.72):
        out.box((-x, 0.0, low * high), (x, y, (low + 0.09) * high), int(Material.WOOD))
    count = max(2, round(2.0 * x / (0.16 if level == 0 else 0.32)))
    wide = 2.0 * x / count
    for k in range(count):
        left = -x + k * wide
        board = (left, -y, 0.05 * high), (left + 0.72 * wide, 0.0, 0.93 * high)
        out.box(*board, int(Material.WOOD))
        if level == 0:
            tip = (left, -y, 0.93 * high), (left + 0.72 * wide, 0.0, high)
            out.box(*tip, int(Material.WOOD), taper=(0.1, 1.0))


def container(out: Surfaces, half: Half, level: int) -> None:
    """A freight container with corrugated walls; two of them where it is tall."""
    x, y = half[0], half[1]
    stacked = 2 if half[2] > 2.0 else 1
    tall = 2.0 * half[2] / stacked
    for floor in range(stacked):
        base = floor * tall
        if level == 2:
            out.box((-x, -y, base), (x, y, base + tall), int(Material.PAINT))
            continue
        out.box(
            (-x, -y + 0.05, base + 0.1),
            (x - 0.06, y - 0.05, base + tall - 0.03),
            int(Material.PAINT),
        )
        for rail in (base, base + tall - 0.12):
            for side in (-1.0, 1.0):
                low, high = sorted((side * y, side * (y - 0.08)))
                out.box((-x, low, rail), (x, high, rail + 0.12), int(Material.PAINT))
        for end in (-1.0, 1.0):
            for side in (-1.0, 1.0):
                near, far = sorted((end * x, end * (x - 0.12)))
                low, high = sorted((side * y, side * (y - 0.12)))
                out.box((near, low, base), (far, high, base + tall), int(Material.PAINT))
        ribs = (26, 13)[level]
        for k in range(ribs):
            at = -x + 0.2 + (2.0 * x - 0.4) * k / ribs
            for side in (-1.0, 1.0):
                low, high = sorted((side * (y - 0.05), side * (y - 0.01)))
                rib = (
                    (at, low, base + 0.12),
                    (at + (2.0 * x - 0.4) / ribs * 0.5, high, base + tall - 0.12),
                )
                out.box(*rib, int(Material.PAINT))
        for bar in (-0.6, -0.2, 0.2, 0.6):
            at = bar * y
            out.box((x - 0.06, at - 0.02, base + 0.1), (x - 0.005, at + 0.02, base + tall - 0.08),
                    int(Material.METAL))  # fmt: skip


def shelter(out: Surfaces, half: Half, level: int) -> None:
    """A bus shelter, open to the street, with a bench and a poster."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -y, high - 0.14), (x, y, high), int(Material.GREY))
    for at in (-x + 0.05, x - 0.05):
        for aside in (-y + 0.25, y - 0.05):
            out.box(
                (at - 0.04, aside - 0.04, 0.0),
                (at + 0.04, aside + 0.04, high - 0.14),
                int(Material.GREY),
            )
    panes = (4, 2, 1)[level]
    for k in range(panes):
        left = -x + 0.1 + (2.0 * x - 0.2) * k / panes
        right = left + (2.0 * x - 0.2) / panes - 0.04
        out.box((left, y - 0.05, 0.18), (right, y - 0.03, high - 0.25), int(Material.GLASS))
    out.box((-x + 0.03, -y + 0.3, 0.18), (-x + 0.05, y - 0.1, high - 0.25), int(Material.GLASS))
    out.box((x - 0.07, -y + 0.3, 0.15), (x - 0.03, y - 0.1, high - 0.22), int(Material.WHITE))
    if level < 2:
        out.box((x - 0.075, -y + 0.36, 0.4), (x - 0.025, y - 0.16, high - 0.45), int(Material.BLUE))
        out.box((-0.6 * x, y - 0.45, 0.42), (0.5 * x, y - 0.12, 0.47), int(Material.WOOD))
        for at in (-0.5 * x, 0.4 * x):
            out.box((at - 0.03, y - 0.3, 0.0), (at + 0.03, y - 0.24, 0.42), int(Material.GREY))
        out.box(
            (-0.5 * x, -y + 0.005, high - 0.12),
            (0.5 * x, -y - 0.001, high - 0.02),
            int(Material.YELLOW),
        )


def kiosk(out: Surfaces, half: Half, level: int) -> None:
    """A stall with a window, a counter and a striped awning on the side of the street."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    front = -y + 0.3
    out.box((-x, front, 0.0), (x, y, high - 0.15), int(Material.PAINT))
    out.box((-x, front - 0.08, high - 0.15), (x, y, high), int(Material.WHITE), taper=(0.95, 0.95))
    out.box(
        (-0.8 * x, front - 0.005, 0.45 * high),
        (0.8 * x, front + 0.01, 0.75 * high),
        int(Material.GLASS),
    )
    out.box((-0.9 * x, front - 0.2, 0.40 * high), (0.9 * x, front, 0.43 * high), int(Material.WOOD))
    stripes = (10, 5, 1)[level]
    for k in range(stripes):
        left = -x + 2.0 * x * k / stripes
        right = left + 2.0 * x / stripes
        corners = [(left, front, 0.88 * high), (right, front, 0.88 * high),
                   (right, -y, 0.76 * high), (left, -y, 0.76 * high)]  # fmt: skip
        out.quad(corners, int(Material.RED if k % 2 else Material.WHITE), outward=_UP)


def wall(out: Surfaces, half: Half, level: int) -> None:
    """A garden wall with a coping."""
    x, y, high = half[0], half[1], 2.0 * half[2]
    out.box((-x, -0.75 * y, 0.0), (x, 0.75 * y, 0.93 * high), int(Material.BRICK))
    out.box((-x, -y, 0.93 * high), (x, y, high), int(Material.CONCRETE))


FURNITURE: Final[dict[str, Maker]] = {
    "bench": bench,
    "bin": bin_,
    "mailbox": mailbox,
    "hydrant": hydrant,
    "bollard": bollard,
    "lamp": lamp,
    "traffic_light_pole": pole,
    "guard_rail": guard_rail,
    "fence": fence,
    "wall": wall,
    "container": container,
    "bus_shelter": shelter,
    "kiosk": kiosk,
}
