"""Score of one record under a public protocol: Leaderboard 1.0 to 2.1, Bench2Drive, Fail2Drive."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving._smoothness import ego_motion, smoothness
from jaywalk.metrics.driving.criteria._collision import find_collisions
from jaywalk.metrics.driving.criteria._emergency import find_not_yielded, find_scenario_timeouts
from jaywalk.metrics.driving.criteria._ending import (
    AGENT_NOT_SET_UP,
    Ending,
    find_ending,
    how_it_broke_off,
)
from jaywalk.metrics.driving.criteria._min_speed import find_min_speed
from jaywalk.metrics.driving.criteria._outside_lanes import find_outside_lanes
from jaywalk.metrics.driving.criteria._red_light import find_red_lights
from jaywalk.metrics.driving.criteria._rules import Event, Rules, rules_of
from jaywalk.metrics.driving.criteria._scene import CriteriaScene, read_scene
from jaywalk.metrics.driving.criteria._stop_sign import find_stops
from jaywalk.metrics.driving.criteria._track import CriteriaRoute, CriteriaTrack
from jaywalk.metrics.driving.penalties import (
    NO_MIN_SPEED,
    PROTOCOLS,
    Protocol,
    driving_score,
    is_success,
    mean_speed_percent,
    penalty_of,
    protocol_named,
)
from jaywalk.metrics.driving.results import INFRACTIONS, RouteRecord
from jaywalk.metrics.driving.summary import EpisodeScore, Infraction
from jaywalk.metrics.spec import PROTOCOL_SPECS, ProtocolSpec
from jaywalk.record import Episode, Record

_DIGITS = 6
_BENCH2DRIVE = "bench2drive"
# Bench2Drive counts a junction as passed this many route points behind its first one.
_POINTS_PAST_JUNCTION = 8


def score_public(record: Record, protocol: str) -> EpisodeScore:
    """Score a record under a public protocol.

    Raises:
        DataError: The record has no route, no town or no ego, and no agent failure explains it.
    """
    prices, rules = protocol_named(protocol), rules_of(protocol)
    try:
        scene = read_scene(record, free_traffic=prices.min_speed > 0.0)
    except DataError:
        if record.episode.failure:
            return _without_a_drive(record, prices)
        raise
    if scene.route is None:
        raise DataError(f"{record.folder} has no route; '{protocol}' scores the way along one.")
    ending = find_ending(scene, scene.route, rules, record.episode)
    part = scene.until(ending.row)
    events = [*ending.events, *find_events(part, scene.route, rules, ending)]
    return _card(record, prices, rules, part, scene.route, ending, events)


def find_events(
    scene: CriteriaScene, route: CriteriaRoute, rules: Rules, ending: Ending
) -> list[Event]:
    """Events of all criteria that do not end a route, in the order of the criteria."""
    return [
        *find_outside_lanes(scene, rules),
        *find_collisions(scene, rules),
        *find_red_lights(scene, rules),
        *find_stops(scene, rules),
        *find_min_speed(route, scene.track, rules, ends=ending.endings_of_tests),
        *find_scenario_timeouts(scene, rules),
        *find_not_yielded(scene, rules),
    ]


def _card(
    record: Record,
    prices: Protocol,
    rules: Rules,
    scene: CriteriaScene,
    route: CriteriaRoute,
    ending: Ending,
    events: Sequence[Event],
) -> EpisodeScore:
    counts = Counter(event.key for event in events)
    percent = ending.completion_percent
    penalty = penalty_of(
        prices,
        counts,
        lanes_percent=_values(events, "outside_route_lanes"),
        speeds_percent=_values(events, "min_speed_infractions"),
    )
    composed = driving_score(percent, penalty)
    faster = penalty_of(prices, counts, lanes_percent=_values(events, "outside_route_lanes"))
    if rules.rounds:
        penalty, composed = round(penalty, _DIGITS), round(composed, _DIGITS)
    status = _status(percent, len(events), ending.failure, perfect=rules.rounds)
    messages = {key: [e.message for e in events if e.key == key] for key in INFRACTIONS}
    duration_s = float(scene.track.time_s[-1] - scene.track.time_s[0]) + scene.step_s
    metrics = {
        "driving_score": composed,
        **_without_min_speed(prices, driving_score(percent, faster)),
        "route_completion": percent,
        "infraction_penalty": penalty,
        "driven_km": route.length_m * percent / 1e5,
        "duration_s": duration_s,
        "route_length_m": route.length_m,
    }
    if prices.name == _BENCH2DRIVE:
        first, last = int(scene.track.tick[0]), int(scene.track.tick[-1])
        metrics["efficiency"] = mean_speed_percent(_values(events, "min_speed_infractions"))
        metrics["smoothness"] = smoothness(ego_motion(record, first, last))
    return _score(
        record,
        prices,
        status,
        metrics,
        {key: counts.get(key, 0) for key in INFRACTIONS},
        tuple(_infraction(prices, scene.track, event) for event in events),
        {
            "messages": messages,
            "end_tick": int(scene.track.tick[-1]),
            "first_tick": int(scene.track.tick[0]),
            "ends_early": ending.is_early,
            **_signs_obeyed(prices, scene, route, percent, messages),
        },
    )


def _without_min_speed(prices: Protocol, value: float) -> dict[str, float]:
    """The driving score without the minimum-speed factor, where the protocol has one."""
    return {NO_MIN_SPEED: round(value, _DIGITS)} if prices.min_speed > 0.0 else {}


def _signs_obeyed(
    prices: Protocol,
    scene: CriteriaScene,
    route: CriteriaRoute,
    percent: float,
    messages: Mapping[str, Sequence[str]],
) -> dict[str, bool]:
    """Return whether the ego passed the first junction and obeyed lights and signs (Bench2Drive).

    Such a drive counts for the ability Traffic_Signs even if it failed later.
    """
    if prices.name != _BENCH2DRIVE:
        return {}
    if messages["red_light"] or messages["stop_infraction"]:
        return {"signs_obeyed": False}
    inside = np.flatnonzero(scene.lanes.under(route.points_m).in_junction)
    if not len(inside):
        return {"signs_obeyed": False}
    needed = (int(inside[0]) + 1 + _POINTS_PAST_JUNCTION) / len(route.points_m)
    return {"signs_obeyed": percent / 100.0 > needed}


def _without_a_drive(record: Record, prices: Protocol) -> EpisodeScore:
    """The agent failed before its first tick."""
    metrics = {
        "driving_score": 0.0,
        **_without_min_speed(prices, 0.0),
        "route_completion": 0.0,
        "infraction_penalty": 1.0,
        "driven_km": 0.0,
        "duration_s": 0.0,
        "route_length_m": math.nan,
    }
    if prices.name == _BENCH2DRIVE:
        metrics |= {"efficiency": math.nan, "smoothness": math.nan}
    status = f"Failed - {how_it_broke_off(record.episode) or AGENT_NOT_SET_UP}"
    detail = {"messages": {key: [] for key in INFRACTIONS}, "ends_early": True}
    return _score(record, prices, status, metrics, dict.fromkeys(INFRACTIONS, 0), (), detail)


def _score(
    record: Record,
    prices: Protocol,
    status: str,
    metrics: Mapping[str, float],
    counts: Mapping[str, int],
    infractions: tuple[Infraction, ...],
    detail: dict[str, Any],
) -> EpisodeScore:
    episode = record.episode
    about = {
        "route_id": episode.route.route_id,
        "town": episode.town,
        "variant": episode.variant,
        "pair": episode.pair,
        "half": str(episode.parameters.get("half", "")),
        "shift": str(episode.parameters.get("shift", "")),
        "scenario_types": [str(scenario.get("type", "")) for scenario in episode.route.scenarios],
        "scenario_names": [str(scenario.get("name", "")) for scenario in episode.route.scenarios],
        "wall_s": episode.wall.seconds,
        "end_reason": episode.end_reason,
        "is_complete": episode.complete,
    }
    return EpisodeScore(
        episode_id=episode.episode_id,
        protocol=prices.name,
        suite=episode.suite,
        scenario=scenario_of(episode),
        seed=episode.seed,
        agent=episode.agent.name,
        status=status,
        success=_success(prices, status, metrics, detail["messages"]),
        metrics=metrics,
        counts=counts,
        infractions=infractions,
        failure=last_line(episode.failure),
        folder=record.folder.name,
        detail=about | detail,
    )


def scenario_of(episode: Episode) -> str:
    """Return the name that episodes with different seeds share: the scenario, else the route."""
    return episode.scenario or episode.route.route_id or episode.episode_id


def last_line(text: str) -> str:
    """Return the last line of a traceback, which names the error."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""


