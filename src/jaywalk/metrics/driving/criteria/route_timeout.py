"""Route time-out: a time that grows with the way driven, or is fixed by the route's length."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.metrics.driving.criteria.event import Event
from jaywalk.metrics.driving.criteria.route_line import RouteLine, advance
from jaywalk.metrics.driving.criteria.rules import Rules
from jaywalk.metrics.driving.criteria.track import Track

_WINDOW: Final = 3
_START_S: Final = 300.0
_SHARE_OF_LIMIT: Final = 0.10
_FIXED_S_PER_M: Final = 0.8
_FIXED_S: Final = 5.0
_USUAL_LIMIT_KMH: Final = 30.0  # what CARLA gives where a road says nothing


def find_route_timeout(route: RouteLine, track: Track, rules: Rules) -> Event | None:
    """The event that ends the route, if any."""
    elapsed_s = track.game_s - track.game_s[0]
    if rules.timeout == "fixed":
        allowed_s = np.full(len(track), float(int(_FIXED_S_PER_M * route.length_m + _FIXED_S)))
    else:
        index = advance(route, track.place_m, _WINDOW)
        gained_m = np.diff(route.along_m[index], prepend=0.0)
        limit_kmh = np.where(track.limit_kmh > 0.0, track.limit_kmh, _USUAL_LIMIT_KMH)
        if rules.limit_steps_kmh:
            steps = np.array(rules.limit_steps_kmh)
            limit_kmh = steps[np.minimum(np.searchsorted(steps, limit_kmh), len(steps) - 1)]
        allowed_s = _START_S + np.cumsum(gained_m / (_SHARE_OF_LIMIT * limit_kmh / 3.6))
    late = np.flatnonzero(elapsed_s > allowed_s)
    if not len(late):
        return None
    return Event(key="route_timeout", row=int(late[0]), message="Route timeout.")
