"""HazardAtSideLane and ..TwoWays: two bicycles ride ahead at the edge of the ego's lane."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.lane_paths import line_path, moved_aside
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.obstacle_layouts import Piece, Spot
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, interval_or_value, within
from jaywalk.scenarios.pilots import Pilot, Pilots
from jaywalk.scenarios.public_obstacles import LbTwoWays

_MODELS: Final = ("vehicle.bh.crossbike", "vehicle.diamondback.century", "vehicle.gazelle.omafiets")
_APART_M: Final = 9.0
_ASIDE_SHARE: Final = 0.55  # of half a lane width, to the right
_AFTER_M: Final = 50.0  # the ego drives on so far once it has passed them
_PULL_MPS2: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SideHazardParameters(Parameters):
    """HazardAtSideLane."""

    distance: float = ahead(100.0)
    speed: float = within(60.0, 0.0)  # km/h
    bicycle_speed: float = within(10.0, 0.5, 40.0)  # km/h
    bicycle_drive_distance: float = within(50.0, 0.0)
    direction: str = field(default="right", metadata={"internal": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class SideHazardTwoWaysParameters(SideHazardParameters):
    """HazardAtSideLaneTwoWays; its frequency is one number."""

    frequency: tuple[float, float] = interval_or_value(100.0)


def riders(scenario: Scenario, spot: Spot) -> list[Piece]:
    """The bicycles, the nearest first."""
    library, where = scenario.stage.world.get_blueprint_library(), scenario.spec.where
    aside_m = _ASIDE_SHARE * 0.5 * spot.lane_width_m
    pieces = []
    for number in range(2):
        random = scenario.draws("bicycle", number)
        model = pick_model(library, _MODELS[int(random.integers(len(_MODELS)))], random, where)
        pose = spot.place(number * _APART_M, aside_m)
        pieces.append(Piece(model=model, pose=pose, is_car=True))
    return pieces


@dataclass(slots=True)
class Ride:
    """How they ride, and whether the ego is past them."""

    scenario: OnLane
    pilots: Pilots
    first_m: float
    passed_m: float = math.inf

    @classmethod
    def of(cls, scenario: OnLane) -> Ride:
        """Ready to ride along the ego's route."""
        stage, at_m = scenario.stage, scenario.at_m
        lane = stage.map.get_waypoint(scenario.spot().place(0.0).location)
        aside_m = _ASIDE_SHARE * 0.5 * float(lane.lane_width)
        route = stage.route
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])
        path = moved_aside(line_path(route.position_m[keep]), aside_m)
        cars = []
        for number in range(2):
            pilot = Pilot(actor_id=scenario.actor_ids[number], path=path, speed_mps=0.0,
                          acceleration_mps2=_PULL_MPS2)  # fmt: skip
            pose = scenario.spot().place(number * _APART_M, aside_m)
            pilot.place(path.nearest_m(pose.location))
            cars.append(pilot)
        pilots = Pilots(stage.client, stage.world, stage.delta_s, stage.traffic, cars)
        return cls(scenario, pilots, at_m)

    def step(self, moment: Moment) -> bool:
        """Ride, and stop when they have ridden far enough; whether the ego has passed."""
        given = self.scenario.parameters
        ridden_m = float(given.bicycle_drive_distance)
        for number, car in enumerate(self.pilots.cars):
            goal_m = self.first_m + number * _APART_M + ridden_m
            car.speed_mps = float(given.bicycle_speed) / 3.6 if car.along_m < goal_m else 0.0
        self.pilots.step(moment.snapshot)
        last_m = max((car.along_m for car in self.pilots.cars), default=self.first_m)
        if moment.ego_along_m > last_m and math.isinf(self.passed_m):
            end_m = float(self.scenario.stage.route.along_m[-1]) - 5.0
            self.passed_m = min(moment.ego_along_m + _AFTER_M, end_m)
        return moment.ego_along_m > self.passed_m


class _Riding(OnLane):
    """Both ways to pass; a plain class, since a dataclass with slots could not be mixed in."""

    reach_m: ClassVar[float] = 50.0
    ride: Ride | None
    layout = staticmethod(riders)

    def start(self, moment: Moment) -> None:
        """They set off."""
        super().start(moment)
        self.ride = Ride.of(self)
        self.end_m = math.inf

    def tick(self, moment: Moment) -> bool:
        """They ride."""
        super().tick(moment)
        return self.ride is not None and self.ride.step(moment)


@dataclass(slots=True, kw_only=True)
class SideHazard(_Riding):
    """To be passed on a lane of the same direction, or within its own."""

    parameters_type: ClassVar[type[Parameters]] = SideHazardParameters
    told_as: ClassVar[str] = "HazardAtSideLane"
    ride: Ride | None = None


@dataclass(slots=True, kw_only=True)
class SideHazardTwoWays(_Riding, LbTwoWays):
    """To be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = SideHazardTwoWaysParameters
    told_as: ClassVar[str] = "HazardAtSideLaneTwoWays"
    ride: Ride | None = None
