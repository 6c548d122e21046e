"""Blocked: the ego stood for too long. Scenarios that block the road suspend this criterion."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import CriteriaScene

_STANDING_MPS: Final = 0.1


def find_blocked(scene: CriteriaScene, rules: Rules) -> Event | None:
    """The event that ends the route, if any."""
    track = scene.track
    active, switched = is_active(scene, rules, "blocked")
    standing = track.speed_mps < _STANDING_MPS
    valid = ~standing | switched
    valid[0] = True
    since = np.maximum.accumulate(np.where(valid, np.arange(len(track)), 0))
    stood_s = track.game_s - track.game_s[since]
    found = np.flatnonzero(active & standing & (stood_s > rules.blocked_s))
    if not len(found):
        return None
    row = int(found[0])
    message = f"Agent got blocked at {place_text(track.place_m[row])}"
    return Event(key="vehicle_blocked", row=row, message=message)


def is_active(
    scene: CriteriaScene, rules: Rules, criterion: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether a criterion is active at each row, and the rows where it was switched."""
    n = len(scene.track)
    active, switched = np.ones(n, np.bool_), np.zeros(n, np.bool_)
    for switch in scene.switches if rules.scenario_criteria else ():
        if switch.criterion == criterion:
            row = scene.track.row_of(switch.tick)
            active[row:] = switch.active
            switched[row : row + 1] = True
    return active, switched
