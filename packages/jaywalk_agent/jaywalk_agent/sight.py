"""Inputs of an agent: once before it starts, and then on every tick.

Frame: CARLA's, left-handed: x forward (east), y right (south), z up; metres. Yaw is clockwise seen
from above, in degrees. A rotation is (pitch, yaw, roll). Arrays of reals are float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray; its type parameters differ between the numpy of Python 3.8 and 3.11

VEHICLE = 0
PERSON = 1  # animals too
PROP = 2


@dataclass(frozen=True)
class Route:
    """Where to go: points 1 m apart, in the world and in GPS."""

    position_m: Array  # (n, 3)
    rotation_deg: Array  # (n, 3) pitch, yaw, roll of the lane
    gps: Array  # (n, 3) latitude and longitude in degrees, height in metres
    option: Array  # (n,) -1 void, 1 left, 2 right, 3 straight, 4 follow, 5 / 6 change left / right
    in_junction: Array  # (n,) bool
    sparse: Array  # (k,) rows that a Leaderboard agent would be given

    @property
    def sparse_position_m(self) -> Array:
        """The thinned route in the world."""
        return self.position_m[self.sparse]

    @property
    def sparse_gps(self) -> Array:
        """The thinned route in GPS."""
        return self.gps[self.sparse]

    @property
    def sparse_option(self) -> Array:
        """What to do at each point of the thinned route."""
        return self.option[self.sparse]


@dataclass(frozen=True)
class Vehicle:
    """The vehicle to drive; not a number where the server does not tell."""

    id: int
    type_id: str  # blueprint
    half_m: Array  # (3,) half length, half width, half height
    centre_m: Array  # (3,) middle of the box from the origin, in the vehicle's frame
    mass_kg: float
    max_steer_deg: float  # road-wheel angle at steer 1
    front_axle_x_m: float
    rear_axle_x_m: float


@dataclass(frozen=True)
class StopLines:
    """Where lights near the route stop a lane; one row per lane."""

    light_id: Array  # (k,)
    position_m: Array  # (k, 3)
    yaw_deg: Array  # (k,) of the lane


@dataclass(frozen=True)
class Briefing:
    """Inputs of an agent before the first tick; the ego stands at the route's first point."""

    town: str
    seed: int
    delta_s: float  # length of a tick
    ego: Vehicle
    route: Route
    stop_lines: StopLines
    stop_signs_m: Array  # (s, 3) middles of what stop signs near the route govern
    gps_reference_deg: tuple[float, float]  # latitude and longitude of the world's origin
    arguments: dict[str, Any] = field(default_factory=dict)
    config: str = ""  # text of the file given with --agent-config


@dataclass(frozen=True)
class EgoState:
    """The vehicle to drive, now."""

    position_m: Array  # (3,) origin
    rotation_deg: Array  # (3,)
    velocity_mps: Array  # (3,) world frame
    acceleration_mps2: Array  # (3,) world frame
    angular_velocity_dps: Array  # (3,)
    speed_mps: float  # along its heading, negative backwards
    speed_limit_kmh: float
    light_state: int  # of the light it stands at: 0 red, 1 yellow, 2 green, 3 off; -1: at none


@dataclass(frozen=True)
class Actors:
    """Everybody and everything else that moves or stands about; one row each, by rising id."""

    id: Array  # (n,)
    kind: Array  # (n,) VEHICLE, PERSON or PROP
    type_id: list[str]  # (n,) blueprints
    position_m: Array  # (n, 3) origin
    rotation_deg: Array  # (n, 3)
    velocity_mps: Array  # (n, 3) world frame
    angular_velocity_dps: Array  # (n, 3)
    half_m: Array  # (n, 3) half extents of the box
    centre_m: Array  # (n, 3) middle of the box from the origin, in the actor's frame

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True)
class Lights:
    """The lights of the stop lines."""

    id: Array  # (k,)
    state: Array  # (k,) 0 red, 1 yellow, 2 green, 3 off, 4 unknown


@dataclass(frozen=True)
class Moment:
    """The present tick. ``frame`` counts from the server's start; ``time_s`` from the episode's."""

    frame: int
    time_s: float
    ego: EgoState
    actors: Actors
    lights: Lights
    sensors: dict[str, tuple[int, Any]] = field(default_factory=dict)  # id -> (frame, data)


def no_actors() -> Actors:
    """An empty world."""
    return Actors(
        id=np.zeros(0, np.int64),
        kind=np.zeros(0, np.int64),
        type_id=[],
        **{
            name: np.zeros((0, 3))
            for name in (
                "position_m",
                "rotation_deg",
                "velocity_mps",
                "angular_velocity_dps",
                "half_m",
                "centre_m",
            )
        },
    )
