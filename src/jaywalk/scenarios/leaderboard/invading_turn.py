"""InvadingTurn: cones narrow the opposite lane, and oncoming cars come over to the ego's side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, Moment, Parameters, Told
from jaywalk.scenarios.flow import Flow, limit_mps
from jaywalk.scenarios.flowing import Flowing
from jaywalk.scenarios.lane_paths import LanePath, lane_ahead, moved_aside, opposite_lane, path_of
from jaywalk.scenarios.obstacle_layouts import CONE
from jaywalk.scenarios.parameter_fields import within
from jaywalk.scenarios.placing import place_on_route, spawn_all

_SPACING_M: Final = 40.0
_SOURCE_M: Final = 30.0  # beyond the distance
_HALF_CAR_M: Final = 0.7
_CONES_FROM_M, _CONE_STEP_M = 10.0, 5.0
_CONES_SHARE: Final = 0.5  # of the distance
_EDGE_SHARE: Final = 0.8  # of half a lane width
_UP_M: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class InvadingTurnParameters(Parameters):
    """InvadingTurn."""

    distance: float = within(100.0, 20.0)  # m of road on which they come
    offset: float = within(0.25, 0.0, 2.0)  # m beyond the middle of the road


@dataclass(slots=True, kw_only=True)
class InvadingTurn(Flowing):
    """On a road with one lane each way; over when the ego is where the cars appear."""

    parameters_type: ClassVar[type[Parameters]] = InvadingTurnParameters
    told_as: ClassVar[str] = "InvadingTurn"
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    cones: list[int] = field(default_factory=list)

    @property
    def end_m(self) -> float:
        """Where the cars appear, on the ego's route."""
        wanted_m = self.trigger_along_m + float(self.parameters.distance) + _SOURCE_M
        return min(wanted_m, float(self.stage.route.along_m[-1]) - 2.0)

    def setup(self) -> None:
        """The way of the cars, and the cones at its outer edge."""
        stage = self.stage
        here = stage.map.get_waypoint(place_on_route(stage.route, self.end_m).location)
        lane = opposite_lane(here)
        if lane is None:
            raise DataError(f"{self.spec.where}: there is no opposite lane for cars to come on.")
        middle = path_of(lane_ahead(lane, self.end_m - self.trigger_along_m))
        half_m = 0.5 * float(lane.lane_width)
        over_m = float(self.parameters.offset) + half_m - _HALF_CAR_M
        self.flows = [
            Flow(
                stage=stage, path=moved_aside(middle, -over_m), spacing_m=(_SPACING_M, _SPACING_M),
                key=(*self.draws_key, "flow"),
            )
        ]  # fmt: skip
        self._put_cones(moved_aside(middle, _EDGE_SHARE * half_m))

    def _put_cones(self, edge: LanePath) -> None:
        """The nearest to the ego first."""
        upto_m = min(_CONES_FROM_M + _CONES_SHARE * float(self.parameters.distance), edge.length_m)
        places = np.arange(_CONES_FROM_M, upto_m, _CONE_STEP_M)[::-1]
        wanted = [(CONE, edge.pose(float(at_m), _UP_M)) for at_m in places]
        self.cones = spawn_all(self.stage.client, self.stage.world, wanted, self.spec.where)
        self.actor_ids = list(self.cones)

    def told(self) -> Told | None:
        """First and last cone."""
        return Told(name=self.told_as, first_actor=self.cones[0], last_actor=self.cones[-1])

    def start(self, moment: Moment) -> None:
        """They come, at the limit."""
        limit = limit_mps(self.stage, moment)
        self.flows[0].begin(limit)
        self.note(moment, what="oncoming cars", speed_mps=round(limit, 3))

    def is_over(self, moment: Moment) -> bool:
        """Whether the ego is where they appear."""
        return moment.ego_along_m >= self.end_m

    def tick(self, moment: Moment) -> bool:
        """They drive past the cones; none appears right before the ego."""
        self._drive(moment, source=moment.ego_along_m < self.end_m - _SOURCE_M)
        self.actor_ids = [*self.cones, *self.actor_ids]
        return self.is_over(moment)

    def end(self, moment: Moment) -> None:
        """The cones go; who is on the way drives on."""
        self.destroy(self.cones)
        self.actor_ids = self.flows[0].actor_ids

    def closed(self) -> list[NDArray[np.float64]]:
        """Both lanes."""
        return [*Flowing.closed(self), *self.moves()]
