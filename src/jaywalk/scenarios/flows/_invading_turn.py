"""InvadingTurn, HazardAtSideLane and HazardAtSideLaneTwoWays.

In InvadingTurn cones narrow the opposite lane, and oncoming cars come over to the ego's side. In
the others two bicycles ride ahead at the edge of the ego's lane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import (
    LanePath,
    lane_ahead,
    line_path,
    moved_aside,
    opposite_lane,
    path_of,
)
from jaywalk.actors.pilots import Pilot, Pilots
from jaywalk.client.placing import pick_model, place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, Parameters, Scenario, ScenarioAnnouncement
from jaywalk.scenarios.catalogue import LEADERBOARD, StreetNeeds, scenario
from jaywalk.scenarios.flows._flow import Flow, Flowing, limit_mps
from jaywalk.scenarios.obstacles._layouts import CONE, Piece, Spot
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.obstacles._two_ways import LbTwoWays
from jaywalk.scenarios.parameter_fields import ahead, interval_or_value, within

_MODELS: Final = ("vehicle.bh.crossbike", "vehicle.diamondback.century", "vehicle.gazelle.omafiets")
_APART_M: Final = 9.0
_ASIDE_SHARE: Final = 0.55  # of half a lane width, to the right
_AFTER_M: Final = 50.0  # distance that the ego drives on after passing them
_PULL_MPS2: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SideHazardParameters(Parameters):
    """Parameters of HazardAtSideLane."""

    distance: float = ahead(100.0)
    speed: float = within(60.0, 0.0)  # km/h
    bicycle_speed: float = within(10.0, 0.5, 40.0)  # km/h
    bicycle_drive_distance: float = within(50.0, 0.0)
    direction: str = field(default="right", metadata={"internal": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class SideHazardTwoWaysParameters(SideHazardParameters):
    """Parameters of HazardAtSideLaneTwoWays; its frequency is one number."""

    frequency: tuple[float, float] = interval_or_value(100.0)


def riders(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the bicycles, the nearest first."""
    library, where = scenario.context.world.get_blueprint_library(), scenario.element.where
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
    """Motion of the bicycles, and the test of whether the ego has passed them."""

    scenario: OnLane
    pilots: Pilots
    first_m: float
    passed_m: float = math.inf

    @classmethod
    def of(cls, scenario: OnLane) -> Ride:
        """Prepare the ride along the ego's route."""
        context, at_m = scenario.context, scenario.at_m
        lane = context.map.get_waypoint(scenario.spot().place(0.0).location)
        aside_m = _ASIDE_SHARE * 0.5 * float(lane.lane_width)
        route = context.route
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])
        path = moved_aside(line_path(route.position_m[keep]), aside_m)
        cars = []
        for number in range(2):
            pilot = Pilot(
                actor_id=scenario.actor_ids[number],
                path=path,
                speed_mps=0.0,
                acceleration_mps2=_PULL_MPS2,
            )
            pose = scenario.spot().place(number * _APART_M, aside_m)
            pilot.place(path.nearest_m(pose.location))
            cars.append(pilot)
        pilots = Pilots(context.client, context.world, context.delta_s, context.traffic, cars)
        return cls(scenario, pilots, at_m)

    def step(self, moment: EgoMoment) -> bool:
        """Ride, and stop after the full distance; return True when the ego has passed."""
        given = self.scenario.parameters
        ridden_m = float(given.bicycle_drive_distance)
        for number, car in enumerate(self.pilots.cars):
            goal_m = self.first_m + number * _APART_M + ridden_m
            car.speed_mps = float(given.bicycle_speed) / MPS_TO_KMH if car.along_m < goal_m else 0.0
        self.pilots.step(moment.snapshot)
        last_m = max((car.along_m for car in self.pilots.cars), default=self.first_m)
        if moment.ego_along_m > last_m and math.isinf(self.passed_m):
            end_m = float(self.scenario.context.route.along_m[-1]) - 5.0
            self.passed_m = min(moment.ego_along_m + _AFTER_M, end_m)
        return moment.ego_along_m > self.passed_m


class _Riding(OnLane):
    """Base of both types; a plain class, because a dataclass with slots cannot be mixed in."""

    reach_m: ClassVar[float] = 50.0
    ride: Ride | None
    layout = staticmethod(riders)

    def start(self, moment: EgoMoment) -> None:
        """Start the bicycles."""
        super().start(moment)
        self.ride = Ride.of(self)
        self.end_m = math.inf

    def tick(self, moment: EgoMoment) -> bool:
        """Move the bicycles."""
        super().tick(moment)
        return self.ride is not None and self.ride.step(moment)


@scenario(
    "HazardAtSideLane",
    "two bicycles ride at the edge of the lane",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="same", length_m=120.0),
)
@dataclass(slots=True, kw_only=True)
class SideHazard(_Riding):
    """Bicycles to be passed on a lane of the same direction, or within the ego's lane."""

    parameters_type: ClassVar[type[Parameters]] = SideHazardParameters
    leaderboard_name: ClassVar[str] = "HazardAtSideLane"
    ride: Ride | None = None


