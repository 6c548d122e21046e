"""Procedural pictures of the novel props, and a small canvas to draw them on.

Props show road scenes, bricks, a child, a red light or faults. A picture covers the upper face of
its plate: rows run along the plate's y axis, columns along x. Transparent pixels show the
background. The canvas draws shapes, gradients and noise on an array without a library, from a
fixed seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]


class Canvas:
    """RGBA pixels, addressed by shares of width and height: (0, 0) is the upper left corner."""

    def __init__(self, width: int, height: int, colour: Colour | None = None) -> None:
        self.pixels: NDArray[np.uint8] = np.zeros((height, width, 4), np.uint8)
        if colour is not None:
            self.pixels[...] = (*colour, 255)
        rows, columns = np.mgrid[0:height, 0:width]
        self.x: NDArray[np.float64] = (columns + 0.5) / width
        self.y: NDArray[np.float64] = (rows + 0.5) / height
        self.aspect = width / height  # a unit of x is so many units of y

    def fill(self, mask: NDArray[np.bool_], colour: Colour) -> None:
        """Paint where a mask holds."""
        self.pixels[mask] = (*colour, 255)

    def erase(self, mask: NDArray[np.bool_]) -> None:
        """Make transparent where a mask holds."""
        self.pixels[mask] = 0

    def disc(self, x: float, y: float, radius: float) -> NDArray[np.bool_]:
        """Mask of a disc; the radius is a share of the height."""
        away = ((self.x - x) * self.aspect) ** 2 + (self.y - y) ** 2
        return np.asarray(away <= radius**2)

    def box(self, x0: float, y0: float, x1: float, y1: float) -> NDArray[np.bool_]:
        """Mask of a box."""
        inside = (self.x >= x0) & (self.x < x1) & (self.y >= y0) & (self.y < y1)
        return np.asarray(inside)

    def polygon(self, corners: Points) -> NDArray[np.bool_]:
        """Mask of a polygon, by the even-odd rule."""
        inside = np.zeros(self.x.shape, np.bool_)
        for k, (x1, y1) in enumerate(corners):
            x0, y0 = corners[k - 1]
            if y0 == y1:
                continue
            crosses = (y0 > self.y) != (y1 > self.y)
            at = x0 + (self.y - y0) / (y1 - y0) * (x1 - x0)
            inside ^= crosses & (self.x < at)
        return inside

    def limb(self, points: Points, thick: float) -> NDArray[np.bool_]:
        """Mask of a rounded line through points; the thickness is a share of the height."""
        mask = np.zeros(self.x.shape, np.bool_)
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            ax, ay = (x1 - x0) * self.aspect, y1 - y0
            bx, by = (self.x - x0) * self.aspect, self.y - y0
            share = np.clip((ax * bx + ay * by) / max(ax * ax + ay * ay, 1e-9), 0.0, 1.0)
            mask |= (bx - share * ax) ** 2 + (by - share * ay) ** 2 <= (0.5 * thick) ** 2
        return mask

    def shade(self, top: Colour, bottom: Colour, low: float = 0.0, high: float = 1.0) -> None:
        """Draw a gradient between two heights."""
        share = np.clip((self.y - low) / (high - low), 0.0, 1.0)[..., None]
        colours = np.array(top) * (1.0 - share) + np.array(bottom) * share
        mask = (self.y >= low) & (self.y < high)
        self.pixels[mask, :3] = colours[mask].astype(np.uint8)
        self.pixels[mask, 3] = 255

    def grain(self, random: np.random.Generator, strength: float, mask: Any = None) -> None:
        """Add noise to the brightness of painted pixels."""
        noise = random.normal(0.0, strength, self.x.shape)[..., None]
        noisy = np.clip(self.pixels[..., :3] + noise, 0, 255).astype(np.uint8)
        where = self.pixels[..., 3] > 0
        if mask is not None:
            where &= mask
        self.pixels[where, :3] = noisy[where]


def blotches(random: np.random.Generator, shape: tuple[int, int], cells: int) -> Any:
    """Smooth noise, -1 to 1: random values on a coarse grid, interpolated."""
    coarse = random.uniform(-1.0, 1.0, (cells + 1, cells + 1))
    rows = np.linspace(0.0, cells - 1e-6, shape[0])
    columns = np.linspace(0.0, cells - 1e-6, shape[1])
    i, j = rows.astype(int), columns.astype(int)
    u, v = (rows - i)[:, None], (columns - j)[None, :]
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    upper = coarse[i][:, j] * (1 - v) + coarse[i][:, j + 1] * v
    lower = coarse[i + 1][:, j] * (1 - v) + coarse[i + 1][:, j + 1] * v
    return upper * (1 - u) + lower * u


Picture = NDArray[np.uint8]  # (rows, columns, 4)
_ASPHALT: Final[Colour] = (84, 87, 92)


def _road(
    name: str,
    *,
    lanes: int,
    sky: tuple[Colour, Colour],
    land: Colour,
    vanishing: float = 0.5,
    rows: int = 256,
) -> Canvas:
    """Draw a road to the horizon, for walls that look like a road."""
    canvas, random = Canvas(512, rows), stream(0, "texture", name)
    canvas.shade(*sky, 0.0, 0.45)
    far = tuple(min(value + 35, 255) for value in land)
    canvas.shade((far[0], far[1], far[2]), land, 0.45, 1.0)
    hills = 0.45 - 0.05 * (1 + np.sin(9.0 * canvas.x)) * (1 + 0.5 * np.cos(23.0 * canvas.x)) / 2
    canvas.fill((canvas.y > hills) & (canvas.y < 0.45), (110, 130, 110))
    depth = np.clip((canvas.y - 0.45) / 0.55, 1e-3, 1.0)
    aside = (canvas.x - vanishing) / depth  # -0.5 to 0.5: the road at the bottom
    ground = canvas.y >= 0.45
    canvas.fill(ground & (np.abs(aside) < 0.5), _ASPHALT)
    canvas.grain(random, 4.0, ground)
    for border in (-0.47, 0.47):
        canvas.fill(ground & (np.abs(aside - border) < 0.012), (235, 235, 230))
    along = 1.0 / depth
    for number in range(1, lanes):
        middle = -0.5 + number / lanes
        dashed = np.mod(along * 4.0, 1.0) < 0.5
        colour = (245, 200, 60) if lanes == 2 else (235, 235, 230)
        canvas.fill(ground & (np.abs(aside - middle) < 0.010) & dashed, colour)
    for side in (-1.0, 1.0):
        for k in range(6):
            size = 0.03 + 0.05 * k
            x = vanishing + side * (0.62 * size / 0.28 * 0.5 + 0.04)
            canvas.fill(canvas.disc(x, 0.45 - 0.4 * size + 0.10 * k * size, size), (62, 98, 58))
    return canvas


def _autobahn() -> Canvas:
    canvas = _road(
        "autobahn", lanes=3, sky=((120, 165, 215), (215, 228, 238)), land=(120, 150, 90), rows=384
    )
    canvas.fill(canvas.box(0.38, 0.16, 0.62, 0.27), (20, 70, 160))
    canvas.fill(canvas.box(0.39, 0.18, 0.61, 0.19), (240, 240, 240))
    canvas.fill(canvas.limb([(0.44, 0.25), (0.5, 0.205), (0.56, 0.25)], 0.012), (240, 240, 240))
    for x in (0.385, 0.615):
        canvas.fill(canvas.box(x - 0.004, 0.27, x + 0.004, 0.47), (120, 120, 125))
    return canvas


def _screenshot1() -> Canvas:
    canvas = _road(
        "screenshot1", lanes=2, sky=((105, 150, 205), (225, 232, 236)), land=(130, 145, 85)
    )
    for x, high, colour in ((0.06, 0.30, (170, 120, 95)), (0.87, 0.25, (190, 175, 150))):
        canvas.fill(canvas.box(x - 0.06, 0.45 - high, x + 0.07, 0.52), colour)
        for k in range(3):
            left = x - 0.04 + 0.035 * k
            canvas.fill(canvas.box(left, 0.5 - high, left + 0.02, 0.57 - high), (70, 85, 105))
    return canvas


def _screenshot2() -> Canvas:
    canvas = _road(
        "screenshot2",
        lanes=2,
        sky=((150, 150, 160), (205, 205, 208)),
        land=(95, 110, 80),
        vanishing=0.56,
    )
    canvas.fill(canvas.box(0.52, 0.50, 0.575, 0.58), (150, 40, 40))  # a car far ahead
    canvas.fill(canvas.box(0.53, 0.465, 0.565, 0.505), (60, 75, 90))
    return canvas


def _brickwall() -> Canvas:
    canvas, random = Canvas(512, 384, (150, 72, 58)), stream(0, "texture", "brickwall")
    rows, across = 18, 10
    row = np.floor(canvas.y * rows)
    shifted = canvas.x * across + 0.5 * np.mod(row, 2)
    tint = random.uniform(-22.0, 22.0, (rows, across + 2))
    brick = tint[row.astype(int), np.floor(shifted).astype(int)][..., None]
    canvas.pixels[..., :3] = np.clip(canvas.pixels[..., :3] + brick, 0, 255).astype(np.uint8)
    joint = (np.mod(canvas.y * rows, 1.0) < 0.12) | (np.mod(shifted, 1.0) < 0.05)
    canvas.fill(joint, (186, 180, 170))
    canvas.grain(random, 6.0)
    return canvas


def _child() -> Canvas:
    """Draw a running child, cut out."""
    canvas = Canvas(152, 256)
    skin, shirt, trousers, shoes = (224, 172, 138), (214, 60, 52), (48, 78, 140), (40, 40, 44)
    canvas.fill(canvas.limb([(0.46, 0.56), (0.26, 0.70), (0.10, 0.84)], 0.075), trousers)
    canvas.fill(canvas.limb([(0.52, 0.56), (0.74, 0.68), (0.66, 0.86)], 0.075), trousers)
    canvas.fill(canvas.limb([(0.10, 0.84), (0.04, 0.90)], 0.06), shoes)
    canvas.fill(canvas.limb([(0.66, 0.88), (0.82, 0.93)], 0.06), shoes)
    canvas.fill(canvas.limb([(0.50, 0.28), (0.50, 0.56)], 0.15), shirt)
    canvas.fill(canvas.limb([(0.46, 0.30), (0.22, 0.42), (0.36, 0.50)], 0.055), skin)
    canvas.fill(canvas.limb([(0.56, 0.30), (0.80, 0.38), (0.92, 0.28)], 0.055), skin)
    canvas.fill(canvas.disc(0.54, 0.14, 0.085), skin)
    canvas.fill(canvas.disc(0.52, 0.10, 0.075) & (canvas.y < 0.12), (92, 60, 36))
    canvas.fill(canvas.disc(0.64, 0.13, 0.010), (30, 30, 30))
    return canvas


def _red_light() -> Canvas:
    """Draw a traffic light that shows red."""
    canvas = Canvas(144, 256)
    canvas.fill(canvas.box(0.12, 0.02, 0.88, 0.98), (28, 30, 32))
    lamps: tuple[tuple[float, Colour], ...] = (
        (0.19, (235, 36, 30)),
        (0.50, (64, 52, 18)),
        (0.81, (18, 52, 30)),
    )
    for y, colour in lamps:
        canvas.fill(canvas.disc(0.5, y, 0.135), (10, 10, 12))
        canvas.fill(canvas.disc(0.5, y, 0.12), colour)
    canvas.fill(canvas.disc(0.44, 0.16, 0.035), (255, 150, 140))
    return canvas


def _sign() -> Canvas:
    """Draw a warning triangle."""
    canvas = Canvas(192, 192)
    canvas.fill(canvas.polygon([(0.5, 0.04), (0.98, 0.92), (0.02, 0.92)]), (200, 30, 36))
    canvas.fill(canvas.polygon([(0.5, 0.20), (0.84, 0.83), (0.16, 0.83)]), (245, 245, 240))
    canvas.fill(canvas.limb([(0.5, 0.42), (0.5, 0.62)], 0.06), (20, 20, 22))
    canvas.fill(canvas.disc(0.5, 0.74, 0.035), (20, 20, 22))
    return canvas


def _cover(name: str, colour: Colour, share: float, from_above: float) -> Canvas:
    """Something that sticks to a sign in patches; ``from_above``: rather its upper part."""
    canvas, random = Canvas(192, 192), stream(0, "texture", name)
    noise = blotches(random, canvas.x.shape, 6) + 0.5 * blotches(random, canvas.x.shape, 14)
    wanted = noise + from_above * (0.5 - canvas.y) > np.quantile(noise, 1.0 - share)
    canvas.fill(wanted & canvas.disc(0.5, 0.5, 0.49), colour)
    canvas.grain(random, 9.0)
    return canvas


def _snow() -> Canvas:
    return _cover("snow", (238, 242, 248), 0.75, 0.6)


def _dirt() -> Canvas:
    return _cover("dirt", (98, 76, 52), 0.65, -0.5)


def _graffiti() -> Canvas:
    canvas = Canvas(256, 128)
    strokes: tuple[tuple[tuple[tuple[float, float], ...], Colour], ...] = (
        (((0.05, 0.8), (0.18, 0.2), (0.30, 0.75), (0.42, 0.25)), (30, 190, 210)),
        (((0.40, 0.3), (0.55, 0.8), (0.66, 0.2), (0.80, 0.7)), (240, 70, 160)),
        (((0.72, 0.5), (0.84, 0.25), (0.95, 0.55), (0.80, 0.85), (0.62, 0.88)), (250, 200, 40)),
        (((0.04, 0.92), (0.5, 0.86), (0.96, 0.94)), (20, 20, 24)),
    )
    for points, colour in strokes:
        canvas.fill(canvas.limb(points, 0.15), (20, 20, 24))
        canvas.fill(canvas.limb(points, 0.10), colour)
    return canvas


def _stickers() -> Canvas:
    canvas, random = Canvas(192, 192), stream(0, "texture", "stickers")
    colours: tuple[Colour, ...] = (
        (250, 220, 60),
        (60, 150, 230),
        (70, 190, 90),
        (245, 245, 245),
        (240, 120, 40),
    )
    for k in range(11):
        x, y = random.uniform(0.15, 0.85, 2)
        half = float(random.uniform(0.05, 0.11))
        colour = colours[int(random.integers(len(colours)))]
        if k % 2:
            canvas.fill(canvas.disc(float(x), float(y), half), colour)
        else:
            canvas.fill(canvas.box(x - half, y - 0.6 * half, x + half, y + 0.6 * half), colour)
            canvas.fill(
                canvas.box(x - 0.7 * half, y - 0.1 * half, x + 0.7 * half, y + 0.1 * half),
                (40, 40, 44),
            )
    return canvas


def _smiley() -> Canvas:
    canvas = Canvas(128, 128)
    canvas.fill(canvas.disc(0.5, 0.5, 0.48), (20, 20, 20))
    canvas.fill(canvas.disc(0.5, 0.5, 0.45), (252, 212, 42))
    canvas.fill(canvas.disc(0.34, 0.38, 0.06) | canvas.disc(0.66, 0.38, 0.06), (20, 20, 20))
    smile = canvas.disc(0.5, 0.52, 0.28) & ~canvas.disc(0.5, 0.48, 0.25) & (canvas.y > 0.58)
    canvas.fill(smile, (20, 20, 20))
    return canvas


def _patch() -> Canvas:
    """Fresh asphalt where the word STOP was."""
    canvas, random = Canvas(192, 176, (62, 64, 68)), stream(0, "texture", "asphaltpatch")
    canvas.grain(random, 7.0)
    edge = blotches(random, canvas.x.shape, 10)
    border = np.minimum(np.minimum(canvas.x, 1 - canvas.x), np.minimum(canvas.y, 1 - canvas.y))
    canvas.erase(border < 0.03 + 0.02 * edge)
    return canvas


_PICTURES: Final[dict[str, Callable[[], Canvas]]] = {
    "ampel": _red_light,
    "asphaltpatch": _patch,
    "autobahn": _autobahn,
    "brickwall": _brickwall,
    "dirt": _dirt,
    "graffiti": _graffiti,
    "schild": _sign,
    "screenshot1": _screenshot1,
    "screenshot2": _screenshot2,
    "smiley": _smiley,
    "snow": _snow,
    "stickers": _stickers,
    "walkingkid": _child,
    "walkingkidlarge": _child,
}
TEXTURED: Final = tuple(sorted(_PICTURES))


@cache
def texture(name: str) -> Picture | None:
    """The picture of a prop by the last part of its id, e.g. ``brickwall``; None: it has none."""
    draw = _PICTURES.get(name)
    if draw is None:
        return None
    pixels = draw().pixels
    pixels.setflags(write=False)
    return pixels
