"""Where the ego is on its route, tick by tick; it never goes back."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.town.routes import DenseRoute

_WINDOW: Final = 8  # points looked at ahead of the last one passed
_NEAR_END_M: Final = 10.0
_NEAR_END_SHARE: Final = 0.99


class RouteProgress:
    """Follows an ego along a dense route.

    Attributes:
        index: Last point passed.
        along_m: Distance driven along the route, between points too.
        away_m: Distance from the nearest point of the window.
    """

    def __init__(self, route: DenseRoute) -> None:
        self._place = route.position_m
        yaw = np.deg2rad(route.rotation_deg[:, 1])
        self._forward = np.column_stack([np.cos(yaw), np.sin(yaw)])
        self._along = route.along_m
        self.index = 0
        self.along_m = 0.0
        self.away_m = 0.0

    @property
    def length_m(self) -> float:
        """Length of the route."""
        return float(self._along[-1])

    @property
    def share(self) -> float:
        """Share of the route that has been driven."""
        return self.along_m / self.length_m

    def follow(self, x_m: float, y_m: float, z_m: float) -> None:
        """Take the ego's present place."""
        first = self.index
        stop = min(first + _WINDOW + 1, len(self._place))
        to_ego = np.array([x_m, y_m]) - self._place[first:stop, :2]
        ahead = np.einsum("ij,ij->i", to_ego, self._forward[first:stop])
        gap = np.hypot(to_ego[:, 0], to_ego[:, 1])
        passed = np.flatnonzero((ahead > 0.0) & (gap <= gap.min() + 2.0))
        if len(passed):
            self.index = first + int(passed[-1])
        beyond = float(ahead[self.index - first])
        self.along_m = float(self._along[self.index]) + min(max(beyond, 0.0), 1.0)
        self.away_m = float(gap.min())
        self._end_m = float(np.linalg.norm(self._place[-1] - np.array([x_m, y_m, z_m])))

    @property
    def is_complete(self) -> bool:
        """The Leaderboard's rule: 99 % passed and within 10 m of the end."""
        share = float(self._along[self.index]) / self.length_m
        return share > _NEAR_END_SHARE and self._end_m < _NEAR_END_M