@scenario(
    "HazardAtSideLaneTwoWays",
    "two bicycles ride at the edge of the lane, cars come",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="opposite", length_m=120.0),
    parameter_words={"frequency": "m between the cars that come"},
)
@dataclass(slots=True, kw_only=True)
class SideHazardTwoWays(_Riding, LbTwoWays):
    """Obstacle to be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = SideHazardTwoWaysParameters
    leaderboard_name: ClassVar[str] = "HazardAtSideLaneTwoWays"
    ride: Ride | None = None


_SPACING_M: Final = 40.0
_SOURCE_M: Final = 30.0  # beyond the distance
_HALF_CAR_M: Final = 0.7
_CONES_FROM_M, _CONE_STEP_M = 10.0, 5.0
_CONES_SHARE: Final = 0.5  # of the distance
_EDGE_SHARE: Final = 0.8  # of half a lane width
_UP_M: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class InvadingTurnParameters(Parameters):
    """Parameters of InvadingTurn."""

    distance: float = within(100.0, 20.0)  # m of road with oncoming cars
    offset: float = within(0.25, 0.0, 2.0)  # m beyond the middle of the road


@scenario(
    "InvadingTurn",
    "oncoming cars come over to the ego's side",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="opposite", length_m=80.0),
    parameter_words={"distance": "m the oncoming cars drive on the ego's side"},
)
@dataclass(slots=True, kw_only=True)
class InvadingTurn(Flowing):
    """Oncoming cars on a road with one lane each way; over when the ego is at their source."""

    parameters_type: ClassVar[type[Parameters]] = InvadingTurnParameters
    leaderboard_name: ClassVar[str] = "InvadingTurn"
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    cones: list[int] = field(default_factory=list)

    @property
    def end_m(self) -> float:
        """Position along the ego's route at which the cars appear."""
        wanted_m = self.trigger_along_m + float(self.parameters.distance) + _SOURCE_M
        return min(wanted_m, float(self.context.route.along_m[-1]) - 2.0)

    def setup(self) -> None:
        """Find the path of the cars and place the cones at its outer edge."""
        context = self.context
        here = context.map.get_waypoint(place_on_route(context.route, self.end_m).location)
        lane = opposite_lane(here)
        if lane is None:
            raise DataError(f"{self.element.where}: there is no opposite lane for cars to come on.")
        middle = path_of(lane_ahead(lane, self.end_m - self.trigger_along_m))
        half_m = 0.5 * float(lane.lane_width)
        over_m = float(self.parameters.offset) + half_m - _HALF_CAR_M
        self.flows = [
            Flow(
                context=context,
                path=moved_aside(middle, -over_m),
                spacing_m=(_SPACING_M, _SPACING_M),
                key=(*self.rng_key, "flow"),
            )
        ]
        self._put_cones(moved_aside(middle, _EDGE_SHARE * half_m))

    def _put_cones(self, edge: LanePath) -> None:
        """Place the cones, the nearest to the ego first."""
        upto_m = min(_CONES_FROM_M + _CONES_SHARE * float(self.parameters.distance), edge.length_m)
        places = np.arange(_CONES_FROM_M, upto_m, _CONE_STEP_M)[::-1]
        wanted = [(CONE, edge.pose(float(at_m), _UP_M)) for at_m in places]
        self.cones = spawn_all(self.context.client, self.context.world, wanted, self.element.where)
        self.actor_ids = list(self.cones)

    def announcement(self) -> ScenarioAnnouncement | None:
        """Announce the first and last cone."""
        return ScenarioAnnouncement(
            name=self.leaderboard_name, first_actor=self.cones[0], last_actor=self.cones[-1]
        )

    def start(self, moment: EgoMoment) -> None:
        """Start the cars at the speed limit."""
        limit = limit_mps(self.context, moment)
        self.flows[0].begin(limit)
        self.note(moment, what="oncoming cars", speed_mps=round(limit, 3))

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego has reached the source of the cars."""
        return moment.ego_along_m >= self.end_m

    def tick(self, moment: EgoMoment) -> bool:
        """Drive the cars past the cones; none appears right before the ego."""
        self._drive(moment, source=moment.ego_along_m < self.end_m - _SOURCE_M)
        self.actor_ids = [*self.cones, *self.actor_ids]
        return self.is_over(moment)

    def end(self, moment: EgoMoment) -> None:
        """Remove the cones; cars on the way drive on."""
        self.destroy(self.cones)
        self.actor_ids = self.flows[0].actor_ids

    def closed(self) -> list[NDArray[np.float64]]:
        """Close both lanes."""
        return [*Flowing.closed(self), *self.moves()]
