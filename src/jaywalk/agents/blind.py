"""A driver that follows its route and ignores everything else."""

from __future__ import annotations

from typing import ClassVar

from jaywalk.agents.base import Moment
from jaywalk.agents.following import Manner
from jaywalk.agents.perception import Own
from jaywalk.agents.route_driver import Choice, RouteDriver


class Blind(RouteDriver):
    """Keeps to the speed limit and slows for bends, for nothing and nobody else."""

    name: ClassVar[str] = "blind"
    version: ClassVar[str] = "1"
    manner: ClassVar[Manner] = Manner(speed_factor=0.95)

    def accelerate(self, own: Own, moment: Moment) -> Choice:
        """The free road, always."""
        return Choice(acceleration_mps2=self.cruise_mps2(own), reason="free road")
