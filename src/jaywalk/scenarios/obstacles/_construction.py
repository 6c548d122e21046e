"""Construction sites of Fail2Drive.

ConstructionPermutations has a site with missing or replaced cues. OppositeConstruction has a site
on the opposite lane, and RightConstruction one to the right of the ego's lane; both need no
reaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath, lane_ahead, lane_behind, opposite_lane, path_of
from jaywalk.client.placing import DROP_M, check_side, place_on_route
from jaywalk.core.errors import DataError
from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    OPPOSITE_LANE,
    SAME_LANE,
    TAKES_FIRST_BRANCH,
    Shift,
    scenario,
)
from jaywalk.scenarios.obstacles._layouts import (
    CONES,
    DEBRIS,
    WARNING,
    Piece,
    Spot,
    construction_site,
    site,
)
from jaywalk.scenarios.obstacles._on_lane import OnLane
from jaywalk.scenarios.obstacles._two_ways import LbTwoWays
from jaywalk.scenarios.parameter_fields import (
    ahead,
    ignored,
    interval,
    model,
    side,
    switches,
    within,
)

_SIGN = "static.prop.warningconstruction"


_CONSTRUCTION_PERMUTATIONS: Final = Shift(
    name="ConstructionPermutations",
    category="Visual-lat",
    caption="cues of the site are missing",
    pairs=(15, 19),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedParameters(Parameters):
    """Parameters of PermutedConstructionObstacle."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    warning_sign: str = model(WARNING, "static.prop.", "none")
    debris: str = model(DEBRIS, "static.prop.", "none")
    cones: str = switches("1" * CONES)  # four along the site, then three across its end


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedTwoWaysParameters(PermutedParameters):
    """Parameters of PermutedConstructionObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def permuted_site(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the remaining parts of the site."""
    given = scenario.parameters
    pieces = site(spot, warning=given.warning_sign, debris=given.debris, cones=given.cones)
    if not pieces:
        raise DataError(f"{scenario.element.where}: warning_sign, debris and cones leave nothing.")
    return pieces


