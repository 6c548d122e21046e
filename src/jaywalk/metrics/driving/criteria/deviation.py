"""In-route test: the ego may not leave the route by 30 m, nor be 15 m away for 30 % of it."""

from __future__ import annotations

import math
from typing import Final

from jaywalk.metrics.driving.criteria.event import Event, place_text
from jaywalk.metrics.driving.criteria.route_line import RouteLine
from jaywalk.metrics.driving.criteria.track import Track

_WINDOW: Final = 5
_FAR_M: Final = 30.0
_UNSAFE_M: Final = 15.0
_UNSAFE_PERCENT: Final = 30.0


def find_deviation(route: RouteLine, track: Track) -> Event | None:
    """The event that ends the route, if any."""
    row = _deviation_row(route, track)
    if row is None:
        return None
    message = f"Agent deviated from the route at {place_text(track.place_m[row])}"
    return Event(key="route_dev", row=row, message=message)


def _deviation_row(route: RouteLine, track: Track) -> int | None:
    points, along = route.place_m[:, :2].tolist(), route.along_m.tolist()
    index, unsafe_m, safe = 0, 0.0, True
    for row, (x, y) in enumerate(track.place_m[:, :2].tolist()):
        nearest, gap = index, math.inf
        for k in range(index, min(index + _WINDOW + 1, len(points))):
            away = math.hypot(x - points[k][0], y - points[k][1])
            if away <= gap:
                nearest, gap = k, away
        if gap >= _FAR_M:
            return row
        safe = gap < _UNSAFE_M
        # Only an advance adds to the way driven far off, so standing there is free.
        if nearest != index and not safe:
            unsafe_m += along[nearest] - along[index]
            if 100.0 * unsafe_m / along[-1] > _UNSAFE_PERCENT:
                return row
        index = nearest
    return None
