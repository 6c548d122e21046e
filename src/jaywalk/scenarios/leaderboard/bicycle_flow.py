"""CrossingBicycleFlow: bicycles on a cycle lane cross the ego's way at a junction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.lane_paths import LanePath, path_of
from jaywalk.scenarios.leaderboard.held_red import RedThenGreen
from jaywalk.scenarios.leaderboard.streams import Streams
from jaywalk.scenarios.parameter_fields import ignored, interval, place, within

_NEAR_M: Final = 10.0  # of the given place a cycle lane must be
_AFTER_M: Final = 40.0
_LONGEST_M: Final = 400.0
_STEP_M: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BicycleFlowParameters(Parameters):
    """CrossingBicycleFlow; where they vanish follows from the lane."""

    start_actor_flow: tuple[float, float, float] = place()
    end_actor_flow: str = ignored()
    flow_speed: float = within(10.0, 0.5, 20.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(20.0, 50.0, 3.0)


@dataclass(slots=True, kw_only=True)
class BicycleFlow(Streams):
    """At lights the ego has red for 5 s, then green."""

    parameters_type: ClassVar[type[Parameters]] = BicycleFlowParameters
    ahead: JunctionAhead = field(init=False)
    lights: RedThenGreen = field(init=False)

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)
        self.lights = RedThenGreen(self.ahead)
        Streams.setup(self)

    def models(self) -> tuple[Any, ...]:
        """Bicycles."""
        found = bicycles(self.stage.world.get_blueprint_library())
        if not found:
            raise DataError(f"{self.spec.where}: the server has no bicycle.")
        return tuple(found)

    def ways(self) -> list[LanePath]:
        """The cycle lane over the junction and 40 m on."""
        at = carla.Location(*self.parameters.start_actor_flow)
        lane = self.stage.map.get_waypoint(at, lane_type=carla.LaneType.Biking)
        there = lane.transform.location if lane is not None else None
        if there is None or math.hypot(there.x - at.x, there.y - at.y) > _NEAR_M:
            raise DataError(
                f"{self.spec.where}, <start_actor_flow>: no cycle lane within {_NEAR_M:g} m of it."
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

    def start(self, moment: Moment) -> None:
        """The bicycles come."""
        Streams.start(self, moment)
        self.lights.begin(moment.elapsed_s)

    def tick(self, moment: Moment) -> bool:
        """Green in time."""
        self.lights.step(moment.elapsed_s)
        return Streams.tick(self, moment)

    def end(self, moment: Moment) -> None:
        """The lights run again."""
        self.lights.release()

    def is_over(self, moment: Moment) -> bool:
        """Behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m


def bicycles(library: Any) -> list[Any]:
    """Blueprints of bicycles, in order of their ids."""
    found = [
        model
        for model in library.filter("vehicle.*")
        if model.has_attribute("base_type")
        and str(model.get_attribute("base_type").as_str()) == "bicycle"
    ]
    return sorted(found, key=lambda model: str(model.id))
