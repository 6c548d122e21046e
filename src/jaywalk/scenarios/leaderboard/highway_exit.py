"""HighwayExit: the ego crosses a stream of cars on the lane beside it to leave the road."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.scenarios.base import Moment
from jaywalk.scenarios.leaderboard.located_flow import LocatedFlow


@dataclass(slots=True, kw_only=True)
class HighwayExit(LocatedFlow):
    """Over when the ego has left the junction at which the road forks."""

    def is_over(self, moment: Moment) -> bool:
        """Behind the next junction of the route."""
        route = self.stage.route
        inside = np.flatnonzero(route.in_junction & (route.along_m > self.trigger_along_m))
        if not len(inside):
            return LocatedFlow.is_over(self, moment)
        last = inside[0]
        while last + 1 < len(route) and route.in_junction[last + 1]:
            last += 1
        return moment.ego_along_m > float(route.along_m[last])
