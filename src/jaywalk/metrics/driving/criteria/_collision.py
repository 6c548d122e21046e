"""Collisions: contacts of the ego, counted with the protocol's memory of the last collision.

A collision test is called on every tick of a contact. It remembers the last actor hit for some
time, and the place of the hit until the ego has left it. As a consequence, a long push counts
again.
"""

from __future__ import annotations

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import CriteriaScene
from jaywalk.record.queries import Contact


def find_collisions(scene: CriteriaScene, rules: Rules) -> list[Event]:
    """Return the collisions counted by the main test, then by other tests that ran in parallel."""
    ticks = scene.track.tick
    windows = [(int(ticks[0]), int(ticks[-1])), *scene.counters]
    return [event for window in windows for event in _count(scene, rules, *window)]


def kind_of_hit(type_id: str) -> str | None:
    """Return the infraction key by the type of the actor hit; None: free of charge."""
    if ("static" in type_id or "traffic" in type_id) and "sidewalk" not in type_id:
        return "collisions_layout"
    if "vehicle" in type_id:
        return "collisions_vehicle"
    return "collisions_pedestrian" if "walker" in type_id else None


def _count(scene: CriteriaScene, rules: Rules, first_tick: int, last_tick: int) -> list[Event]:
    track = scene.track
    memory = _Memory(scene, rules)
    events = []
    for row, contact in _calls(scene, first_tick, last_tick):
        memory.forget(row)
        if not memory.takes(row, contact):
            continue
        key = kind_of_hit(contact.other_type_id)
        if key is not None:
            where = place_text(track.place_m[max(row - 1, 0)])
            what = f"type={contact.other_type_id} and id={scene.server_id(contact)}"
            message = f"Agent collided against object with {what} at {where}"
            events.append(Event(key=key, row=row, message=message, other=contact.other))
    return events


def _calls(scene: CriteriaScene, first_tick: int, last_tick: int) -> list[tuple[int, Contact]]:
    """Return the rows on which a test receives a contact, in order."""
    track = scene.track
    calls = []
    for contact in scene.contacts:
        first = track.row_of(max(contact.tick, first_tick))
        stop = track.row_of(min(contact.end_tick, last_tick) + 1)
        calls += [(row, contact) for row in range(first, stop)]
    return sorted(calls, key=lambda call: (call[0], call[1].tick))


class _Memory:
    """Memory of a collision test. The test sees a hit before the new state of the tick."""

    def __init__(self, scene: CriteriaScene, rules: Rules) -> None:
        track = scene.track
        self._place, self._time, self._speed = track.place_m, track.game_s, track.speed_mps
        if rules.hit_all_places:
            self._place = self._place[:, :2]
        self._rules, self._server_id = rules, scene.server_id
        self._id = 0
        self._since_s = 0.0
        self._at: list[FloatArray] = []
        self._checked = 0

    def forget(self, row: int) -> None:
        """Apply the checks of all ticks before ``row``."""
        first = self._checked
        self._checked = row
        if first >= row:
            return
        far = self._rules.hit_forget_m
        passed = self._place[first:row]
        self._at = [at for at in self._at if np.all(np.linalg.norm(passed - at, axis=1) <= far)]
        if self._id and self._time[row - 1] - self._since_s > self._rules.hit_id_s:
            self._id = 0

    def takes(self, row: int, contact: Contact) -> bool:
        """Return whether a hit counts, and remember it if so."""
        before = max(row - 1, 0)
        server_id = self._server_id(contact)
        if self._id and server_id == self._id:
            return False
        here = self._place[before]
        if any(np.linalg.norm(here - at) <= self._rules.hit_ignore_m for at in self._at):
            return False
        if self._speed[before] < self._rules.hit_min_speed_mps:
            return False
        if self._rules.hit_all_places and kind_of_hit(contact.other_type_id) is None:
            return False
        self._since_s = float(self._time[before])
        self._at = [*self._at, here] if self._rules.hit_all_places else [here]
        if server_id:
            self._id = server_id
        return True