@scenario(
    "PermutedConstructionObstacle",
    "a construction site that lacks parts",
    benchmark=FAIL2DRIVE,
    street=SAME_LANE,
    shifts=(_CONSTRUCTION_PERMUTATIONS,),
    base="ConstructionObstacle",
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class PermutedConstruction(OnLane):
    """Obstacle on a road with another lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = PermutedParameters
    rng_type: ClassVar[str] = "ConstructionObstacle"
    leaderboard_name: ClassVar[str] = "ConstructionObstacle"
    sign: ClassVar[str] = _SIGN
    layout = staticmethod(permuted_site)


@scenario(
    "PermutedConstructionObstacleTwoWays",
    "a construction site that lacks parts, cars come",
    benchmark=FAIL2DRIVE,
    street=OPPOSITE_LANE,
    shifts=(_CONSTRUCTION_PERMUTATIONS,),
    base="ConstructionObstacleTwoWays",
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class PermutedConstructionTwoWays(LbTwoWays):
    """Obstacle to be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = PermutedTwoWaysParameters
    rng_type: ClassVar[str] = "ConstructionObstacleTwoWays"
    leaderboard_name: ClassVar[str] = "ConstructionObstacleTwoWays"
    sign: ClassVar[str] = _SIGN
    layout = staticmethod(permuted_site)


_REACH_M: Final = 120.0  # length of the closed path before and after the site


@dataclass(frozen=True, slots=True, kw_only=True)
class OppositeConstructionParameters(Parameters):
    """Parameters of ConstructionObstacleOppositeLane."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = 60.0
    frequency: str = ignored()


@scenario(
    "ConstructionObstacleOppositeLane",
    "a construction site on the opposite lane",
    benchmark=FAIL2DRIVE,
    street=OPPOSITE_LANE,
    shifts=(
        Shift(
            name="OppositeConstruction",
            category="Robustness",
            caption="a site on the other side",
            pairs=(50, 54),
        ),
    ),
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class OppositeConstruction(OnLane):
    """A site for oncoming traffic, of which there is none."""

    parameters_type: ClassVar[type[Parameters]] = OppositeConstructionParameters
    layout = staticmethod(construction_site)
    beside: LanePath = field(init=False)
    beside_m: float = 0.0

    def setup(self) -> None:
        """Find the opposite lane and build the site there."""
        here = self.context.map.get_waypoint(place_on_route(self.context.route, self.at_m).location)
        lane = opposite_lane(here)
        if lane is None:
            raise DataError(f"{self.element.where}: there is no opposite lane at <distance>.")
        self.beside = path_of([*lane_behind(lane, _REACH_M), *lane_ahead(lane, _REACH_M)[1:]])
        self.beside_m = self.beside.nearest_m(lane.transform.location)
        OnLane.setup(self)

    def spot(self) -> Spot:
        """Return the place on the opposite lane; its outer edge is on its side ``direction``."""
        path, at_m = self.beside, self.beside_m

        def place(
            ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
        ) -> Any:
            pose = path.pose(at_m + ahead_m, up_m)
            yaw = yaw_rad(pose)
            spot = pose.location
            return carla.Transform(
                carla.Location(
                    spot.x - right_m * float(np.sin(yaw)),
                    spot.y + right_m * float(np.cos(yaw)),
                    spot.z,
                ),
                carla.Rotation(yaw=pose.rotation.yaw + turn_deg),
            )

        width_m = float(self.context.map.get_waypoint(place(0.0).location).lane_width)
        outwards = check_side(self.parameters.direction, self.element.where)
        return Spot(place=place, outwards=outwards, lane_width_m=width_m)

    def react(self, moment: EgoMoment) -> None:
        """Do nothing: no reaction is needed."""

    def closed(self) -> list[NDArray[np.float64]]:
        """Close both lanes."""
        return [*OnLane.closed(self), self.beside.way]


_GAP_M, _UP_M, _WIDTH_SHARE = 0.1, 0.1, 0.9
_BEHIND_M, _AFTER_M = 120.0, 30.0
_NO_CAP: Final = 300.0  # km/h


@dataclass(frozen=True, slots=True, kw_only=True)
class RightConstructionParameters(Parameters):
    """Parameters of ConstructionObstacleRightLane."""

    distance: float = ahead(100.0)
    y_offset: float = within(0.0, -5.0, 5.0)  # m farther to the right
    direction: str = side()
    speed: float = _NO_CAP
    frequency: str = ignored()


def site_on_the_right(scenario: Scenario, spot: Spot) -> list[Piece]:
    """Lay out the site one lane width to the right."""
    aside_m = spot.lane_width_m + _GAP_M + float(scenario.parameters.y_offset)

    def place(
        ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
    ) -> Any:
        return spot.place(ahead_m, right_m + aside_m, up_m, turn_deg)

    beside = replace(spot, place=place, lane_width_m=_WIDTH_SHARE * spot.lane_width_m)
    return site(beside, up_m=_UP_M)


@scenario(
    "ConstructionObstacleRightLane",
    "a construction site right of the lane",
    benchmark=FAIL2DRIVE,
    street=SAME_LANE,
    shifts=(
        Shift(
            name="RightConstruction",
            category="Robustness",
            caption="a site beside the lane",
            pairs=(90, 94),
        ),
    ),
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class RightConstruction(OnLane):
    """A site on the lane to the right, which all other traffic keeps off."""

    parameters_type: ClassVar[type[Parameters]] = RightConstructionParameters
    layout = staticmethod(site_on_the_right)

    def react(self, moment: EgoMoment) -> None:
        """Do nothing: no reaction is needed."""

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane and the one on its right."""
        way = self.stretch(self.at_m - _BEHIND_M, self.at_m + _AFTER_M)
        width_m = self.spot().lane_width_m
        beside = way.copy()
        beside[:, 0] -= width_m * np.sin(way[:, 3])
        beside[:, 1] += width_m * np.cos(way[:, 3])
        return [way, beside]
