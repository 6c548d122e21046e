"""Running a stop: the ego leaves a stop sign's trigger box without having stood in it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.driving.criteria.event import Event, place_text
from jaywalk.metrics.driving.criteria.roadside import Landmark
from jaywalk.metrics.driving.criteria.rules import Rules
from jaywalk.metrics.driving.criteria.scene import Scene

FloatArray = NDArray[np.float64]

_STANDING_MPS: Final = 0.1
_BACKWARDS: Final = -0.17
_BOX_SCALE: Final = 1.2


def find_stops(scene: Scene, rules: Rules) -> list[Event]:
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


def _rows_near(scene: Scene, rules: Rules) -> NDArray[np.int64]:
    """Rows at which some sign may be near enough to the lane's centre beside the ego."""
    if not scene.stop_signs:
        return np.empty(0, np.int64)
    centres = np.array([sign.centre_m for sign in scene.stop_signs])
    gaps = np.linalg.norm(scene.track.place_m[:, None] - centres, axis=2).min(axis=1)
    # The lane's centre may be beside the ego by the width of a road.
    maybe = np.flatnonzero(gaps <= rules.stop_reach_m + 15.0)
    lanes = scene.lanes.under(scene.track.place_m[maybe])
    gaps = np.linalg.norm(lanes.centre_m[:, None] - centres, axis=2).min(axis=1)
    near: NDArray[np.int64] = maybe[gaps <= rules.stop_reach_m]
    return near


class _StopTest:
    """The state of a test between ticks."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene, self._rules = scene, rules
        self._forward = scene.track.forward
        self._target: Landmark | None = None
        self._stood = False
        self._last_failed = -1
        self.events: list[Event] = []

    def see(self, row: int, looked: bool) -> None:
        """Take a tick; ``looked``: some sign is near."""
        ahead = self._ahead(row) if looked else None
        if self._target is None:
            if ahead is not None and self._faces(row):
                signs = self._scene.stop_signs
                self._target = next((s for s in signs if self._affects(s, ahead)), None)
            return
        if self._scene.track.speed_mps[row] < _STANDING_MPS:
            self._stood = True
        if ahead is not None and self._affects(self._target, ahead):
            return
        if not self._stood and self._target.actor != self._last_failed:
            self._fail(row, self._target)
        self._target, self._stood = None, False

    def _fail(self, row: int, sign: Landmark) -> None:
        where = place_text(sign.place_m)
        message = f"Agent ran a stop with id={sign.server_id} at {where}"
        self.events.append(Event(key="stop_infraction", row=row, message=message, other=sign.actor))
        self._last_failed = sign.actor

    def _ahead(self, row: int) -> FloatArray:
        place = tuple(self._scene.track.place_m[row].tolist())
        return self._scene.lanes.ahead(place, self._rules.stop_step_m, self._rules.stop_steps)

    def _faces(self, row: int) -> bool:
        """Not when driving backwards, nor against the lane."""
        track = self._scene.track
        lane = self._scene.lanes.under(track.place_m[row : row + 1])
        onward = float(track.velocity_mps[row] @ self._forward[row])
        return onward >= _BACKWARDS and float(self._forward[row] @ lane.forward[0]) >= _BACKWARDS

    def _affects(self, sign: Landmark, ahead: FloatArray) -> bool:
        if float(np.linalg.norm(sign.centre_m - ahead[0])) > self._rules.stop_reach_m:
            return False
        half = _BOX_SCALE * np.maximum(sign.half_m[:2], self._rules.stop_least_half_m)
        return bool(np.any(np.all(np.abs(ahead[:, :2] - sign.centre_m[:2]) < half, axis=1)))
