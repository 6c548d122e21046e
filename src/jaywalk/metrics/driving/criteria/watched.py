"""What the record of a watched evaluator shows of its criteria and scenarios.

A passive recorder sees no trigger and no criterion. But an evaluator's collision test hangs a
sensor on the ego when it starts and takes it away when the route ends, and a scenario starts at a
place the route file names and removes its actors when it is over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.metrics.driving.criteria.route_line import RouteLine
from jaywalk.metrics.driving.criteria.scripted import Span
from jaywalk.metrics.driving.criteria.track import Track
from jaywalk.record import columns as c

_COLLISION_SENSOR: Final = "sensor.other.collision"
_OWN_SENSOR: Final = "jaywalk-recorder"  # the recorder's, if it was told to hang one
_SCENARIO_ROLE: Final = "scenario"
_WINDOW: Final = 5
_TRIGGER_M: Final = 2.0
_TIMEOUT_S: Final = 240.0


def collision_tests(actors: pl.DataFrame, ego: int) -> list[tuple[int, int]]:
    """First and last tick of each collision test, in order of their start.

    A test hangs its sensor up on its first tick, so it is seen from the next one on.
    """
    found = actors.filter(
        (pl.col(c.TYPE_ID) == _COLLISION_SENSOR)
        & (pl.col(c.PARENT) == ego)
        & (pl.col(c.ROLE_NAME) != _OWN_SENSOR)
        & (pl.col(c.FIRST_TICK) > 0)
    ).sort(c.FIRST_TICK, c.ACTOR)
    return [(first - 1, last) for first, last in found.select(c.FIRST_TICK, c.LAST_TICK).rows()]


def spans_seen(
    scenarios: list[dict[str, Any]], actors: pl.DataFrame, track: Track, route: RouteLine
) -> list[Span]:
    """Lives of the scenarios that started.

    The end is known where the route has one scenario and that one had actors: it is when the last
    of them went. One with a time-out that took more than 240 s timed out.
    """
    spans = []
    for scenario in scenarios:
        row = _start_row(scenario, track, route)
        if row is None:
            continue
        last = _last_tick(actors, track) if len(scenarios) == 1 else None
        lasted_s = 0.0 if last is None else track.game_s[track.row_of(last)] - track.game_s[row]
        span = Span(
            name=str(scenario.get("name", "")),
            type=str(scenario.get("type", "")),
            first_tick=int(track.tick[row]),
            last_tick=last,
        )
        timed_out = span.rests_blocked_test and bool(lasted_s > _TIMEOUT_S)
        spans.append(replace(span, timed_out=timed_out))
    return spans


def _start_row(scenario: dict[str, Any], track: Track, route: RouteLine) -> int | None:
    """Row on which the route point nearest to the ego lies at the scenario's trigger."""
    points = [p for p in scenario.get("parameters", []) if p.get("tag") == "trigger_point"]
    if not points:
        return None
    trigger = np.array([float(points[0].get(axis, 0.0)) for axis in "xyz"])
    at_trigger = np.linalg.norm(route.place_m - trigger, axis=1) < _TRIGGER_M
    index = 0
    for row, place in enumerate(track.place_m):
        ahead = route.place_m[index : index + _WINDOW + 1]
        index += int(np.argmin(np.linalg.norm(ahead - place, axis=1)))
        if at_trigger[index]:
            return row
    return None


def _last_tick(actors: pl.DataFrame, track: Track) -> int | None:
    """Last tick of the scenario's actors; None if they outlived the route."""
    theirs = actors.filter(pl.col(c.ROLE_NAME).str.starts_with(_SCENARIO_ROLE))
    last = theirs[c.LAST_TICK].max()
    if not isinstance(last, int) or last >= track.tick[-1]:
        return None
    return last
