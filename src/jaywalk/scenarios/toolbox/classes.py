"""The classes of shift by their own names: which type each begins with, and which things."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

Thing = Mapping[str, Any]

# Class of shift -> type, where the two have different names. RightOfWay has a second type,
# NormalVehicleTakingPriority; five have one more that ends in TwoWays.
CLASSES: Final[Mapping[str, str]] = MappingProxyType({
    "BadParking": "BadParkingObstacle",
    "ConstructionPermutations": "PermutedConstructionObstacle",
    "ConstructionPedestrian": "ConstructionObstaclePedestrian",
    "CustomObstacles": "CustomObstacle",
    "FullyBlocked": "RoadBlocked",
    "HardBrake": "HardBrakeNoLights",
    "ObscuredStop": "ObscuredStopSign",
    "OppositeConstruction": "ConstructionObstacleOppositeLane",
    "PassableObstacles": "CustomObstacle",
    "RightConstruction": "ConstructionObstacleRightLane",
    "RightOfWay": "NormalVehicleRunningRedLight",
    "Wall": "RoadBlocked",
})  # fmt: skip
_BARRELS: Final[tuple[Thing, ...]] = tuple(
    {"model": "static.prop.barrel", "x": 0.0, "y": y_m} for y_m in (-0.8, 0.0, 0.8)
)
_THINGS: Final[Mapping[str, tuple[Thing, ...]]] = MappingProxyType({
    "PassableObstacles": tuple(
        {"model": "static.prop.constructioncone", "x": x_m, "y": -2.1}
        for x_m in (0.0, 1.0, 2.0, 3.0)
    ),
    "Wall": tuple(
        {"model": "static.prop.brickwall", "x": 0.0, "y": y_m, "z": 1.55, "yaw": 90.0, "roll": 90.0}
        for y_m in (-3.53, 0.53)
    ),
})  # fmt: skip


def type_of(name: str) -> str:
    """The type of a class; any other name is a type's own."""
    return CLASSES.get(name, name)


def things_of(name: str) -> list[dict[str, Any]]:
    """Things to begin with, for types that place some."""
    return [dict(thing) for thing in _THINGS.get(name, _BARRELS)]
