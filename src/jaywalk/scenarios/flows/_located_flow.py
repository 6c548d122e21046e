"""Streams of cars or bicycles between two places of the town, as given in route files.

In CrossingBicycleFlow bicycles on a cycle lane cross the ego's path at a junction. In
EnterActorFlow and EnterActorFlowV2 the ego joins a stream of fast cars, and in
MergerIntoSlowTraffic and its V2 a stream of slow cars. In HighwayExit the ego crosses a stream on
the lane beside it to leave the road.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath, line_path, path_of
from jaywalk.core.errors import DataError
from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.catalogue import LEADERBOARD, StreetNeeds, right_turn, scenario
from jaywalk.scenarios.flows._streams import Streams
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.junctions._junction_turn import RedThenGreen
from jaywalk.scenarios.parameter_fields import ignored, interval, place, within
from jaywalk.town.routes import RoutePlanner

_NEAR_M: Final = 10.0  # largest distance of a cycle lane from the given place
_AFTER_M: Final = 40.0
_LONGEST_M: Final = 400.0
_STEP_M: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BicycleFlowParameters(Parameters):
    """Parameters of CrossingBicycleFlow; the end of the stream follows from the lane."""

    start_actor_flow: tuple[float, float, float] = place()
    end_actor_flow: str = ignored()
    flow_speed: float = within(10.0, 0.5, 20.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(20.0, 50.0, 3.0)


@scenario(
    "CrossingBicycleFlow", "bicycles on a cycle lane cross at a junction", benchmark=LEADERBOARD
)
@dataclass(slots=True, kw_only=True)
class BicycleFlow(Streams):
    """Bicycles cross; at lights the ego has red for 5 s, then green."""

    parameters_type: ClassVar[type[Parameters]] = BicycleFlowParameters
    ahead: JunctionAhead = field(init=False)
    lights: RedThenGreen = field(init=False)

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)
        self.lights = RedThenGreen(self.ahead)
        Streams.setup(self)

    def models(self) -> tuple[Any, ...]:
        """Return the blueprints of bicycles."""
        models = bicycles(self.context.world.get_blueprint_library())
        if not models:
            raise DataError(f"{self.element.where}: the server has no bicycle.")
        return tuple(models)

    def ways(self) -> list[LanePath]:
        """Return the cycle lane over the junction and 40 m beyond."""
        at = carla.Location(*self.parameters.start_actor_flow)
        lane = self.context.map.get_waypoint(at, lane_type=carla.LaneType.Biking)
        there = lane.transform.location if lane is not None else None
        if there is None or math.hypot(there.x - at.x, there.y - at.y) > _NEAR_M:
            raise DataError(
                f"{self.element.where}, <start_actor_flow>: no cycle lane within {_NEAR_M:g} m "
                "of it."
            )
        way, left_m, was_inside = [lane], _AFTER_M, False
        while left_m > 0.0 and len(way) < _LONGEST_M / _STEP_M:
            options = way[-1].next(_STEP_M)
            if not options:
                break
            way.append(options[0])
            was_inside = was_inside or options[0].is_junction
            left_m -= _STEP_M if was_inside and not options[0].is_junction else 0.0
        return [path_of(way)]

    def start(self, moment: EgoMoment) -> None:
        """Start the bicycles and hold the lights."""
        Streams.start(self, moment)
        self.lights.begin(moment.elapsed_s)

    def tick(self, moment: EgoMoment) -> bool:
        """Set green for the ego when the time has come."""
        self.lights.step(moment.elapsed_s)
        return Streams.tick(self, moment)

    def end(self, moment: EgoMoment) -> None:
        """Resume the normal phases of the lights."""
        self.lights.release()

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego is behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m


def bicycles(library: Any) -> list[Any]:
    """Return blueprints of bicycles, in order of their ids."""
    models = [
        model
        for model in library.filter("vehicle.*")
        if model.has_attribute("base_type")
        and str(model.get_attribute("base_type").as_str()) == "bicycle"
    ]
    return sorted(models, key=lambda model: str(model.id))


_REACHED_M: Final = 2.0  # distance from the end of a path at which the ego has reached it
_MOST_LANES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedFlowParameters(Parameters):
    """Parameters of a stream: its ends, speed and spacing of its cars."""

    start_actor_flow: tuple[float, float, float] = place()
    end_actor_flow: tuple[float, float, float] = place()
    flow_speed: float = within(10.0, 0.5, 60.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(20.0, 50.0, 6.0)


@dataclass(slots=True, kw_only=True)
class LocatedFlow(Streams):
    """Stream between two places; over when the ego is at its end, on any lane."""

    parameters_type: ClassVar[type[Parameters]] = LocatedFlowParameters

    def ways(self) -> list[LanePath]:
        """Return the path between the places."""
        given: LocatedFlowParameters = self.parameters
        return [self.way(given.start_actor_flow, given.end_actor_flow)]

    def way(self, start: tuple[float, float, float], end: tuple[float, float, float]) -> LanePath:
        """Return the path along the lanes from one place to another.

        Raises:
            DataError: No path leads there.
        """
        try:
            route = RoutePlanner(self.context.map).plan([start, end])
        except DataError as problem:
            raise DataError(f"{self.element.where}, <start_actor_flow>: {problem}") from problem
        return line_path(route.position_m)

    def lane_at(self, at: tuple[float, float, float]) -> Any:
        """Return the driving lane at a place."""
        return self.context.map.get_waypoint(carla.Location(*at))

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego is at the end of the path, or beside it."""
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
    """Return a driving lane and its neighbours of the same direction, from the right."""
    lanes = [lane]
    for to_right in (True, False):
        current = lane
        for _ in range(_MOST_LANES):
            current = current.get_right_lane() if to_right else current.get_left_lane()
            same = current is not None and current.lane_id * lane.lane_id > 0
            if not same or current.lane_type != carla.LaneType.Driving:
                break
            lanes.insert(0, current) if to_right else lanes.append(current)
    return lanes


