"""When an episode is over: the loosest of all protocols' rules; each protocol cuts on its own."""

from __future__ import annotations

import math
from typing import Final

from jaywalk.record.episode import ROUTE_COMPLETED
from jaywalk.runner.cast import Cast
from jaywalk.runner.route_progress import RouteProgress
from jaywalk.runner.world import STEP_S
from jaywalk.scenarios.base import Phase

COMPLETED: Final = ROUTE_COMPLETED
LEFT: Final = "route left"
BLOCKED: Final = "blocked"
TIMED_OUT: Final = "route time-out"
EGO_REMOVED: Final = "ego removed"
AGENT_FAILED: Final = "agent failed"
NOT_SET_UP: Final = "agent setup failed"
SENSORS_INVALID: Final = "agent sensors invalid"

_STANDING_MPS: Final = 0.1
_BLOCKED_S: Final = 180.0  # the longest any protocol waits
_BLOCKED_IN_SCENARIO_S: Final = 420.0  # obstacles suspend that rule and time out after 240 s
_AWAY_M: Final = 35.0  # every protocol has ended the route at 30 m
_SLOW_SHARE: Final = 0.10  # route time-out: a tenth of the speed limit ...
_START_S: Final = 300.0  # ... and five minutes


class EndRules:
    """Watches one episode for its end."""

    def __init__(self) -> None:
        self._standing_s = 0.0
        self._limit_s = _START_S
        self._charged_m = 0.0

    def judge(self, elapsed_s: float, speed_mps: float, cast: Cast, way: RouteProgress) -> str:
        """Why the episode is over, or nothing; call once a tick."""
        if way.is_complete:
            return COMPLETED
        if way.away_m > _AWAY_M:
            return LEFT
        self._standing_s = 0.0 if speed_mps >= _STANDING_MPS else self._standing_s + STEP_S
        busy = any(
            scenario.phase is Phase.RUNNING and scenario.timeout_s < math.inf
            for scenario in cast.scenarios
        )
        if self._standing_s > (_BLOCKED_IN_SCENARIO_S if busy else _BLOCKED_S):
            return BLOCKED
        if way.along_m > self._charged_m:
            limit_mps = max(cast.ego.get_speed_limit(), 5.0) / 3.6
            self._limit_s += (way.along_m - self._charged_m) / (_SLOW_SHARE * limit_mps)
            self._charged_m = way.along_m
        return TIMED_OUT if elapsed_s > self._limit_s else ""
