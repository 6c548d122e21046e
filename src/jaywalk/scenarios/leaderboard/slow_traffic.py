"""MergerIntoSlowTraffic and its V2: the ego joins a stream of slow cars."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.scenarios.leaderboard.located_flow import LocatedFlow


@dataclass(slots=True, kw_only=True)
class SlowTraffic(LocatedFlow):
    """As EnterActorFlowV2; the speed of the cars is what differs in route files."""
