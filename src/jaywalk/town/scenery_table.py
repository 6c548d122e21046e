"""The scenery table's layout, and a collector that fills it column by column."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


class Shape(IntEnum):
    """How a scenery object is drawn and touched."""

    BOX = 0
    CYLINDER = 1  # upright; ex is the radius, ez the half height
    SPHERE = 2  # tree crowns; ex is the radius


SCENERY: Final = np.dtype(
    [
        ("label", "u1"),  # CARLA semantic label: 3 building, 4 wall, 5 fence, 6 pole, 9 plants, ...
        ("shape", "u1"),
        ("solid", "u1"),  # 1: vehicles and people collide with it
        ("kind", "u1"),  # index into KINDS
        ("x", "f8"), ("y", "f8"), ("z", "f8"),  # centre of the solid
        ("ex", "f8"), ("ey", "f8"), ("ez", "f8"),  # half extents
        ("yaw", "f8"),
        ("red", "u1"), ("green", "u1"), ("blue", "u1"),
    ],
    align=True,
)  # fmt: skip

KINDS: Final = (
    "building", "wall", "fence", "trunk", "crown", "hedge", "lamp", "traffic_light_pole",
    "sign_post", "bench", "bin", "bus_shelter", "hydrant", "mailbox", "bollard", "parked_car",
    "guard_rail", "container", "kiosk", "island", "other",
)  # fmt: skip

# CARLA's semantic labels since 0.9.14: 2 sidewalk, 3 building, 4 wall, 5 fence, 6 pole, 9 plants,
# 14 car, 20 static, 22 other, 28 guard rail.
LABELS: Final = {
    "building": 3, "wall": 4, "fence": 5, "trunk": 9, "crown": 9, "hedge": 9, "lamp": 6,
    "traffic_light_pole": 6, "sign_post": 6, "bench": 20, "bin": 20, "bus_shelter": 20,
    "hydrant": 20, "mailbox": 20, "bollard": 6, "parked_car": 14, "guard_rail": 28,
    "container": 20, "kiosk": 3, "island": 2, "other": 22,
}  # fmt: skip
SIGN_LABEL: Final = 8


def rows(
    kind: str,
    shape: Shape,
    position_m: Values,
    half_m: ArrayLike,
    yaw_rad: ArrayLike,
    colour: ArrayLike,
    *,
    solid: bool = True,
) -> NDArray[np.void]:
    """Scenery rows of one kind standing on ``position_m`` (n, 3), the middle of their foot."""
    position_m = np.asarray(position_m, np.float64).reshape(-1, 3)
    count = len(position_m)
    table = np.zeros(count, SCENERY)
    half = np.broadcast_to(np.asarray(half_m, np.float64), (count, 3))
    tint = np.broadcast_to(np.asarray(colour), (count, 3))
    table["label"], table["shape"] = LABELS[kind], int(shape)
    table["solid"], table["kind"] = int(solid), KINDS.index(kind)
    for column, name in enumerate(("x", "y", "z")):
        table[name] = position_m[:, column]
        table[f"e{name}"] = half[:, column]
    table["z"] += table["ez"]
    table["yaw"] = yaw_rad
    for column, name in enumerate(("red", "green", "blue")):
        table[name] = np.clip(tint[:, column], 0, 255).astype(np.uint8)
    return table


def footprints(table: NDArray[np.void], margin_m: float = 0.0) -> Values:
    """Corners (n, 4, 2) of the rectangles the objects stand on, grown by a margin."""
    ex = table["ex"] + margin_m
    ey = np.where(table["shape"] == int(Shape.BOX), table["ey"], table["ex"]) + margin_m
    cosine, sine = np.cos(table["yaw"]), np.sin(table["yaw"])
    corners = np.empty((len(table), 4, 2))
    for place, (a, b) in enumerate(((-1, -1), (1, -1), (1, 1), (-1, 1))):
        corners[:, place, 0] = table["x"] + a * ex * cosine - b * ey * sine
        corners[:, place, 1] = table["y"] + a * ex * sine + b * ey * cosine
    return corners
