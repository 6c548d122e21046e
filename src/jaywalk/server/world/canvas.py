"""A small canvas for procedural pictures: shapes, gradients and noise on an array, no library."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        """A gradient between two heights."""
        share = np.clip((self.y - low) / (high - low), 0.0, 1.0)[..., None]
        colours = np.array(top) * (1.0 - share) + np.array(bottom) * share
        mask = (self.y >= low) & (self.y < high)
        self.pixels[mask, :3] = colours[mask].astype(np.uint8)
        self.pixels[mask, 3] = 255

    def grain(self, random: np.random.Generator, strength: float, mask: Any = None) -> None:
        """Add noise to the brightness of what is painted."""
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
