"""An obstacle that can only be passed on the opposite lane, against a flow of cars."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import SWITCH, EgoMoment
from jaywalk.actors.lane_paths import lane_ahead, lane_behind, lane_beside, opposite_lane, path_of
from jaywalk.client.placing import place_on_route
from jaywalk.core.errors import DataError
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.catalogue import JAYWALK, OPPOSITE_LANE, WRONG_LANE_CRITERION, scenario
from jaywalk.scenarios.flows._flow import Flow, limit_mps
from jaywalk.scenarios.obstacles._layouts import construction_site, parked_car
from jaywalk.scenarios.obstacles._on_lane import ConstructionParameters, OnLane, ParkedParameters
from jaywalk.scenarios.parameter_fields import interval

_SOURCE_S: Final = 1.5 * MPS_TO_KMH  # the source is 1.5 m away per km/h of the limit ...
_SOURCE_M: Final = 30.0  # ... and 30 m
_SLOWEST_MPS: Final = 4.0  # a standing ego is expected to drive on with this speed
_NEAREST_M: Final = 35.0  # no car is spawned nearer to the obstacle
_LONGEST_M: Final = 200.0  # length of the path on each side


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedTwoWaysParameters(ParkedParameters):
    """Parameters of a parked car with oncoming cars."""

    frequency: tuple[float, float] = interval(20.0, 100.0)  # m between oncoming cars


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructionTwoWaysParameters(ConstructionParameters):
    """Parameters of a construction site with oncoming cars."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


@dataclass(slots=True, kw_only=True)
class OnLaneTwoWays(OnLane):
    """Base class: oncoming cars appear as soon as the scenario starts."""

    uses_opposite_lane: ClassVar[bool] = True
    reach_m: ClassVar[float] = math.inf
    wait_s: ClassVar[float] = 0.0
    flow: Flow = field(init=False)
    beside_m: float = 0.0  # position of the obstacle on the path of the oncoming cars

    def setup(self) -> None:
        """Place the obstacle and find the path of the oncoming cars."""
        context = self.context
        here = context.map.get_waypoint(place_on_route(context.route, self.at_m).location)
        beside = opposite_lane(here) or lane_beside(here)
        if beside is None:
            raise DataError(f"{self.element.where}: there is no other lane beside the obstacle.")
        before = lane_behind(beside, _LONGEST_M)
        path = path_of([*before, *lane_ahead(beside, _LONGEST_M)[1:]])
        self.beside_m = path.nearest_m(beside.transform.location)
        self.flow = Flow(
            context=context,
            path=path,
            spacing_m=self.parameters.frequency,
            key=(*self.rng_key, "flow"),
        )
        OnLane.setup(self)

    def tick(self, moment: EgoMoment) -> bool:
        """Drive the oncoming cars."""
        over = OnLane.tick(self, moment)
        if self.reacted:
            self.flow.step(moment)
        return over

    def react(self, moment: EgoMoment) -> None:
        """Let the oncoming cars appear at a distance that depends on the speed limit."""
        limit = limit_mps(self.context, moment)
        reach_m = _SOURCE_S * limit + _SOURCE_M
        source_m = max(self.beside_m - reach_m, 0.0)
        self.flow.path = self.flow.path.part(source_m, self.beside_m + reach_m)
        self.flow.filled_m = self.first_m(moment, limit, self.beside_m - source_m)
        self.flow.begin(limit)
        self.note(moment, SWITCH, WRONG_LANE_CRITERION, active=False)
        self.note(moment, what="oncoming cars", speed_mps=round(limit, 3))

    def first_m(self, moment: EgoMoment, speed_mps: float, beside_m: float) -> float:
        """Position of the first car, such that it meets an ego that does not wait."""
        left_m = self.at_m - moment.ego_along_m
        arrival_s = left_m / max(moment.ego_speed_mps, _SLOWEST_MPS)
        return min(max(beside_m - speed_mps * arrival_s, 0.0), max(beside_m - _NEAREST_M, 0.0))

    def end(self, moment: EgoMoment) -> None:
        """Remove the obstacle; the oncoming cars drive on."""
        self.note(moment, SWITCH, WRONG_LANE_CRITERION, active=True)
        OnLane.end(self, moment)
        self.actor_ids = self.flow.actor_ids

    def linger(self, moment: EgoMoment) -> None:
        """Drive the oncoming cars to the end of their path."""
        self.flow.step(moment, source=False)
        self.actor_ids = self.flow.actor_ids

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [self.flow.path.way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close both lanes."""
        return [*OnLane.closed(self), self.flow.path.way]


@dataclass(slots=True, kw_only=True)
class LbTwoWays(OnLaneTwoWays):
    """Base of public types: oncoming cars appear at their source 5 s after the ego is near."""

    reach_m: ClassVar[float] = 30.0
    wait_s: ClassVar[float] = 5.0

    def first_m(self, moment: EgoMoment, speed_mps: float, beside_m: float) -> float:
        """Position of the first car: at the source."""
        return 0.0


@scenario(
    "jaywalk/parked-two-ways-v1",
    "a car stands on the lane, others come on the opposite one",
    benchmark=JAYWALK,
    street=OPPOSITE_LANE,
)
@dataclass(slots=True, kw_only=True)
class ParkedTwoWays(OnLaneTwoWays):
    """A parked car on the lane, with oncoming cars."""

    parameters_type: ClassVar[type[Parameters]] = ParkedTwoWaysParameters
    leaderboard_name: ClassVar[str] = "ParkedObstacleTwoWays"
    sign: ClassVar[str] = "static.prop.warningaccident"
    layout = staticmethod(parked_car)


@scenario(
    "jaywalk/construction-two-ways-v1",
    "a construction site, cars come on the opposite lane",
    benchmark=JAYWALK,
    street=OPPOSITE_LANE,
)
@dataclass(slots=True, kw_only=True)
class ConstructionTwoWays(OnLaneTwoWays):
    """A construction site on the lane, with oncoming cars."""

    parameters_type: ClassVar[type[Parameters]] = ConstructionTwoWaysParameters
    leaderboard_name: ClassVar[str] = "ConstructionObstacleTwoWays"
    sign: ClassVar[str] = "static.prop.warningconstruction"
    layout = staticmethod(construction_site)
