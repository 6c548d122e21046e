"""EnterActorFlow and EnterActorFlowV2: the ego joins a stream of fast cars."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.scenarios.lane_paths import LanePath
from jaywalk.scenarios.leaderboard.located_flow import LocatedFlow, same_way_lanes


@dataclass(slots=True, kw_only=True)
class EnterFlow(LocatedFlow):
    """On every lane of that direction."""

    def ways(self) -> list[LanePath]:
        """One for each lane, from the right."""
        starts = same_way_lanes(self.lane_at(self.parameters.start_actor_flow))
        ends = same_way_lanes(self.lane_at(self.parameters.end_actor_flow))
        pairs = zip(starts, ends, strict=False)
        return [self.way(_place(start), _place(end)) for start, end in pairs]


@dataclass(slots=True, kw_only=True)
class EnterFlowV2(LocatedFlow):
    """On one lane, where the ego has one of its own to enter."""


def _place(lane: object) -> tuple[float, float, float]:
    at = lane.transform.location  # type: ignore[attr-defined]
    return float(at.x), float(at.y), float(at.z)
