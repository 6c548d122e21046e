"""Layouts of obstacles: objects relative to a place on the route."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Protocol

import carla

from jaywalk.client.placing import DROP_M, pick_model
from jaywalk.scenarios.base import Scenario
from jaywalk.scenarios.parameter_fields import PlacedObject

_PARKED_SHARE: Final = 0.7  # of half a lane width, outwards
_FREE_SHARE: Final = 0.85  # of half a lane width: position of the row of cones
_ROW, _ACROSS = 4, 3  # cones
_SLOPE_M: Final = 2.0  # distance over which the road's slope is measured
CONES: Final = _ROW + _ACROSS
WARNING: Final = "static.prop.trafficwarning"
DEBRIS: Final = "static.prop.dirtdebris02"
CONE: Final = "static.prop.constructioncone"
NONE: Final = "none"


class ObstaclePlacer(Protocol):
    """Function from metres ahead of an anchor, right, up and degrees clockwise to a transform."""

    def __call__(
        self, ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
    ) -> Any:
        """Return the transform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One object of a layout."""

    model: str
    pose: Any  # carla.Transform
    is_car: bool = False  # parked with its hand brake on
    hazard: bool = False  # with its hazard lights on


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Place at which a layout is built."""

    place: ObstaclePlacer
    outwards: float  # 1: the obstacle is towards the right edge, -1: the left
    lane_width_m: float


def parked_car(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out a broken-down car with its hazard lights on."""
    model = pick_model(
        scenario.context.world.get_blueprint_library(),
        scenario.parameters.vehicle,
        scenario.draws("vehicle"),
        scenario.element.where,
    )
    shift_m = spot.outwards * _PARKED_SHARE * 0.5 * spot.lane_width_m
    return [Piece(model=model, pose=spot.place(0.0, shift_m), is_car=True, hazard=True)]


def construction_site(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the standard site: warning 5 m before, debris, four cones along and three across."""
    return site(spot)


def site(
    spot: Spot,
    *,
    warning: str = WARNING,
    debris: str = DEBRIS,
    cones: str = "1" * CONES,
    up_m: float = 0.0,
) -> list[Piece]:
    """Lay out a construction site with missing (``none``, 0) or replaced parts."""
    free_m = -spot.outwards * _FREE_SHARE * 0.5 * spot.lane_width_m
    spots = [(2.0 + 2.0 * k, free_m) for k in range(_ROW)]
    spots += [(2.0 * _ROW, free_m + spot.outwards * k) for k in range(1, _ACROSS + 1)]
    pieces = [
        Piece(model=warning, pose=spot.place(-5.0, 0.0, DROP_M + up_m, 270.0)),
        Piece(model=debris, pose=spot.place(2.0, 0.0, 1.0 + up_m, 90.0)),
    ]
    pieces = [piece for piece in pieces if piece.model != NONE]
    for there, (ahead_m, right_m) in zip(cones, spots, strict=True):
        if there == "1":
            pieces.append(Piece(model=CONE, pose=spot.place(ahead_m, right_m, 0.1 + up_m)))
    return pieces


def on_slope(spot: Spot) -> Any:
    """Return the anchor on the road, pitched as the road climbs."""
    anchor, ahead = spot.place(0.0, 0.0, 0.0), spot.place(_SLOPE_M, 0.0, 0.0)
    climb_m = ahead.location.z - anchor.location.z
    anchor.rotation.pitch = math.degrees(math.atan2(climb_m, _SLOPE_M))
    return anchor


def rigid_pose(anchor: Any, thing: PlacedObject) -> Any:
    """Return the transform of an object in the frame of an anchor."""
    place = carla.Location(thing.x, thing.y, thing.z)
    anchor.transform(place)  # changes its argument
    turn = anchor.rotation
    return carla.Transform(
        place,
        carla.Rotation(
            pitch=turn.pitch + thing.pitch, yaw=turn.yaw + thing.yaw, roll=turn.roll + thing.roll
        ),
    )
