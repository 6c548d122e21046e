"""Colours and shapes that film and picture share."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.demo.traces import FloatArray

# Distinct on grey asphalt; neighbours in the list differ most.
CAR_COLOURS: Final = (
    "#e4572e", "#2e86ab", "#f2c14e", "#7b4fa3", "#3da35d", "#d8489c", "#17becf", "#f78154",
    "#4059ad", "#9bc53d",
)  # fmt: skip
PERSON_COLOUR: Final = "#fff7d6"
PERSON_EDGE: Final = "#1c2733"
LIGHT_COLOURS: Final = ("#e02f3c", "#f0b429", "#2fbf71", "#555555", "#555555")
INK: Final = "#1c2733"


def car_colours(count: int) -> list[str]:
    """A colour per car, by its number."""
    return [CAR_COLOURS[index % len(CAR_COLOURS)] for index in range(count)]


def car_outlines(poses: FloatArray, half_m: FloatArray) -> FloatArray:
    """Corner points of cars: (cars, 6, 2), with a pointed front so that one sees where it goes.

    Args:
        poses: (cars, 3): x, y, yaw in radians.
        half_m: (cars, 2): half length and half width.
    """
    shape = np.array([(-1, -1), (0.62, -1), (1, -0.62), (1, 0.62), (0.62, 1), (-1, 1)], float)
    local = shape[None] * half_m[:, None]
    cos, sin = np.cos(poses[:, 2])[:, None], np.sin(poses[:, 2])[:, None]
    x = poses[:, :1] + cos * local[..., 0] - sin * local[..., 1]
    y = poses[:, 1:2] + sin * local[..., 0] + cos * local[..., 1]
    return np.stack([x, y], axis=-1)
