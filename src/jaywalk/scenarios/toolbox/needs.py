"""What a scenario type needs of a place: lanes beside, a junction, its lights, who comes there.

The classes of shift by their own names: which type each begins with, and which things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

Thing = Mapping[str, Any]
# Class of shift -> type, where the two have different names. RightOfWay has a second type,
# NormalVehicleTakingPriority; five have one more that ends in TwoWays.
CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
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
    }
)
_BARRELS: Final[tuple[Thing, ...]] = tuple(
    {"model": "static.prop.barrel", "x": 0.0, "y": y_m} for y_m in (-0.8, 0.0, 0.8)
)
_THINGS: Final[Mapping[str, tuple[Thing, ...]]] = MappingProxyType(
    {
        "PassableObstacles": tuple(
            {"model": "static.prop.constructioncone", "x": x_m, "y": -2.1}
            for x_m in (0.0, 1.0, 2.0, 3.0)
        ),
        "Wall": tuple(
            {
                "model": "static.prop.brickwall",
                "x": 0.0,
                "y": y_m,
                "z": 1.55,
                "yaw": 90.0,
                "roll": 90.0,
            }
            for y_m in (-3.53, 0.53)
        ),
    }
)


def type_of(name: str) -> str:
    """The type of a class; any other name is a type's own."""
    return CLASSES.get(name, name)


def things_of(name: str) -> list[dict[str, Any]]:
    """Things to begin with, for types that place some."""
    return [dict(thing) for thing in _THINGS.get(name, _BARRELS)]


JUNCTION, TURN_LEFT, TURN_RIGHT = "straight", "left", "right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a route of a type has to offer.

    Attributes:
        junction: How the ego goes at the first junction; "" for a stretch without one.
        control: Before it ``light``, ``stop``, ``free`` (neither lights nor signs) or ``dark`` (no
            lights); "" for any.
        arm: From where somebody meets the ego there; "" for nobody.
        they: How they go, ``straight``, ``right`` or "" for any way.
        return_lane: A lane left of theirs where they begin and end, for others the other way.
        lane: Beside the lane: ``same`` (left, same direction), ``opposite``, ``queue`` (right, same
            direction), ``parking`` (right), or "" for any.
        sidewalk: A sidewalk on the right, before the junction if there is one.
        length_m: Clear road from the trigger on.
        parks_m: Where somebody parks, from the trigger on.
    """

    junction: str = ""
    control: str = ""
    arm: str = ""
    they: str = ""
    return_lane: bool = False
    lane: str = ""
    sidewalk: bool = False
    length_m: float = 65.0
    parks_m: tuple[float, float] = (20.0, 45.0)


_SAME: Final = Needs(lane="same")
_OPPOSITE: Final = Needs(lane="opposite")
_ON_LANE: Final = (
    "jaywalk/parked-obstacle-v1",
    "jaywalk/construction-v1",
    "ParkedObstacle",
    "ConstructionObstacle",
    "CustomObstacle",
    "BadParkingObstacle",
    "PermutedConstructionObstacle",
    "ConstructionObstaclePedestrian",
    "ConstructionObstacleRightLane",
    "Accident",
    "YieldToEmergencyVehicle",
)


def _left(control: str, they: str) -> Needs:
    return Needs(junction=TURN_LEFT, arm="opposite", control=control, they=they)


def _right(control: str, they: str) -> Needs:
    return Needs(junction=TURN_RIGHT, arm="left", control=control, they=they)


_JOINS: Final = _right("dark", "straight")
_CROSSES: Final = _left("dark", "straight")

_NEEDS: Final[dict[str, Needs]] = {
    **dict.fromkeys(_ON_LANE, _SAME),
    "ConstructionObstacleOppositeLane": _OPPOSITE,
    "HazardAtSideLane": Needs(lane="same", length_m=120.0),
    "HazardAtSideLaneTwoWays": Needs(lane="opposite", length_m=120.0),
    "InvadingTurn": Needs(lane="opposite", length_m=80.0),
    "ControlLoss": Needs(length_m=115.0),
    "ParkingExit": Needs(lane="parking", length_m=40.0, parks_m=(-10.0, 25.0)),
    "ParkingCutIn": Needs(lane="parking"),
    "VehicleOpensDoorTwoWays": Needs(lane="opposite parking"),
    "StaticCutIn": Needs(lane="queue", length_m=100.0),
    "HighwayExit": Needs(lane="queue", length_m=80.0),
    "jaywalk/crosswalk-group-v1": Needs(junction=JUNCTION, sidewalk=True),
    "PedestrianCrossing": Needs(junction=JUNCTION, sidewalk=True),
    "PedestrianCrowd": Needs(sidewalk=True),
    "PriorityAtJunction": Needs(junction=JUNCTION, control="light"),
    "jaywalk/stop-junction-v1": Needs(
        junction=JUNCTION, control="stop", arm="left", they="straight"
    ),
    "ObscuredStopSign": Needs(junction=JUNCTION, control="stop"),
    "VehicleTurningRoute": Needs(junction=TURN_RIGHT),
    "VehicleTurningRoutePedestrian": Needs(junction=TURN_RIGHT),
    "BlockedIntersection": Needs(junction=TURN_RIGHT),
    "T_Junction": Needs(junction=TURN_RIGHT),
    "VanillaNonSignalizedTurn": Needs(junction=TURN_RIGHT, control="dark"),
    "VanillaNonSignalizedTurnEncounterStopsign": Needs(junction=TURN_RIGHT, control="stop"),
    "VanillaSignalizedTurnEncounterGreenLight": Needs(junction=TURN_RIGHT, control="light"),
    "VanillaSignalizedTurnEncounterRedLight": Needs(junction=TURN_RIGHT, control="light"),
    "SignalizedJunctionLeftTurn": _left("light", "straight"),
    "SignalizedJunctionRightTurn": _right("light", "straight"),
    "SignalizedJunctionLeftTurnEnterFlow": _left("light", "right"),
    "NonSignalizedJunctionLeftTurn": _CROSSES,
    "NonSignalizedJunctionRightTurn": _JOINS,
    "NonSignalizedJunctionLeftTurnEnterFlow": _left("dark", "right"),
    "EnterActorFlow": _JOINS,
    "EnterActorFlowV2": _JOINS,
    "MergerIntoSlowTraffic": _JOINS,
    "MergerIntoSlowTrafficV2": _JOINS,
    "InterurbanActorFlow": _CROSSES,
    "InterurbanAdvancedActorFlow": replace(_CROSSES, return_lane=True),
}


def needs_of(kind: str, defaults: dict[str, Any]) -> Needs:
    """What a type needs; ``defaults`` are those of its parameters."""
    if kind in _NEEDS:
        return _NEEDS[kind]
    if "RedLight" in kind or "red-light" in kind:
        return Needs(junction=JUNCTION, control="light", arm=str(defaults["direction"]))
    if "TakingPriority" in kind or "priority-taken" in kind:
        return Needs(junction=JUNCTION, control="free", arm=str(defaults["direction"]))
    if "TwoWays" in kind or "two-ways" in kind:
        return _OPPOSITE
    return Needs()
