"""CARLA's enumerations, each defined once.

The values are those of CARLA 0.9.14 and later. The members are integers. Compiled kernels bind them
to module constants (``_ROAD: Final = int(SemanticTag.ROAD)``), because a plain integer keeps the
types of a kernel simple.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class SemanticTag(IntEnum):
    """Semantic label of a pixel, lidar point or object (``carla.CityObjectLabel``)."""

    NONE = 0
    ROAD = 1
    SIDEWALK = 2
    BUILDING = 3
    WALL = 4
    FENCE = 5
    POLE = 6
    TRAFFIC_LIGHT = 7
    TRAFFIC_SIGN = 8
    VEGETATION = 9
    TERRAIN = 10
    SKY = 11
    PEDESTRIAN = 12
    RIDER = 13
    CAR = 14
    TRUCK = 15
    BUS = 16
    TRAIN = 17
    MOTORCYCLE = 18
    BICYCLE = 19
    STATIC = 20
    DYNAMIC = 21
    OTHER = 22
    WATER = 23
    ROAD_LINE = 24
    GROUND = 25
    BRIDGE = 26
    RAIL_TRACK = 27
    GUARD_RAIL = 28
    ANY = 255


class ActorKind(IntEnum):
    """Kind of an actor, as far as the world's kernels distinguish them."""

    OTHER = 0  # spectator, controllers
    VEHICLE = 1
    WALKER = 2
    PROP = 3
    SENSOR = 4
    LIGHT = 5
    SIGN = 6


class VehicleLight(IntFlag):
    """Lamps of a vehicle that are on (``carla.VehicleLightState``)."""

    NONE = 0
    POSITION = 1
    LOW_BEAM = 2
    HIGH_BEAM = 4
    BRAKE = 8
    RIGHT_BLINKER = 16
    LEFT_BLINKER = 32
    REVERSE = 64
    FOG = 128
    INTERIOR = 256
    SPECIAL1 = 512
    SPECIAL2 = 1024


class LightState(IntEnum):
    """State of a traffic light (``carla.TrafficLightState``)."""

    RED = 0
    YELLOW = 1
    GREEN = 2
    OFF = 3
    UNKNOWN = 4


class AttributeType(IntEnum):
    """Type of a blueprint attribute in the numbering of 0.9.16; 0.9.15 counts from 0."""

    BOOL = 1
    INT = 2
    FLOAT = 3
    STRING = 4
    COLOR = 5

    def wire(self, dialect: str) -> int:
        """Return the number that a client of this version expects."""
        return self.value - 1 if dialect == "0.9.15" else self.value
