"""End of an episode by the most lenient rules of all protocols, and progress along the route.

Each protocol later cuts the record by its own rules. Progress is updated on each tick and never
decreases.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.core.units import MPS_TO_KMH
from jaywalk.record.episode import ROUTE_COMPLETED
from jaywalk.runner.session import STEP_S
from jaywalk.runner.spawning import EpisodeActors
from jaywalk.scenarios.base import Phase
from jaywalk.town.routes import DenseRoute

_WINDOW: Final = 8  # points searched ahead of the last one passed
_NEAR_END_M: Final = 10.0
_NEAR_END_SHARE: Final = 0.99


class RouteProgress:
    """Progress of an ego along a dense route.

    Attributes:
        index: Last point passed.
        along_m: Distance driven along the route, interpolated between points.
        away_m: Distance from the nearest point of the window.
    """

    def __init__(self, route: DenseRoute) -> None:
        self._path, self._place = route.path, route.position_m
        yaw = route.yaw_rad
        self._forward = np.column_stack([np.cos(yaw), np.sin(yaw)])
        self.index = 0
        self.along_m = 0.0
        self.away_m = 0.0

    @property
    def length_m(self) -> float:
        """Length of the route."""
        return self._path.length_m

    @property
    def share(self) -> float:
        """Share of the route that has been driven."""
        return self.along_m / self.length_m

    def follow(self, x_m: float, y_m: float, z_m: float) -> None:
        """Update the progress with the ego's present position."""
        first = self.index
        stop = min(first + _WINDOW + 1, len(self._place))
        to_ego = np.array([x_m, y_m]) - self._place[first:stop, :2]
        ahead = np.einsum("ij,ij->i", to_ego, self._forward[first:stop])
        gap = np.hypot(to_ego[:, 0], to_ego[:, 1])
        passed = np.flatnonzero((ahead > 0.0) & (gap <= gap.min() + 2.0))
        if len(passed):
            self.index = first + int(passed[-1])
        beyond = float(ahead[self.index - first])
        self.along_m = float(self._path.arc_m[self.index]) + min(max(beyond, 0.0), 1.0)
        self.away_m = float(gap.min())
        self._end_m = float(np.linalg.norm(self._place[-1] - np.array([x_m, y_m, z_m])))

    @property
    def is_complete(self) -> bool:
        """Apply the Leaderboard's rule: 99 % passed and within 10 m of the end."""
        share = float(self._path.arc_m[self.index]) / self.length_m
        return share > _NEAR_END_SHARE and self._end_m < _NEAR_END_M


COMPLETED: Final = ROUTE_COMPLETED
LEFT: Final = "route left"
BLOCKED: Final = "blocked"
TIMED_OUT: Final = "route time-out"
EGO_REMOVED: Final = "ego removed"
AGENT_FAILED: Final = "agent failed"
NOT_SET_UP: Final = "agent setup failed"
SENSORS_INVALID: Final = "agent sensors invalid"
ENDED_BY_AGENT: Final = "ended by the agent"

_STANDING_MPS: Final = 0.1
_BLOCKED_S: Final = 180.0  # longest waiting time of all protocols
_AWAY_M: Final = 35.0  # all protocols end the route at 30 m
_SLOW_SHARE: Final = 0.10  # route time-out: a tenth of the speed limit ...
_START_S: Final = 300.0  # ... and five minutes


class EndRules:
    """End rules of one episode."""

    def __init__(self) -> None:
        self._standing_s = 0.0
        self._was_held_up = False
        self._limit_s = _START_S
        self._charged_m = 0.0

    def judge(
        self, elapsed_s: float, speed_mps: float, actors: EpisodeActors, way: RouteProgress
    ) -> str:
        """Return the reason why the episode is over, or an empty text; call once per tick."""
        if way.is_complete:
            return COMPLETED
        if way.away_m > _AWAY_M:
            return LEFT
        if self._is_blocked(speed_mps, actors):
            return BLOCKED
        if way.along_m > self._charged_m:
            limit_mps = max(actors.ego.get_speed_limit(), 5.0) / MPS_TO_KMH
            self._limit_s += (way.along_m - self._charged_m) / (_SLOW_SHARE * limit_mps)
            self._charged_m = way.along_m
        return TIMED_OUT if elapsed_s > self._limit_s else ""

    def _is_blocked(self, speed_mps: float, actors: EpisodeActors) -> bool:
        """Return True if the ego stood for too long; obstacle scenarios have their own time-out.

        They suspend the rule while they run, and the time counts from zero afterwards: by then most
        obstacles are gone, and a driver that waited may continue.
        """
        held_up = any(
            scenario.phase is Phase.RUNNING and scenario.timeout_s < math.inf
            for scenario in actors.scenarios
        )
        starts_anew = held_up or self._was_held_up or speed_mps >= _STANDING_MPS
        self._was_held_up = held_up
        self._standing_s = 0.0 if starts_anew else self._standing_s + STEP_S
        return self._standing_s > _BLOCKED_S
