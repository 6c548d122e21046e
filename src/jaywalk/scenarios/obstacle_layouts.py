"""What stands on the lane: things relative to a place of the route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.scenarios.base import Scenario
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.placing import place_on_route

_PARKED_SHARE: Final = 0.7  # of half a lane width, outwards
_FREE_SHARE: Final = 0.85  # of half a lane width: where the row of cones stands
_ROW, _ACROSS = 4, 3  # cones


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing."""

    model: str
    pose: Any  # carla.Transform
    is_car: bool = False  # stands with its hand brake on
    hazard: bool = False  # with its hazard lights on


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a layout is built."""

    at_m: float  # along the route
    outwards: float  # 1: the obstacle is towards the right edge, -1: the left
    lane_width_m: float


Layout = Callable[[Scenario, Spot], list[Piece]]


def parked_car(scenario: Scenario, spot: Spot) -> list[Piece]:
    """A broken-down car with its hazard lights on."""
    model = pick_model(
        scenario.stage.world.get_blueprint_library(), scenario.parameters.vehicle,
        scenario.draws("vehicle"), scenario.spec.where,
    )  # fmt: skip
    shift_m = spot.outwards * _PARKED_SHARE * 0.5 * spot.lane_width_m
    pose = place_on_route(scenario.stage.route, spot.at_m, shift_m)
    return [Piece(model=model, pose=pose, is_car=True, hazard=True)]


def construction_site(scenario: Scenario, spot: Spot) -> list[Piece]:
    """The standard site: warning 5 m before, debris, four cones along and three across."""
    route, at_m = scenario.stage.route, spot.at_m
    free_m = -spot.outwards * _FREE_SHARE * 0.5 * spot.lane_width_m
    cones = [(2.0 + 2.0 * k, free_m) for k in range(_ROW)]
    cones += [(2.0 * _ROW, free_m + spot.outwards * k) for k in range(1, _ACROSS + 1)]
    warning = place_on_route(route, at_m - 5.0, turn_deg=270.0)
    debris = place_on_route(route, at_m + 2.0, up_m=1.0, turn_deg=90.0)
    return [
        Piece(model="static.prop.trafficwarning", pose=warning),
        Piece(model="static.prop.dirtdebris02", pose=debris),
        *(
            Piece(
                model="static.prop.constructioncone",
                pose=place_on_route(route, at_m + ahead, right, 0.1),
            )
            for ahead, right in cones
        ),
    ]