def _status(percent: float, infractions: int, failure: str, *, perfect: bool) -> str:
    if percent >= 100.0:
        return "Perfect" if perfect and not infractions else "Completed"
    return f"Failed - {failure}" if failure else "Failed"


def _success(
    prices: Protocol,
    status: str,
    metrics: Mapping[str, float],
    messages: Mapping[str, Sequence[str]],
) -> bool:
    """The protocol's success; the Leaderboard has none, so there it is a perfect route."""
    if prices.success_forgives is None:
        return status in ("Perfect", "Completed") and not any(messages.values())
    record = as_route_record(status, metrics, messages)
    return is_success(prices, record)


def as_route_record(
    status: str, metrics: Mapping[str, float], messages: Mapping[str, Sequence[str]]
) -> RouteRecord:
    """Return a score as the record that a result file would hold."""
    return RouteRecord(
        source="",
        method="",
        seed="",
        route_id="",
        number=None,
        repetition=0,
        status=status,
        infractions={key: tuple(texts) for key, texts in messages.items()},
        num_infractions=None,
        completion_percent=metrics["route_completion"],
        penalty=metrics["infraction_penalty"],
        driving_score=metrics["driving_score"],
        route_length_m=metrics["route_length_m"],
        duration_game_s=metrics["duration_s"],
        duration_system_s=math.nan,
    )


def _values(events: Sequence[Event], key: str) -> list[float]:
    return [event.value for event in events if event.key == key and event.value is not None]


def _infraction(prices: Protocol, track: CriteriaTrack, event: Event) -> Infraction:
    return Infraction(
        kind=event.key,
        tick=int(track.tick[event.row]),
        time_s=float(track.time_s[event.row]),
        x_m=float(track.place_m[event.row, 0]),
        y_m=float(track.place_m[event.row, 1]),
        message=event.message,
        other=event.other,
        value=event.value,
        factor=_factor(prices, event),
    )


def _factor(prices: Protocol, event: Event) -> float | None:
    """Return the factor of one event on the score; None if prices add up or the event is free."""
    if prices.formula != "product":
        return None
    if event.key == "outside_route_lanes":
        return penalty_of(prices, {}, lanes_percent=[event.value or 0.0])
    if event.key == "min_speed_infractions":
        return penalty_of(prices, {}, speeds_percent=[event.value or 0.0])
    return prices.costs.get(event.key)


for _protocol in PROTOCOLS.values():
    PROTOCOL_SPECS.register(
        ProtocolSpec(
            name=_protocol.name,
            version=_protocol.version,
            summary=_protocol.summary,
            target=partial(score_public, protocol=_protocol.name),
            scores=("recorded runs", "result files"),
        )
    )