def passed(snapshot: Any, ego_id: int, pose: Any) -> bool:
    """Return True if the ego is ahead of a pose."""
    ego = snapshot.find(ego_id)
    if ego is None:
        return False
    at, yaw = ego.get_transform().location, yaw_rad(pose)
    ahead = (at.x - pose.location.x) * np.cos(yaw) + (at.y - pose.location.y) * np.sin(yaw)
    return bool(ahead > 0.0)


@scenario(
    "EnterActorFlow",
    "a stream of fast cars to join",
    benchmark=LEADERBOARD,
    street=right_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class EnterFlow(LocatedFlow):
    """Streams on every lane of the direction."""

    def ways(self) -> list[LanePath]:
        """Return one path per lane, from the right."""
        starts = same_way_lanes(self.lane_at(self.parameters.start_actor_flow))
        ends = same_way_lanes(self.lane_at(self.parameters.end_actor_flow))
        pairs = zip(starts, ends, strict=False)
        return [self.way(_place(start), _place(end)) for start, end in pairs]


@scenario(
    "EnterActorFlowV2",
    "a stream of fast cars on one lane to join",
    benchmark=LEADERBOARD,
    street=right_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class EnterFlowV2(LocatedFlow):
    """Stream on one lane, where the ego enters from its own lane."""


def _place(lane: object) -> tuple[float, float, float]:
    at = lane.transform.location  # type: ignore[attr-defined]
    return float(at.x), float(at.y), float(at.z)


@scenario(
    "HighwayExit",
    "a stream of cars between the ego and its exit",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="queue", length_m=80.0),
)
@dataclass(slots=True, kw_only=True)
class HighwayExit(LocatedFlow):
    """Stream beside the ego; over when the ego has left the junction at which the road forks."""

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego is behind the next junction of the route."""
        route = self.context.route
        inside = np.flatnonzero(route.in_junction & (route.along_m > self.trigger_along_m))
        if not len(inside):
            return LocatedFlow.is_over(self, moment)
        last = inside[0]
        while last + 1 < len(route) and route.in_junction[last + 1]:
            last += 1
        return moment.ego_along_m > float(route.along_m[last])


@scenario(
    "MergerIntoSlowTraffic",
    "a stream of slow cars to join",
    benchmark=LEADERBOARD,
    street=right_turn("dark", "straight"),
)
@scenario(
    "MergerIntoSlowTrafficV2",
    "a stream of slow cars to join",
    benchmark=LEADERBOARD,
    street=right_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class SlowTraffic(LocatedFlow):
    """Same as EnterActorFlowV2; route files differ in the speed of the cars."""
