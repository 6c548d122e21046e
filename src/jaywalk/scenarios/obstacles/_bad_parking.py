"""BadParking and VehicleOpensDoorTwoWays.

In BadParking a car stands askew, half on the lane, without any warning. In VehicleOpensDoorTwoWays
a parked car opens its door into the ego's lane, and there are oncoming cars. Doors have no body on
Jaywalk's server: there the car itself, moved to the edge of its lane, is the obstacle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import DROP_M, ordinary_cars, pick_model
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.base import Scenario as AnyScenario
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    LEADERBOARD,
    OPPOSITE_LANE,
    SAME_LANE,
    WALKS_TO_JUNCTION,
    Placing,
    Shift,
    StreetNeeds,
    scenario,
)
from jaywalk.scenarios.obstacles._layouts import Piece, Spot
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.obstacles._two_ways import LbTwoWays
from jaywalk.scenarios.parameter_fields import ahead, interval, model, offset, side, within

_REACTION_S: Final = 3.0
_NEAREST_M: Final = 10.0
_EDGE_SHARE: Final = 0.25  # of the lane width minus half the car
_HALF_CAR_M: Final = 0.95


_BAD_PARKING: Final = Shift(
    name="BadParking",
    category="Visual-lat",
    caption="parked askew, nothing warns",
    pairs=(0, 9),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpensDoorParameters(Parameters):
    """Parameters of VehicleOpensDoorTwoWays."""

    distance: float = ahead(50.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    frequency: tuple[float, float] = interval(20.0, 100.0)


def parked_beside(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out a car on the next lane, at the edge towards the ego."""
    here = scenario.context.map.get_waypoint(spot.place(0.0).location)
    beside = here.get_right_lane() if spot.outwards > 0.0 else here.get_left_lane()
    if beside is None:
        raise DataError(
            f"{scenario.element.where}: there is no lane on the {scenario.parameters.direction}."
        )
    inwards_m = _EDGE_SHARE * (float(beside.lane_width) - _HALF_CAR_M)
    middle_m = 0.5 * (spot.lane_width_m + float(beside.lane_width))
    right_m = spot.outwards * (middle_m - inwards_m)
    library = scenario.context.world.get_blueprint_library()
    cars = [car for car in ordinary_cars(library) if _has_doors(car)]
    if not cars:
        raise DataError(f"{scenario.element.where}: no car of the server has doors that open.")
    car = cars[int(scenario.draws("vehicle").integers(len(cars)))]
    return [Piece(model=str(car.id), pose=spot.place(0.0, right_m, DROP_M), is_car=True)]


def _has_doors(model: Any) -> bool:
    name = "has_dynamic_doors"
    return bool(model.has_attribute(name) and model.get_attribute(name).as_bool())


@scenario(
    "VehicleOpensDoorTwoWays",
    "a parked car opens its door",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="opposite parking"),
    placing=Placing(sign_at_trigger=False, on_route=False),
)
@dataclass(slots=True, kw_only=True)
class OpensDoor(LbTwoWays):
    """The door opens when the ego is 3 s or 10 m away; oncoming cars appear 5 s later."""

    parameters_type: ClassVar[type[Parameters]] = OpensDoorParameters
    leaderboard_name: ClassVar[str] = "VehicleOpensDoorTwoWays"
    reach_m: ClassVar[float] = 0.0  # the door decides, not the distance
    layout = staticmethod(parked_beside)
    opened_s: float = math.nan

    def tick(self, moment: EgoMoment) -> bool:
        """Open the door in time."""
        left_m = self.at_m - moment.ego_along_m
        if math.isnan(self.opened_s) and (
            left_m <= max(_NEAREST_M, _REACTION_S * moment.ego_speed_mps)
        ):
            self.opened_s = self.near_s = moment.elapsed_s
            car = self.context.world.get_actor(self.actor_ids[0])
            if car is not None:  # it may be gone
                right = self.parameters.direction == "right"
                car.open_door(carla.VehicleDoor.FL if right else carla.VehicleDoor.FR)
                self.note(moment, what="opens a door", actor=car.id)
        return LbTwoWays.tick(self, moment)


_REACH_M: Final = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BadParkingParameters(Parameters):
    """Parameters of BadParkingObstacle."""

    distance: float = ahead(120.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    vehicle: str = model("vehicle.*", "vehicle.")
    x: float = offset()  # m forward of the anchor
    y: float = offset(1.5)  # m to the right
    yaw: float = 0.0  # degrees


@dataclass(frozen=True, slots=True, kw_only=True)
class BadParkingTwoWaysParameters(BadParkingParameters):
    """Parameters of BadParkingObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def badly_parked(scenario: AnyScenario, spot: Spot) -> list[Piece]:
    """Lay out the car, with its hand brake on and its lights off."""
    given = scenario.parameters
    library = scenario.context.world.get_blueprint_library()
    name = pick_model(library, given.vehicle, scenario.draws("vehicle"), scenario.element.where)
    pose = spot.place(given.x, given.y, turn_deg=given.yaw)
    return [Piece(model=name, pose=pose, is_car=True)]


@scenario(
    "BadParkingObstacle",
    "a badly parked car",
    benchmark=FAIL2DRIVE,
    street=SAME_LANE,
    shifts=(_BAD_PARKING,),
    base="ParkedObstacle",
    placing=WALKS_TO_JUNCTION,
)
@dataclass(slots=True, kw_only=True)
class BadParkingObstacle(OnLane):
    """Obstacle on a road with another lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = BadParkingParameters
    reach_m: ClassVar[float] = _REACH_M
    rng_type: ClassVar[str] = "ParkedObstacle"
    leaderboard_name: ClassVar[str] = "ParkedObstacle"
    layout = staticmethod(badly_parked)


@scenario(
    "BadParkingObstacleTwoWays",
    "a badly parked car, others come",
    benchmark=FAIL2DRIVE,
    street=OPPOSITE_LANE,
    shifts=(_BAD_PARKING,),
    base="ParkedObstacleTwoWays",
    placing=WALKS_TO_JUNCTION,
)
@dataclass(slots=True, kw_only=True)
class BadParkingTwoWays(LbTwoWays):
    """Obstacle to be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = BadParkingTwoWaysParameters
    reach_m: ClassVar[float] = _REACH_M
    rng_type: ClassVar[str] = "ParkedObstacleTwoWays"
    leaderboard_name: ClassVar[str] = "ParkedObstacleTwoWays"
    layout = staticmethod(badly_parked)
