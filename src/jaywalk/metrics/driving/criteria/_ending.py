"""Time and reason of a route's end under a protocol, from four tests.

- Route completion: share of the dense route that the ego has passed, and the tick of completion.
- In-route test: the ego may not be 30 m away from the route, nor 15 m away for 30 % of it.
- Route time-out: a time limit that grows with the distance driven or follows from the length of
  the route.
- Blocked: the ego stood for too long. Scenarios that block the road suspend this test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.units import MPS_TO_KMH
from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import CriteriaScene
from jaywalk.metrics.driving.criteria._track import CriteriaRoute, CriteriaTrack, advance
from jaywalk.record import Episode

_WINDOW: Final = 2
_DONE_PERCENT: Final = 99.0
_DONE_M: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Percent passed at each row (two decimals), and the row on which the route was done."""

    percent: NDArray[np.float64]
    done_row: int | None

    def at(self, row: int) -> float:
        """Completion of a route that ends on ``row``."""
        if self.done_row is not None and row >= self.done_row:
            return 100.0
        return float(self.percent[row])


def find_completion(route: CriteriaRoute, track: CriteriaTrack) -> Completion:
    """Follow the ego along the route."""
    index = advance(route, track.place_m, _WINDOW)
    along = route.arc_m
    percent = np.round(along[index] / along[-1] * 100.0, 2)
    to_end = np.linalg.norm(track.place_m - route.points_m[-1], axis=1)
    done = np.flatnonzero((percent > _DONE_PERCENT) & (to_end < _DONE_M))
    return Completion(percent=percent, done_row=int(done[0]) if len(done) else None)


_DEVIATION_WINDOW: Final = 5
_FAR_M: Final = 30.0
_UNSAFE_M: Final = 15.0
_UNSAFE_PERCENT: Final = 30.0


def find_deviation(route: CriteriaRoute, track: CriteriaTrack) -> Event | None:
    """The event that ends the route, if any."""
    row = _deviation_row(route, track)
    if row is None:
        return None
    message = f"Agent deviated from the route at {place_text(track.place_m[row])}"
    return Event(key="route_dev", row=row, message=message)


def _deviation_row(route: CriteriaRoute, track: CriteriaTrack) -> int | None:
    points, along = route.points_m[:, :2].tolist(), route.arc_m.tolist()
    index, unsafe_m, safe = 0, 0.0, True
    for row, (x, y) in enumerate(track.place_m[:, :2].tolist()):
        nearest, gap = index, math.inf
        for k in range(index, min(index + _DEVIATION_WINDOW + 1, len(points))):
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


_ROUTE_TIMEOUT_WINDOW: Final = 3
_START_S: Final = 300.0
_SHARE_OF_LIMIT: Final = 0.10
_FIXED_S_PER_M: Final = 0.8
_FIXED_S: Final = 5.0
_USUAL_LIMIT_KMH: Final = 30.0  # CARLA's value where a road has no limit


def find_route_timeout(route: CriteriaRoute, track: CriteriaTrack, rules: Rules) -> Event | None:
    """The event that ends the route, if any."""
    elapsed_s = track.game_s - track.game_s[0]
    if rules.timeout == "fixed":
        allowed_s = np.full(len(track), float(int(_FIXED_S_PER_M * route.length_m + _FIXED_S)))
    else:
        index = advance(route, track.place_m, _ROUTE_TIMEOUT_WINDOW)
        gained_m = np.diff(route.arc_m[index], prepend=0.0)
        limit_kmh = np.where(track.limit_kmh > 0.0, track.limit_kmh, _USUAL_LIMIT_KMH)
        if rules.limit_steps_kmh:
            steps = np.array(rules.limit_steps_kmh)
            limit_kmh = steps[np.minimum(np.searchsorted(steps, limit_kmh), len(steps) - 1)]
        allowed_s = _START_S + np.cumsum(gained_m / (_SHARE_OF_LIMIT * limit_kmh / MPS_TO_KMH))
    late = np.flatnonzero(elapsed_s > allowed_s)
    if not len(late):
        return None
    return Event(key="route_timeout", row=int(late[0]), message="Route timeout.")


AGENT_CRASHED = "Agent crashed"
AGENT_NOT_SET_UP = "Agent couldn't be set up"
SENSORS_INVALID = "Agent's sensors were invalid"
SIMULATION_CRASHED = "Simulation crashed"
TICK_LIMIT = "TickRuntime"
_MESSAGES = {
    "route_timeout": "Agent timed out",
    "route_dev": "Agent deviated from the route",
    "vehicle_blocked": "Agent got blocked",
}
_SERVER_GONE = ("server gone", "infrastructure", "server failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The last row that counts.

    Attributes:
        row: Last row of the track that counts.
        completion_percent: Of the route.
        events: Infractions that ended it.
        failure: Text after "Failed - " in the status; empty if unknown.
        is_early: Whether the record stops before the protocol would have.
    """

    row: int
    completion_percent: float
    events: tuple[Event, ...]
    failure: str
    is_early: bool

    @property
    def endings_of_tests(self) -> int:
        """Number of times that tests are ended: twice for a normal end, once for an early end."""
        broken_off = self.is_early or self.failure in (TICK_LIMIT,)
        return 1 if broken_off else 2


def find_ending(
    scene: CriteriaScene, route: CriteriaRoute, rules: Rules, episode: Episode
) -> Ending:
    """The first of completion, deviation, blocked, time-out, tick limit and the record's end."""
    track = scene.track
    completion = find_completion(route, track)
    candidates = [
        find_route_timeout(route, track, rules),
        find_deviation(route, track),
        find_blocked(scene, rules),
    ]
    events = [event for event in candidates if event is not None]
    rows = [event.row for event in events]
    if completion.done_row is not None:
        # Success is reported one tick later; on that tick the other criteria still count.
        rows.append(min(completion.done_row + 1, len(track) - 1))
    limit = rules.tick_limit
    if limit is not None and len(track) > limit and min(rows, default=limit) >= limit:
        return _ending(completion, limit - 1, [], TICK_LIMIT, is_early=False)
    if not rows:
        return _ending(completion, len(track) - 1, [], how_it_broke_off(episode), is_early=True)
    row = min(rows)
    ending = [event for event in events if event.row == row]
    # Later messages overwrite earlier ones, in the order of the criteria.
    failure = _MESSAGES[ending[-1].key] if ending else ""
    return _ending(completion, row, ending, failure, is_early=False)


def _ending(
    completion: Completion, row: int, events: list[Event], failure: str, *, is_early: bool
) -> Ending:
    return Ending(
        row=row,
        completion_percent=completion.at(row),
        events=tuple(events),
        failure=failure,
        is_early=is_early,
    )


def how_it_broke_off(episode: Episode) -> str:
    """Return the protocols' description of a record that ends without one of their reasons."""
    if episode.failure:
        if "sensors invalid" in episode.end_reason:
            return SENSORS_INVALID
        early = "setup" in episode.end_reason or "set up" in episode.end_reason
        return AGENT_NOT_SET_UP if early else AGENT_CRASHED
    if any(part in episode.end_reason for part in _SERVER_GONE):
        return SIMULATION_CRASHED
    return ""


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
    blocked = np.flatnonzero(active & standing & (stood_s > rules.blocked_s))
    if not len(blocked):
        return None
    row = int(blocked[0])
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
