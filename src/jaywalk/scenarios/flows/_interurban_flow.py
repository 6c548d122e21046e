"""InterurbanActorFlow and ..AdvancedActorFlow: the ego turns left across a stream of cars."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.catalogue import LEADERBOARD, left_turn, scenario
from jaywalk.scenarios.flows._located_flow import LocatedFlow, LocatedFlowParameters, passed
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.parameter_fields import ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class InterurbanAdvancedParameters(LocatedFlowParameters):
    """Parameters of InterurbanAdvancedActorFlow; a direction in some files is unused."""

    direction: str = ignored()


@scenario(
    "InterurbanActorFlow",
    "a stream to turn left across",
    benchmark=LEADERBOARD,
    street=left_turn("dark", "straight"),
)
@dataclass(slots=True, kw_only=True)
class InterurbanFlow(LocatedFlow):
    """Cars come on the opposite lane; over when the ego has left the junction."""

    stands_ready: ClassVar[bool] = False
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)
        LocatedFlow.setup(self)

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego is behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m


@scenario(
    "InterurbanAdvancedActorFlow",
    "a stream to turn left across, another one to join",
    benchmark=LEADERBOARD,
    street=replace(left_turn("dark", "straight"), return_lane=True),
)
@dataclass(slots=True, kw_only=True)
class InterurbanAdvancedFlow(LocatedFlow):
    """Two streams: one to cross and one to join, in the other direction and left of the first."""

    parameters_type: ClassVar[type[Parameters]] = InterurbanAdvancedParameters
    stands_ready: ClassVar[bool] = False
    last: Any = None  # end of the second stream

    def ways(self) -> list[LanePath]:
        """Return the path of the first stream, and that of the second in the other direction."""
        given: InterurbanAdvancedParameters = self.parameters
        back_from = self._left_of(given.end_actor_flow, "end_actor_flow")
        self.last = self._left_of(given.start_actor_flow, "start_actor_flow")
        first, second = (lane.transform.location for lane in (back_from, self.last))
        return [
            self.way(given.start_actor_flow, given.end_actor_flow),
            self.way((first.x, first.y, first.z), (second.x, second.y, second.z)),
        ]

    def _left_of(self, at: tuple[float, float, float], name: str) -> Any:
        lane = self.lane_at(at).get_left_lane()
        if lane is None or str(lane.lane_type) != "Driving":
            raise DataError(
                f"{self.element.where}, <{name}>: no lane on its left for the way back."
            )
        return lane

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego has passed the end of the second stream."""
        return passed(moment.snapshot, moment.ego_id, self.last.transform)
