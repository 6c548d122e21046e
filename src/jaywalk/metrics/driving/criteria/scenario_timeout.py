"""Scenario time-outs: the scenario's own clock ran out before the ego got past it."""

from __future__ import annotations

from jaywalk.metrics.driving.criteria.event import Event, place_text
from jaywalk.metrics.driving.criteria.rules import Rules
from jaywalk.metrics.driving.criteria.scene import Scene


def find_scenario_timeouts(scene: Scene, rules: Rules) -> list[Event]:
    """One event per scenario that timed out, when it ended."""
    if not rules.scenario_criteria:
        return []
    track = scene.track
    events = []
    for span in scene.spans:
        if not (span.timed_out and span.charges_timeout):
            continue
        if span.last_tick is None or span.last_tick > track.tick[-1]:
            continue
        row = min(track.row_of(span.last_tick), len(track) - 1)
        where = f" at {place_text(track.place_m[row])}" if rules.places else ""
        message = f"Agent timed out a scenario{where}"
        events.append(Event(key="scenario_timeouts", row=row, message=message))
    return events
