"""Faces of road signs, and the plates of the scenery that have one.

A face covers the upper face of its plate; where it is transparent, the background is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.world.textures import Canvas, Colour
from jaywalk.town.scenery_rules import PLATES
from jaywalk.town.scenery_styles import Shape

_RED: Final[Colour] = (190, 24, 30)
_WHITE: Final[Colour] = (244, 244, 240)
_LETTER: Final = 0.046  # thickness of a stroke
# Lines of the letters S, T, O, P; each in a unit square, to be squeezed into its place.
_WORD: Final[tuple[list[list[tuple[float, float]]], ...]] = (
    [
        [
            (1, 0.1),
            (0.7, 0),
            (0.2, 0),
            (0, 0.2),
            (0.1, 0.42),
            (0.9, 0.58),
            (1, 0.8),
            (0.8, 1),
            (0.3, 1),
            (0, 0.9),
        ]
    ],
    [[(0, 0), (1, 0)], [(0.5, 0), (0.5, 1)]],
    [[(0.3, 0), (0.7, 0), (1, 0.3), (1, 0.7), (0.7, 1), (0.3, 1), (0, 0.7), (0, 0.3), (0.3, 0)]],
    [[(0, 1), (0, 0), (0.8, 0), (1, 0.15), (1, 0.38), (0.8, 0.53), (0, 0.53)]],
)


def _octagon(half: float) -> list[tuple[float, float]]:
    cut = half * (1.0 - np.tan(np.pi / 8.0))
    low, high = 0.5 - half, 0.5 + half
    return [
        (low + cut, low),
        (high - cut, low),
        (high, low + cut),
        (high, high - cut),
        (high - cut, high),
        (low + cut, high),
        (low, high - cut),
        (low, low + cut),
    ]


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


_BLACK: Final[Colour] = (20, 20, 22)
_LIMITS_KMH: Final = tuple(range(10, 140, 10))
_DIGIT_STROKE: Final = 0.074
# Lines of the digits 0 to 9 in a unit square, x to the right and y downward.
_DIGITS: Final[tuple[list[list[tuple[float, float]]], ...]] = (
    [[(0.5, 0), (0.9, 0.18), (1, 0.5), (0.9, 0.82), (0.5, 1), (0.1, 0.82), (0, 0.5), (0.1, 0.18),
      (0.5, 0)]],
    [[(0.15, 0.22), (0.6, 0), (0.6, 1)]],
    [[(0, 0.25), (0.2, 0.04), (0.55, 0), (0.95, 0.14), (0.95, 0.38), (0.55, 0.65), (0, 1), (1, 1)]],
    [[(0, 0.14), (0.35, 0), (0.85, 0.08), (0.95, 0.28), (0.75, 0.46), (0.4, 0.48)],
     [(0.75, 0.48), (1, 0.7), (0.9, 0.92), (0.45, 1), (0, 0.86)]],
    [[(0.78, 1), (0.78, 0), (0, 0.68), (1, 0.68)]],
    [[(0.92, 0), (0.14, 0), (0.06, 0.46), (0.55, 0.38), (0.95, 0.54), (1, 0.75), (0.75, 0.98),
      (0.3, 1), (0, 0.86)]],
    [[(0.88, 0.06), (0.45, 0.04), (0.1, 0.38), (0.02, 0.72), (0.25, 0.98), (0.7, 0.99),
      (0.98, 0.75), (0.85, 0.5), (0.45, 0.42), (0.1, 0.6)]],
    [[(0, 0), (1, 0), (0.35, 1)]],
    [[(0.5, 0.47), (0.14, 0.34), (0.12, 0.12), (0.5, 0), (0.88, 0.12), (0.86, 0.34), (0.5, 0.47),
      (0.98, 0.66), (0.92, 0.9), (0.5, 1), (0.08, 0.9), (0.02, 0.66), (0.5, 0.47)]],
    [[(0.9, 0.4), (0.55, 0.58), (0.15, 0.5), (0.02, 0.25), (0.3, 0.01), (0.75, 0.02), (0.98, 0.28),
      (0.9, 0.62), (0.55, 0.96), (0.12, 0.94)]],
)  # fmt: skip


def _limit(kmh: int) -> Canvas:
    """A speed limit: its number in a red ring."""
    canvas = Canvas(192, 192)
    canvas.fill(canvas.disc(0.5, 0.5, 0.49), _RED)
    canvas.fill(canvas.disc(0.5, 0.5, 0.385), _WHITE)
    text = str(kmh)
    wide, gap = (0.19, 0.09) if len(text) < 3 else (0.13, 0.068)
    left = 0.5 - 0.5 * (len(text) * wide + (len(text) - 1) * gap)
    for place, digit in enumerate(text):
        start = left + place * (wide + gap)
        for line in _DIGITS[int(digit)]:
            points = [(start + wide * x, 0.33 + 0.34 * y) for x, y in line]
            canvas.fill(canvas.limb(points, _DIGIT_STROKE), _BLACK)
    return canvas


_FACES: Final = {
    PLATES["206"]: _stop,
    PLATES["205"]: _yield,
}
_NUMBERED: Final = PLATES["274"]
_SAME_PLACE_M: Final = 0.5


@cache
def sign_pictures() -> list[NDArray[np.uint8]]:
    """All faces; :func:`face_numbers` counts them from 0."""
    faces = [draw() for draw in _FACES.values()]
    return [face.pixels for face in (*faces, *map(_limit, _LIMITS_KMH))]


def face_numbers(
    scenery: NDArray[Any], limits: Iterable[tuple[float, float, int]] = ()
) -> NDArray[np.int64]:
    """Return the number of the face of each scenery row; -1 if it has none.

    Args:
        scenery: Of the town.
        limits: Place x, y (metres) and limit (km/h) of the town's speed limits.
    """
    numbers = np.full(len(scenery), -1, np.int64)
    plates = (scenery["label"] == SemanticTag.TRAFFIC_SIGN) & (scenery["shape"] == int(Shape.BOX))

    def of_color(color: Colour) -> NDArray[np.bool_]:
        red, green, blue = color
        same = (scenery["red"] == red) & (scenery["green"] == green) & (scenery["blue"] == blue)
        return np.asarray(plates & same)

    for number, color in enumerate(_FACES):
        numbers[of_color(color)] = number
    numbered = np.flatnonzero(of_color(_NUMBERED))
    for x, y, kmh in limits:
        if kmh in _LIMITS_KMH and len(numbered):
            away = np.hypot(scenery["x"][numbered] - x, scenery["y"][numbered] - y)
            if away.min() < _SAME_PLACE_M:
                numbers[numbered[away.argmin()]] = len(_FACES) + _LIMITS_KMH.index(kmh)
    return numbers
