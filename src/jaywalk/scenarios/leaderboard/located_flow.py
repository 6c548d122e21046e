"""Streams of cars between two places of the town, as route files give them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters
from jaywalk.scenarios.lane_paths import LanePath, line_path
from jaywalk.scenarios.leaderboard.streams import Streams
from jaywalk.scenarios.parameter_fields import interval, place, within
from jaywalk.town.routes import RoutePlanner

_REACHED_M: Final = 2.0  # how near the ego must come to the end of a way
_MOST_LANES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedFlowParameters(Parameters):
    """Where the cars appear and vanish, how fast they are and how far apart."""

    start_actor_flow: tuple[float, float, float] = place()
    end_actor_flow: tuple[float, float, float] = place()
    flow_speed: float = within(10.0, 0.5, 60.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(20.0, 50.0, 6.0)


@dataclass(slots=True, kw_only=True)
class LocatedFlow(Streams):
    """Over when the ego is where the cars vanish, on any lane."""

    parameters_type: ClassVar[type[Parameters]] = LocatedFlowParameters

    def ways(self) -> list[LanePath]:
        """The way between the places."""
        given: LocatedFlowParameters = self.parameters
        return [self.way(given.start_actor_flow, given.end_actor_flow)]

    def way(self, start: tuple[float, float, float], end: tuple[float, float, float]) -> LanePath:
        """Along the lanes from one place to another.

        Raises:
            DataError: No way leads there.
        """
        try:
            route = RoutePlanner(self.stage.map).plan([start, end])
        except DataError as problem:
            raise DataError(f"{self.spec.where}, <start_actor_flow>: {problem}") from problem
        return line_path(route.position_m)

    def lane_at(self, at: tuple[float, float, float]) -> Any:
        """The driving lane at a place."""
        return self.stage.map.get_waypoint(carla.Location(*at))

    def is_over(self, moment: Moment) -> bool:
        """The ego is at the end of the way, or beside it."""
        ego = moment.snapshot.find(moment.ego_id)
        if ego is None:
            return False
        at = ego.get_transform().location
        end = self.lane_at(self.parameters.end_actor_flow)
        return any(
            math.hypot(lane.transform.location.x - at.x, lane.transform.location.y - at.y)
            < _REACHED_M
            for lane in same_way_lanes(end)
        )


def same_way_lanes(lane: Any) -> list[Any]:
    """A driving lane and those beside it of the same direction, from the right."""
    found = [lane]
    for to_right in (True, False):
        current = lane
        for _ in range(_MOST_LANES):
            current = current.get_right_lane() if to_right else current.get_left_lane()
            same = current is not None and current.lane_id * lane.lane_id > 0
            if not same or current.lane_type != carla.LaneType.Driving:
                break
            found.insert(0, current) if to_right else found.append(current)
    return found


def passed(snapshot: Any, ego_id: int, pose: Any) -> bool:
    """Whether the ego is ahead of a pose."""
    ego = snapshot.find(ego_id)
    if ego is None:
        return False
    at, yaw = ego.get_transform().location, np.deg2rad(pose.rotation.yaw)
    ahead = (at.x - pose.location.x) * np.cos(yaw) + (at.y - pose.location.y) * np.sin(yaw)
    return bool(ahead > 0.0)
