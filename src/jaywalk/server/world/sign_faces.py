"""Faces of the signs along the roads: which plates of the scenery have one, and its picture."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.world.canvas import Canvas, Colour
from jaywalk.town.scenery_signals import PLATES
from jaywalk.town.scenery_table import SIGN_LABEL, Shape

_RED: Final[Colour] = (190, 24, 30)
_WHITE: Final[Colour] = (244, 244, 240)
_LETTER: Final = 0.046  # thickness of a stroke
# Lines of the letters S, T, O, P; each in a unit square, to be squeezed into its place.
_WORD: Final[tuple[list[list[tuple[float, float]]], ...]] = (
    [[(1, 0.1), (0.7, 0), (0.2, 0), (0, 0.2), (0.1, 0.42), (0.9, 0.58), (1, 0.8), (0.8, 1),
      (0.3, 1), (0, 0.9)]],
    [[(0, 0), (1, 0)], [(0.5, 0), (0.5, 1)]],
    [[(0.3, 0), (0.7, 0), (1, 0.3), (1, 0.7), (0.7, 1), (0.3, 1), (0, 0.7), (0, 0.3), (0.3, 0)]],
    [[(0, 1), (0, 0), (0.8, 0), (1, 0.15), (1, 0.38), (0.8, 0.53), (0, 0.53)]],
)  # fmt: skip


def _octagon(half: float) -> list[tuple[float, float]]:
    cut = half * (1.0 - np.tan(np.pi / 8.0))
    low, high = 0.5 - half, 0.5 + half
    return [
        (low + cut, low), (high - cut, low), (high, low + cut), (high, high - cut),
        (high - cut, high), (low + cut, high), (low, high - cut), (low, low + cut),
    ]  # fmt: skip


def _stop() -> Canvas:
    canvas = Canvas(192, 192)
    canvas.fill(canvas.polygon(_octagon(0.49)), _WHITE)
    canvas.fill(canvas.polygon(_octagon(0.455)), _RED)
    for place, lines in enumerate(_WORD):
        left = 0.145 + 0.19 * place
        for line in lines:
            points = [(left + 0.135 * x, 0.36 + 0.28 * y) for x, y in line]
            canvas.fill(canvas.limb(points, _LETTER), _WHITE)
    return canvas


def _yield() -> Canvas:
    canvas = Canvas(192, 192)
    canvas.fill(canvas.polygon([(0.01, 0.08), (0.99, 0.08), (0.5, 0.95)]), _RED)
    canvas.fill(canvas.polygon([(0.19, 0.19), (0.81, 0.19), (0.5, 0.74)]), _WHITE)
    return canvas


_FACES: Final = {PLATES["206"]: _stop, PLATES["205"]: _yield}


@cache
def sign_pictures() -> list[NDArray[np.uint8]]:
    """All faces; :func:`face_numbers` counts them from 0."""
    return [draw().pixels for draw in _FACES.values()]


def face_numbers(scenery: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the face of each row of the scenery; -1: it has none."""
    numbers = np.full(len(scenery), -1, np.int64)
    plates = (scenery["label"] == SIGN_LABEL) & (scenery["shape"] == int(Shape.BOX))
    for number, (red, green, blue) in enumerate(_FACES):
        same = (scenery["red"] == red) & (scenery["green"] == green) & (scenery["blue"] == blue)
        numbers[plates & same] = number
    return numbers
