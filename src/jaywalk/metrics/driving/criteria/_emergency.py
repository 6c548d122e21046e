"""Criteria of yielding to emergency vehicles and of scenario time-outs.

Yielding: the emergency vehicle must have passed the ego when its scenario ends. Scenario time-out:
the time limit of a scenario ran out before the ego had passed the scenario.
"""

from __future__ import annotations

import numpy as np

from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import CriteriaScene
from jaywalk.metrics.driving.criteria._scripted import Span
from jaywalk.metrics.driving.criteria._track import forward_of
from jaywalk.record import columns as c
from jaywalk.record.queries import state_rows


def find_scenario_timeouts(scene: CriteriaScene, rules: Rules) -> list[Event]:
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


_TYPE = "YieldToEmergencyVehicle"


def find_not_yielded(scene: CriteriaScene, rules: Rules) -> list[Event]:
    """One event per scenario of this kind in which the ego was still ahead at the end."""
    if not rules.scenario_criteria:
        return []
    spans = [span for span in scene.spans if span.type == _TYPE]
    found = [_judge(scene, rules, span) for span in spans]
    return [event for event in found if event is not None]


def _judge(scene: CriteriaScene, rules: Rules, span: Span) -> Event | None:
    track = scene.track
    last = int(track.tick[-1]) if span.last_tick is None else min(span.last_tick, track.tick[-1])
    if span.first_tick > last or not scene.emergency:
        return None
    rows = state_rows(scene.record, actors=scene.emergency, ticks=(span.first_tick, last))
    seen = rows.sort(c.TICK, maintain_order=True).tail(1)
    if not seen.height:
        return None
    row = min(track.row_of(seen[c.TICK][0]), len(track) - 1)
    place = seen.select(c.X_M, c.Y_M, c.Z_M).to_numpy()[0].astype(np.float64)
    turn = seen.select(c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG).to_numpy().astype(np.float64)
    if float(forward_of(turn)[0] @ (track.place_m[row] - place)) <= 0.0:
        return None
    where = f" at {place_text(track.place_m[row])}" if rules.places else ""
    message = f"Agent failed to yield to an emergency vehicle{where}"
    return Event(
        key="yield_emergency_vehicle_infractions",
        row=row,
        message=message,
        other=int(seen[c.ACTOR][0]),
    )
