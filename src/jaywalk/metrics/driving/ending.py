"""When a route ends under a protocol, and why."""

from __future__ import annotations

from dataclasses import dataclass

from jaywalk.metrics.driving.criteria.blocked import find_blocked
from jaywalk.metrics.driving.criteria.completion import Completion, find_completion
from jaywalk.metrics.driving.criteria.deviation import find_deviation
from jaywalk.metrics.driving.criteria.event import Event
from jaywalk.metrics.driving.criteria.route_line import RouteLine
from jaywalk.metrics.driving.criteria.route_timeout import find_route_timeout
from jaywalk.metrics.driving.criteria.rules import Rules
from jaywalk.metrics.driving.criteria.scene import Scene
from jaywalk.record import Episode

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
        failure: What follows "Failed - " in the status; empty if nothing is known.
        is_early: Whether the record stops before the protocol would have.
    """

    row: int
    completion_percent: float
    events: tuple[Event, ...]
    failure: str
    is_early: bool

    @property
    def endings_of_tests(self) -> int:
        """How often tests are ended: twice by themselves, once when broken off."""
        broken_off = self.is_early or self.failure in (TICK_LIMIT,)
        return 1 if broken_off else 2


def find_ending(scene: Scene, route: RouteLine, rules: Rules, episode: Episode) -> Ending:
    """The first of completion, deviation, blocked, time-out, tick limit and the record's end."""
    track = scene.track
    completion = find_completion(route, track)
    found = [
        find_route_timeout(route, track, rules),
        find_deviation(route, track),
        find_blocked(scene, rules),
    ]
    events = [event for event in found if event is not None]
    rows = [event.row for event in events]
    if completion.done_row is not None:
        # Success is told on the tick after, on which the other criteria still count.
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
    """The protocols' words for a record that ends without one of their reasons."""
    if episode.failure:
        if "sensors invalid" in episode.end_reason:
            return SENSORS_INVALID
        early = "setup" in episode.end_reason or "set up" in episode.end_reason
        return AGENT_NOT_SET_UP if early else AGENT_CRASHED
    if any(part in episode.end_reason for part in _SERVER_GONE):
        return SIMULATION_CRASHED
    return ""
