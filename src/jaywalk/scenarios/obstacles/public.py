"""Bases of public obstacle types that are passed against a flow of cars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaywalk.actors.events import Moment
from jaywalk.scenarios.obstacles.two_ways import OnLaneTwoWays


@dataclass(slots=True, kw_only=True)
class LbTwoWays(OnLaneTwoWays):
    """The others appear at their source 5 s after the ego is near."""

    reach_m: ClassVar[float] = 30.0
    wait_s: ClassVar[float] = 5.0

    def first_m(self, moment: Moment, speed_mps: float, beside_m: float) -> float:
        """The first car appears at the source."""
        return 0.0
