"""OppositeConstruction: a site on the opposite lane. No reaction is due."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters
from jaywalk.scenarios.lane_paths import LanePath, lane_ahead, lane_behind, opposite_lane, path_of
from jaywalk.scenarios.obstacle_layouts import Spot, construction_site
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, ignored, side
from jaywalk.scenarios.placing import DROP_M, check_side, place_on_route

_REACH_M: Final = 120.0  # of the closed way, before and after the site


@dataclass(frozen=True, slots=True, kw_only=True)
class OppositeConstructionParameters(Parameters):
    """ConstructionObstacleOppositeLane."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = 60.0
    frequency: str = ignored()


@dataclass(slots=True, kw_only=True)
class OppositeConstruction(OnLane):
    """The site is built for those who come; nobody comes."""

    parameters_type: ClassVar[type[Parameters]] = OppositeConstructionParameters
    layout = staticmethod(construction_site)
    beside: LanePath = field(init=False)
    beside_m: float = 0.0

    def setup(self) -> None:
        """Find the opposite lane and build there."""
        here = self.stage.map.get_waypoint(place_on_route(self.stage.route, self.at_m).location)
        lane = opposite_lane(here)
        if lane is None:
            raise DataError(f"{self.spec.where}: there is no opposite lane at <distance>.")
        self.beside = path_of([*lane_behind(lane, _REACH_M), *lane_ahead(lane, _REACH_M)[1:]])
        self.beside_m = self.beside.nearest_m(lane.transform.location)
        OnLane.setup(self)

    def spot(self) -> Spot:
        """On the opposite lane, with its heading; the outer edge is on its ``direction``."""
        path, at_m = self.beside, self.beside_m

        def place(
            ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
        ) -> Any:
            pose = path.pose(at_m + ahead_m, up_m)
            yaw = np.deg2rad(pose.rotation.yaw)
            spot = pose.location
            return carla.Transform(
                carla.Location(
                    spot.x - right_m * float(np.sin(yaw)), spot.y + right_m * float(np.cos(yaw)),
                    spot.z,
                ),
                carla.Rotation(yaw=pose.rotation.yaw + turn_deg),
            )  # fmt: skip

        width_m = float(self.stage.map.get_waypoint(place(0.0).location).lane_width)
        outwards = check_side(self.parameters.direction, self.spec.where)
        return Spot(place=place, outwards=outwards, lane_width_m=width_m)

    def react(self, moment: Moment) -> None:
        """Nobody has to."""

    def closed(self) -> list[NDArray[np.float64]]:
        """Both lanes."""
        return [*OnLane.closed(self), self.beside.way]
