"""Scenery beside the roads: buildings, walls, trees, lamps and street furniture as simple solids.

One structured array holds a town's scenery. Frame: CARLA's left-handed world, metres, radians.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np


class Shape(IntEnum):
    """How a scenery object is drawn and touched."""

    BOX = 0
    CYLINDER = 1  # upright; ex is the radius, ez the half height
    SPHERE = 2  # tree crowns; ex is the radius


SCENERY: Final = np.dtype(
    [
        ("label", "u1"),  # CARLA semantic label: 3 building, 4 wall, 5 fence, 6 pole, 9 vegetation, ...
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
    "building", "wall", "fence", "trunk", "crown", "hedge", "lamp", "traffic_light_pole", "sign_post",
    "bench", "bin", "bus_shelter", "hydrant", "mailbox", "bollard", "parked_car", "guard_rail",
    "container", "kiosk", "island", "other",
)  # fmt: skip
