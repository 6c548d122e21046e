"""Minimum speed: the ego's mean speed in each section of the route against the traffic's.

Known quirk, kept: a test is ended twice when the route ends by itself (once when it was broken
off), and writes its last section each time.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.metrics.driving.criteria.event import Event
from jaywalk.metrics.driving.criteria.route_line import RouteLine, advance
from jaywalk.metrics.driving.criteria.rules import Rules
from jaywalk.metrics.driving.criteria.track import Track

_WINDOW: Final = 2
_LAST_SHARE: Final = 0.95
_ENOUGH_PERCENT: Final = 100.0


def find_min_speed(route: RouteLine, track: Track, rules: Rules, *, ends: int = 2) -> list[Event]:
    """Sections that were too slow (or all, where the protocol notes all).

    Args:
        route: The route.
        track: The ego up to the route's end.
        rules: Of the protocol.
        ends: How often the test is ended.
    """
    if not rules.checkpoints:
        return []
    along = route.along_m[advance(route, track.place_m, _WINDOW)]
    spacing = route.length_m / rules.checkpoints
    crossings, last = [], 0.0
    for row in np.flatnonzero(np.diff(along, prepend=0.0) > 0.0).tolist():
        if along[row] - last > spacing:
            crossings.append(row)
            last = float(along[row])
    # The tick that crosses belongs to the section it enters.
    starts = [0, *crossings]
    found = [
        _section(track, first, stop, stop) for first, stop in zip(starts, crossings, strict=False)
    ]
    if along[-1] / route.length_m > _LAST_SHARE:
        found += [_section(track, starts[-1], len(track), len(track) - 1)] * ends
    return [e for e in found if rules.checkpoints_always or (e.value or 0.0) < _ENOUGH_PERCENT]


def _section(track: Track, first: int, stop: int, row: int) -> Event:
    others = track.traffic_mps[first:stop]
    counted = ~np.isnan(others)
    percent = _ENOUGH_PERCENT
    traffic = math.fsum(others[counted])
    if traffic != 0.0:
        percent = round(100.0 * math.fsum(track.speed_mps[first:stop][counted]) / traffic, 2)
    shown = int(percent) if percent == _ENOUGH_PERCENT and traffic == 0.0 else percent
    message = f"Average speed is {shown}% of the surrounding traffic's one"
    return Event(key="min_speed_infractions", row=row, message=message, value=percent)
