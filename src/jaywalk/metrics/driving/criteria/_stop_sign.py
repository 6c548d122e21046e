"""Running a stop: the ego leaves a stop sign's trigger box without having stood in it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import CriteriaScene, Landmark

_STANDING_MPS: Final = 0.1
_BACKWARDS: Final = -0.17


def find_stops(scene: CriteriaScene, rules: Rules) -> list[Event]:
    """Stop signs that were run; the last one run cannot be run again at once."""
    near = _rows_near(scene, rules)
    if not len(near):
        return []
    track = scene.track
    test = _StopTest(scene, rules)
    at = set(near.tolist())
    rows = sorted(at | {row + 1 for row in at if row + 1 < len(track)})
    for row in rows:
        test.see(row, looked=row in at)
    return test.events


def _rows_near(scene: CriteriaScene, rules: Rules) -> NDArray[np.int64]:
    """Return the rows at which a sign may be near enough to the lane's centre next to the ego."""
    if not scene.stop_signs:
        return np.empty(0, np.int64)
    if rules.stop_must_enter:
        signs = np.array([sign.place_m for sign in scene.stop_signs])
        away = np.linalg.norm(scene.track.place_m[:, None] - signs, axis=2).min(axis=1)
        return np.flatnonzero(away <= rules.stop_reach_m)
    centres = np.array([sign.centre_m for sign in scene.stop_signs])
    gaps = np.linalg.norm(scene.track.place_m[:, None] - centres, axis=2).min(axis=1)
    # The lane's centre may be as far from the ego as the width of a road.
    maybe = np.flatnonzero(gaps <= rules.stop_reach_m + 15.0)
    lanes = scene.lanes.under(scene.track.place_m[maybe])
    gaps = np.linalg.norm(lanes.centre_m[:, None] - centres, axis=2).min(axis=1)
    near: NDArray[np.int64] = maybe[gaps <= rules.stop_reach_m]
    return near


class _StopTest:
    """The state of a test between ticks."""

    def __init__(self, scene: CriteriaScene, rules: Rules) -> None:
        self._scene, self._rules = scene, rules
        self._forward = scene.track.forward
        self._target: Landmark | None = None
        self._stood = self._entered = False
        self._last_failed = -1
        self.events: list[Event] = []

    def see(self, row: int, looked: bool) -> None:
        """Take a tick; ``looked``: some sign is near."""
        ahead = self._ahead(row) if looked else None
        must_enter = self._rules.stop_must_enter
        if self._target is None:
            if ahead is not None and self._faces(row):
                signs = self._scene.stop_signs
                self._target = next((s for s in signs if self._affects(s, ahead, row)), None)
            return
        place = self._scene.track.place_m[row]
        self._entered |= self._in_box(self._target, self._target.place_m, place[None])
        if self._scene.track.speed_mps[row] < _STANDING_MPS:
            self._stood = True
        if ahead is not None and self._affects(self._target, ahead, row):
            return
        counts = self._entered if must_enter else self._target.actor != self._last_failed
        if not self._stood and counts:
            self._fail(row, self._target)
        self._target, self._stood, self._entered = None, False, False

    def _fail(self, row: int, sign: Landmark) -> None:
        where = place_text(sign.place_m)
        message = f"Agent ran a stop with id={sign.server_id} at {where}"
        self.events.append(Event(key="stop_infraction", row=row, message=message, other=sign.actor))
        self._last_failed = sign.actor

    def _ahead(self, row: int) -> FloatArray:
        place = tuple(self._scene.track.place_m[row].tolist())
        points = self._scene.lanes.ahead(place, self._rules.stop_step_m, self._rules.stop_steps)
        if self._rules.stop_must_enter:  # that protocol looks at the ego, not at the lane beside it
            points[0] = place
        return points

    def _faces(self, row: int) -> bool:
        """Return whether the ego drives neither backwards nor against the lane."""
        track = self._scene.track
        lane = self._scene.lanes.under(track.place_m[row : row + 1])
        along = float(self._forward[row] @ lane.forward[0])
        if self._rules.stop_must_enter:
            return along > 0.0
        return float(track.velocity_mps[row] @ self._forward[row]) >= _BACKWARDS <= along

    def _affects(self, sign: Landmark, ahead: FloatArray, row: int) -> bool:
        rules = self._rules
        ends = (sign.centre_m, ahead[0])
        if rules.stop_must_enter:
            ends = (sign.place_m, self._scene.track.place_m[row])
        if float(np.linalg.norm(ends[0] - ends[1])) > rules.stop_reach_m:
            return False
        return self._in_box(sign, sign.centre_m, ahead)

    def _in_box(self, sign: Landmark, centre_m: FloatArray, places_m: FloatArray) -> bool:
        """Return whether a place is in a box of the trigger's size, not rotated with the sign."""
        half = np.maximum(sign.half_m[:2], self._rules.stop_least_half_m)
        inside = np.abs(places_m[:, :2] - centre_m[:2]) < self._rules.stop_box_scale * half
        return bool(np.any(np.all(inside, axis=1)))
