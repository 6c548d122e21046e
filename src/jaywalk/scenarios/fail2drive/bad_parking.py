"""BadParking: a car stands askew, half on the lane, without any warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.base import Scenario as AnyScenario
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.obstacle_layouts import Piece, Spot
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, interval, model, offset, side, within
from jaywalk.scenarios.public_obstacles import LbTwoWays

_REACH_M: Final = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BadParkingParameters(Parameters):
    """BadParkingObstacle."""

    distance: float = ahead(120.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    vehicle: str = model("vehicle.*", "vehicle.")
    x: float = offset()  # m forward of the anchor
    y: float = offset(1.5)  # m to the right
    yaw: float = 0.0  # degrees


@dataclass(frozen=True, slots=True, kw_only=True)
class BadParkingTwoWaysParameters(BadParkingParameters):
    """BadParkingObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def badly_parked(scenario: AnyScenario, spot: Spot) -> list[Piece]:
    """The car, with its hand brake on and its lights off."""
    given = scenario.parameters
    library = scenario.stage.world.get_blueprint_library()
    name = pick_model(library, given.vehicle, scenario.draws("vehicle"), scenario.spec.where)
    pose = spot.place(given.x, given.y, turn_deg=given.yaw)
    return [Piece(model=name, pose=pose, is_car=True)]


@dataclass(slots=True, kw_only=True)
class BadParkingObstacle(OnLane):
    """On a road with another lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = BadParkingParameters
    reach_m: ClassVar[float] = _REACH_M
    draws_as: ClassVar[str] = "ParkedObstacle"
    told_as: ClassVar[str] = "ParkedObstacle"
    layout = staticmethod(badly_parked)


@dataclass(slots=True, kw_only=True)
class BadParkingTwoWays(LbTwoWays):
    """To be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = BadParkingTwoWaysParameters
    reach_m: ClassVar[float] = _REACH_M
    draws_as: ClassVar[str] = "ParkedObstacleTwoWays"
    told_as: ClassVar[str] = "ParkedObstacleTwoWays"
    layout = staticmethod(badly_parked)
