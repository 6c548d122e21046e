"""What blocks a whole street: objects from kerb to kerb, so that nobody gets through."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from jaywalk.scenarios.parameter_fields import PlacedObject, format_object

Block = Callable[[float, float], list[PlacedObject]]
_GAP_M: Final = 0.06
_OVER_M: Final = 0.3  # beyond each kerb


def haybales(left_m: float, right_m: float) -> list[PlacedObject]:
    """A loose row of bales."""
    spots = _spread(left_m, right_m, 1.75)
    return [
        PlacedObject(id="static.prop.haybale", x=0.9 * (k % 2), y=y, z=0.1, yaw=23.0 * k % 60.0)
        for k, y in enumerate(spots)
    ]


def barriers(left_m: float, right_m: float) -> list[PlacedObject]:
    """A warning and a row of barriers."""
    row = [
        PlacedObject(id="static.prop.streetbarrier", x=2.5, y=y, z=0.05, yaw=90.0)
        for y in _spread(left_m, right_m, 1.35)
    ]
    return [PlacedObject(id="static.prop.trafficwarning", y=0.0, z=0.1, yaw=270.0), *row]


def _vehicle(name: str, yaw_deg: float) -> Block:
    def build(left_m: float, right_m: float) -> list[PlacedObject]:
        middle_m = 0.5 * (right_m - left_m)
        return [PlacedObject(id=name, y=round(middle_m, 2), z=0.4, yaw=yaw_deg)]

    return build


def _wall(name: str, half_length_m: float, half_height_m: float) -> Block:
    def build(left_m: float, right_m: float) -> list[PlacedObject]:
        wide_m = left_m + right_m + 2.0 * _OVER_M
        count = math.ceil(wide_m / (2.0 * half_length_m))
        step_m = 2.0 * half_length_m + _GAP_M
        first_m = 0.5 * (right_m - left_m) - 0.5 * step_m * (count - 1)
        return [
            PlacedObject(id=f"static.prop.{name}", y=round(first_m + k * step_m, 2),
                         z=half_height_m + 0.05, yaw=90.0, roll=90.0)
            for k in range(count)
        ]  # fmt: skip

    return build


def _spread(left_m: float, right_m: float, step_m: float) -> list[float]:
    """Places across the street at most so far apart."""
    low_m, high_m = -left_m + 0.4, right_m - 0.4
    count = math.ceil((high_m - low_m) / step_m) + 1
    return [round(low_m + k * (high_m - low_m) / (count - 1), 2) for k in range(count)]


BLOCKS: Final[dict[str, Block]] = {
    "haybales": haybales,
    "barriers": barriers,
    "truck": _vehicle("vehicle.carlamotors.european_hgv", 100.0),
    "fire_engine": _vehicle("vehicle.carlamotors.firetruck", 75.0),
    "van": _vehicle("vehicle.mercedes.sprinter", 97.0),
    "brick_wall": _wall("brickwall", 2.0, 1.5),
    "first_picture": _wall("screenshot1", 4.0, 2.0),
    "second_picture": _wall("screenshot2", 4.0, 2.0),
    "motorway_picture": _wall("autobahn", 3.333, 2.5),
}


def block(name: str, left_m: float, right_m: float) -> dict[str, str]:
    """Attributes of ``<objects>`` for a street that ends so far left and right of the ego's way."""
    things = BLOCKS[name](left_m, right_m)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {letters[k]: format_object(thing) for k, thing in enumerate(things)}
