"""Accident, AccidentTwoWays and ControlLoss.

In the accidents a police car and two crashed cars stand on the ego's lane. In ControlLoss the ego's
throttle and steering slip on three patches of debris.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import ordinary_cars, place_on_route, spawn_all
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import (
    LEADERBOARD,
    OPPOSITE_LANE,
    SAME_LANE,
    WALKS_TO_JUNCTION,
    StreetNeeds,
    scenario,
)
from jaywalk.scenarios.obstacles._layouts import Piece, Spot
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.obstacles._two_ways import LbTwoWays
from jaywalk.scenarios.parameter_fields import ahead, ignored, interval, side, within

_DEBRIS: Final = "static.prop.dirtdebris01"
_PATCHES_M: Final = (14.0, 48.0, 74.0)
_REACH_M: Final = 2.0
_END_M: Final = 110.0
_THROTTLE, _THROTTLE_SPREAD = 0.03, 0.01
_STEER, _STEER_SPREAD = 0.055, 0.015
_UP_M: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLossParameters(Parameters):
    """Parameters of ControlLoss, which takes none; elements in one public route are unused."""

    distance: str = ignored()
    direction: str = ignored()
    speed: str = ignored()


@scenario(
    "ControlLoss",
    "debris on which steering and throttle slip",
    benchmark=LEADERBOARD,
    street=StreetNeeds(length_m=115.0),
)
@dataclass(slots=True, kw_only=True)
class ControlLoss(Scenario):
    """On a patch, the ego's control differs slightly from the driver's decision."""

    parameters_type: ClassVar[type[Parameters]] = ControlLossParameters
    patch: int = -1  # patch under the ego
    ticks: int = 0

    def setup(self) -> None:
        """Put the debris on the lane."""
        places = [
            (
                _DEBRIS,
                place_on_route(self.context.route, self.trigger_along_m + ahead_m, up_m=_UP_M),
            )
            for ahead_m in _PATCHES_M
        ]
        self.actor_ids = spawn_all(
            self.context.client, self.context.world, places, self.element.where
        )

    def tick(self, moment: EgoMoment) -> bool:
        """Update the patch that the ego is on."""
        driven_m = moment.ego_along_m - self.trigger_along_m
        gaps = [abs(driven_m - ahead_m) for ahead_m in _PATCHES_M]
        patch = gaps.index(min(gaps)) if min(gaps) < _REACH_M else -1
        if patch >= 0 and patch != self.patch:
            self.note(moment, what="control slips", patch=patch)
        self.patch = patch
        self.ticks += 1
        return driven_m > _END_M

    def end(self, moment: EgoMoment) -> None:
        """Remove the debris."""
        self.patch = -1
        Scenario.end(self, moment)

    def disturb(self, control: Any) -> Any:
        """Change throttle and steering slightly, to the same side all along a patch."""
        if self.patch < 0:
            return control
        sides = self.draws("side", self.patch).choice((-1.0, 1.0), size=2)
        random = self.draws("noise", self.ticks)
        throttle = control.throttle + sides[0] * _THROTTLE + random.normal(0.0, _THROTTLE_SPREAD)
        steer = control.steer + sides[1] * _STEER + random.normal(0.0, _STEER_SPREAD)
        return carla.VehicleControl(
            throttle=min(max(float(throttle), 0.0), 1.0),
            steer=min(max(float(steer), -1.0), 1.0),
            brake=control.brake,
            hand_brake=control.hand_brake,
            reverse=control.reverse,
            manual_gear_shift=control.manual_gear_shift,
            gear=control.gear,
        )


_POLICE: Final = "vehicle.dodge.charger_police_2020"
_CRASHED: Final = "_2020"  # ending of the names of newer cars
_CRASHED_M: Final = (10.0, 16.0)  # beyond the police car
_ASIDE_SHARE: Final = 0.6  # of half a lane width, outwards
_SIGN: Final = "static.prop.warningaccident"
_LIGHTS: Final = (
    carla.VehicleLightState.Special1
    | carla.VehicleLightState.Special2
    | carla.VehicleLightState.Position
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccidentParameters(Parameters):
    """Parameters of Accident."""

    distance: float = ahead(120.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h


@dataclass(frozen=True, slots=True, kw_only=True)
class AccidentTwoWaysParameters(AccidentParameters):
    """Parameters of AccidentTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def accident(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the police car and the two crashed cars."""
    cars = ordinary_cars(scenario.context.world.get_blueprint_library())
    newer = [str(car.id) for car in cars if str(car.id).endswith(_CRASHED)]
    aside_m = spot.outwards * _ASIDE_SHARE * 0.5 * spot.lane_width_m
    models = [(_POLICE, 0.0)]
    for number, ahead_m in enumerate(_CRASHED_M):
        random = scenario.draws("crashed", number)
        models.append((newer[int(random.integers(len(newer)))], ahead_m))
    return [
        Piece(model=model, pose=spot.place(ahead_m, aside_m), is_car=True)
        for model, ahead_m in models
    ]


class _Crashed(OnLane):
    """Base of both accidents; a plain class, because a dataclass with slots cannot be mixed in."""

    sign: ClassVar[str] = _SIGN
    reach_m: ClassVar[float] = 40.0  # 50 m to the first crashed car
    layout = staticmethod(accident)

    def start(self, moment: EgoMoment) -> None:
        """Switch on the flashing lights of the police car."""
        super().start(moment)
        lights = carla.VehicleLightState(_LIGHTS)
        self.context.client.apply_batch_sync(
            [carla.command.SetVehicleLightState(self.actor_ids[0], lights)]
        )

    def _passed_m(self) -> float:
        """Position 50 m beyond the last car, or as for all obstacles."""
        usual_m = super()._passed_m()
        route_m = float(self.context.route.along_m[-1]) - 5.0
        cut = usual_m < self.at_m + 50.0  # at a junction, or where the route ends
        return usual_m if cut else min(usual_m + _CRASHED_M[-1], route_m)


@scenario(
    "Accident",
    "a police car and two crashed cars on the lane",
    benchmark=LEADERBOARD,
    street=SAME_LANE,
    placing=WALKS_TO_JUNCTION,
)
@dataclass(slots=True, kw_only=True)
class Accident(_Crashed):
    """Accident to be passed on a lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = AccidentParameters
    leaderboard_name: ClassVar[str] = "Accident"


@scenario(
    "AccidentTwoWays",
    "the same, cars come",
    benchmark=LEADERBOARD,
    street=OPPOSITE_LANE,
    placing=WALKS_TO_JUNCTION,
)
@dataclass(slots=True, kw_only=True)
class AccidentTwoWays(_Crashed, LbTwoWays):
    """Accident to be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = AccidentTwoWaysParameters
    leaderboard_name: ClassVar[str] = "AccidentTwoWays"
