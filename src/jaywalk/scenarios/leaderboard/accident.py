"""Accident and AccidentTwoWays: a police car and two crashed cars stand on the ego's lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import carla

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.models import ordinary_cars
from jaywalk.scenarios.obstacle_layouts import Piece, Spot
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, interval, side, within
from jaywalk.scenarios.public_obstacles import LbTwoWays

_POLICE: Final = "vehicle.dodge.charger_police_2020"
_CRASHED: Final = "_2020"  # how names of newer cars end
_CRASHED_M: Final = (10.0, 16.0)  # beyond the police car
_ASIDE_SHARE: Final = 0.6  # of half a lane width, outwards
_SIGN: Final = "static.prop.warningaccident"
_LIGHTS: Final = (
    carla.VehicleLightState.Special1 | carla.VehicleLightState.Special2
    | carla.VehicleLightState.Position
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AccidentParameters(Parameters):
    """Accident."""

    distance: float = ahead(120.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h


@dataclass(frozen=True, slots=True, kw_only=True)
class AccidentTwoWaysParameters(AccidentParameters):
    """AccidentTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def accident(scenario: Scenario, spot: Spot) -> list[Piece]:
    """The police car, and the two that crashed."""
    cars = ordinary_cars(scenario.stage.world.get_blueprint_library())
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
    """Both ways to pass; a plain class, since a dataclass with slots could not be mixed in."""

    sign: ClassVar[str] = _SIGN
    reach_m: ClassVar[float] = 40.0  # 50 m to the first crashed car
    layout = staticmethod(accident)

    def start(self, moment: Moment) -> None:
        """The police car's lights flash."""
        super().start(moment)
        lights = carla.VehicleLightState(_LIGHTS)
        self.stage.client.apply_batch_sync(
            [carla.command.SetVehicleLightState(self.actor_ids[0], lights)]
        )

    def _passed_m(self) -> float:
        """50 m beyond the last car, or as for all obstacles."""
        usual_m = super()._passed_m()
        route_m = float(self.stage.route.along_m[-1]) - 5.0
        cut = usual_m < self.at_m + 50.0  # at a junction, or where the route ends
        return usual_m if cut else min(usual_m + _CRASHED_M[-1], route_m)


@dataclass(slots=True, kw_only=True)
class Accident(_Crashed):
    """To be passed on a lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = AccidentParameters
    told_as: ClassVar[str] = "Accident"


@dataclass(slots=True, kw_only=True)
class AccidentTwoWays(_Crashed, LbTwoWays):
    """To be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = AccidentTwoWaysParameters
    told_as: ClassVar[str] = "AccidentTwoWays"
