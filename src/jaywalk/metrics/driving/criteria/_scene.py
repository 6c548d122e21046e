"""Inputs of the criteria from one record, collected once.

The inputs include traffic lights and stop signs, with the states of the lights over the ego's
track.

A record from a passive recorder has no triggers and no criteria of the watched evaluator. Its
sensors and actors show them: the evaluator's collision test attaches a sensor to the ego at its
start and removes it when the route ends. A scenario starts at a place in the route file and
removes its actors at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.carla_enums import LightState
from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.metrics.driving.criteria._min_speed import slowed_by_scenarios
from jaywalk.metrics.driving.criteria._scripted import Span, Switch, spans_of, switches_of
from jaywalk.metrics.driving.criteria._track import (
    CriteriaRoute,
    CriteriaTrack,
    criteria_route,
    forward_of,
    read_ego,
    track_of,
    traffic_speed,
)
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import Contact, actor_rows, contacts, event_rows, landmark_rows
from jaywalk.record.tracks import HX, light_states, route_points
from jaywalk.town.opendrive import read_opendrive
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import Town
from jaywalk.town.waypoints import LaneFinder

RED: Final = int(LightState.RED)
_UNKNOWN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """A light or sign. Frame: CARLA's world."""

    actor: int
    server_id: int
    place_m: FloatArray  # (3,)
    yaw_deg: float
    centre_m: FloatArray  # (3,) of the trigger box
    half_m: FloatArray  # (3,) of the trigger box


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaLight(Landmark):
    """A traffic light and its state at each row of the track."""

    state: NDArray[np.uint8]


def landmarks_of(rows: pl.DataFrame, server_ids: dict[int, int], type_part: str) -> list[Landmark]:
    """Lights or signs whose type contains ``type_part`` and that have a trigger box."""
    landmarks = rows.filter(
        pl.col(c.TYPE_ID).str.contains(type_part, literal=True)
        & pl.col(c.TRIGGER_X_M).is_not_null()
        & pl.col(c.TRIGGER_HALF_X_M).is_not_null()
    )
    return [_landmark(row, server_ids) for row in landmarks.iter_rows(named=True)]


def _landmark(row: dict[str, Any], server_ids: dict[int, int]) -> Landmark:
    place = np.array([row[c.X_M], row[c.Y_M], row[c.Z_M]], np.float64)
    turn = rotation_matrix_carla(row[c.PITCH_DEG], row[c.YAW_DEG], row[c.ROLL_DEG])
    local = np.array([row[c.TRIGGER_X_M], row[c.TRIGGER_Y_M], row[c.TRIGGER_Z_M]], np.float64)
    half = [row[c.TRIGGER_HALF_X_M], row[c.TRIGGER_HALF_Y_M], row[c.TRIGGER_HALF_Z_M]]
    return Landmark(
        actor=row[c.ACTOR],
        server_id=server_ids.get(row[c.ACTOR], 0),
        place_m=place,
        yaw_deg=row[c.YAW_DEG],
        centre_m=place + turn @ local,
        half_m=np.array([0.0 if part is None else part for part in half], np.float64),
    )


def with_states(
    lights: list[Landmark], states: dict[int, IntArray], count: int
) -> list[CriteriaLight]:
    """Lights with their states at ``count`` ticks; unknown before they were first seen."""
    out = []
    unseen = np.full(count, -1)
    for light in lights:
        seen = states.get(light.actor, unseen)
        state = np.where(seen >= 0, seen, _UNKNOWN).astype(np.uint8)
        out.append(
            CriteriaLight(
                actor=light.actor,
                server_id=light.server_id,
                place_m=light.place_m,
                yaw_deg=light.yaw_deg,
                centre_m=light.centre_m,
                half_m=light.half_m,
                state=state,
            )
        )
    return out


_COLLISION_SENSOR: Final = "sensor.other.collision"
_OWN_SENSOR: Final = "jaywalk-recorder"  # the recorder's own, if it has one
_SCENARIO_ROLE: Final = "scenario"
_WINDOW: Final = 5
_TRIGGER_M: Final = 2.0
_TIMEOUT_S: Final = 240.0


def collision_tests(actors: pl.DataFrame, ego: int) -> list[tuple[int, int]]:
    """First and last tick of each collision test, in order of their start.

    A test hangs its sensor up on its first tick, so it is seen from the next one on.
    """
    tests = actors.filter(
        (pl.col(c.TYPE_ID) == _COLLISION_SENSOR)
        & (pl.col(c.PARENT) == ego)
        & (pl.col(c.ROLE_NAME) != _OWN_SENSOR)
        & (pl.col(c.FIRST_TICK) > 0)
    ).sort(c.FIRST_TICK, c.ACTOR)
    return [(first - 1, last) for first, last in tests.select(c.FIRST_TICK, c.LAST_TICK).rows()]


def spans_seen(
    scenarios: list[dict[str, Any]],
    actors: pl.DataFrame,
    track: CriteriaTrack,
    route: CriteriaRoute,
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


def _start_row(scenario: dict[str, Any], track: CriteriaTrack, route: CriteriaRoute) -> int | None:
    """Row on which the route point nearest to the ego lies at the scenario's trigger."""
    points = [p for p in scenario.get("parameters", []) if p.get("tag") == "trigger_point"]
    if not points:
        return None
    trigger = np.array([float(points[0].get(axis, 0.0)) for axis in "xyz"])
    at_trigger = np.linalg.norm(route.points_m - trigger, axis=1) < _TRIGGER_M
    index = 0
    for row, place in enumerate(track.place_m):
        ahead = route.points_m[index : index + _WINDOW + 1]
        index += int(np.argmin(np.linalg.norm(ahead - place, axis=1)))
        if at_trigger[index]:
            return row
    return None


def _last_tick(actors: pl.DataFrame, track: CriteriaTrack) -> int | None:
    """Last tick of the scenario's actors; None if they outlived the route."""
    theirs = actors.filter(pl.col(c.ROLE_NAME).str.starts_with(_SCENARIO_ROLE))
    last = theirs[c.LAST_TICK].max()
    if not isinstance(last, int) or last >= track.tick[-1]:
        return None
    return last


_SPAWN_LIFT_M: Final = 0.5  # the evaluators lift the first point of a route to spawn the ego there


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaScene:
    """Inputs of the criteria for one episode, from the tick on which scoring begins.

    Attributes:
        counters: Ticks (first, last) of other collision tests that ran in parallel to the main one.
        is_watched: Whether another program drove; its sensors in the record show its criteria.
    """

    track: CriteriaTrack
    route: CriteriaRoute | None
    lanes: LaneFinder
    half_length_m: float
    contacts: tuple[Contact, ...]  # of the ego
    server_ids: dict[int, int]  # of actors, by their number
    lights: tuple[CriteriaLight, ...]
    stop_signs: tuple[Landmark, ...]
    spans: tuple[Span, ...]
    switches: tuple[Switch, ...]
    counters: tuple[tuple[int, int], ...]
    emergency: tuple[int, ...]
    record: Record
    step_s: float
    is_watched: bool = False

    def server_id(self, contact: Contact) -> int:
        """Return the other actor's id on the server; 0 for scenery, as in CARLA."""
        return 0 if contact.other is None else self.server_ids.get(contact.other, 0)

    def until(self, row: int) -> CriteriaScene:
        """The scene up to and with a row of its track."""
        stop = row + 1
        lights = tuple(replace(light, state=light.state[:stop]) for light in self.lights)
        return replace(self, track=self.track.rows(0, stop), lights=lights)


def read_scene(record: Record, *, free_traffic: bool = False) -> CriteriaScene:
    """Read the inputs of the criteria.

    Args:
        record: The episode.
        free_traffic: Leave traffic that a scenario holds up out of the traffic's speed. It never is
            where another program drove: its own criteria counted that traffic.

    Raises:
        DataError: The record has no ego, no ticks with it, or no town.
    """
    ego = record.episode.ego_actor
    if ego is None:
        raise DataError(f"{record.folder} has no ego, so there is nothing to score.")
    actors = actor_rows(record)
    # A suite is named by our own runner, which scores from its first tick on.
    tests = [] if record.episode.suite else collision_tests(actors, ego)
    slowed = slowed_by_scenarios(record) if free_traffic and record.episode.suite else None
    traffic = traffic_speed(record, slowed)
    ego_tracks = read_ego(record)
    track = _scored_part(track_of(ego_tracks, traffic), tests)
    if not len(track):
        raise DataError(f"{record.folder} has no tick with its ego.")
    town = town_of(record.shared_file("opendrive"), record.episode.town)
    route = _route_line(record, town)
    scenarios = record.episode.route.scenarios
    events = event_rows(record)
    spans = spans_of(events, scenarios)
    if tests and not spans and route is not None:
        spans = spans_seen(scenarios, actors, track, route)
    server_ids = dict(zip(actors[c.ACTOR], actors[c.SERVER_ID], strict=True))
    landmarks = landmark_rows(record)
    lights = landmarks_of(landmarks, server_ids, "traffic_light")
    again = [(span.first_tick, _last(span)) for span in spans if span.counts_collisions_again]
    return CriteriaScene(
        track=track,
        route=route,
        lanes=LaneFinder(town.carla_map),
        half_length_m=float(ego_tracks.shape[ego_tracks.ego, HX]),
        contacts=tuple(contact for contact in contacts(record, ego) if contact.actor == ego),
        server_ids=server_ids,
        lights=tuple(with_states(lights, light_states(record, track.tick), len(track))),
        stop_signs=tuple(landmarks_of(landmarks, server_ids, "traffic.stop")),
        spans=tuple(spans),
        switches=tuple(switches_of(events, spans)),
        counters=tuple(tests[1:] if tests else again),
        emergency=_emergency(actors),
        record=record,
        step_s=record.episode.step_s or _usual_step(track),
        is_watched=bool(tests),
    )


def _last(span: Span) -> int:
    return 2**31 - 1 if span.last_tick is None else span.last_tick


def _scored_part(track: CriteriaTrack, tests: list[tuple[int, int]]) -> CriteriaTrack:
    if not tests:
        return track
    first, last = tests[0]
    return track.rows(track.row_of(first), track.row_of(last + 1))


def _usual_step(track: CriteriaTrack) -> float:
    return float(np.median(np.diff(track.time_s))) if len(track) > 1 else 0.05


def _emergency(actors: pl.DataFrame) -> tuple[int, ...]:
    marked = pl.col(c.ATTRIBUTES).str.contains(r'"special_type":\s*"emergency"')
    emergency = actors.filter((pl.col(c.KIND) == "vehicle") & marked)
    return tuple(emergency[c.ACTOR].to_list())


def _route_line(record: Record, town: Town) -> CriteriaRoute | None:
    rows = record.route.sort(c.INDEX).collect()
    if rows.height < 2:
        return None
    place = route_points(record)
    headings = rows.select(c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
    if record.episode.route.dense and not headings[c.YAW_DEG].has_nulls():
        return criteria_route(place, forward_of(headings.fill_null(0.0).to_numpy()))
    dense = _planner(town).plan([(x, y, z) for x, y, z in place.tolist()])
    lifted = dense.position_m.copy()
    lifted[0, 2] += _SPAWN_LIFT_M
    return criteria_route(lifted, forward_of(dense.rotation_deg))


@lru_cache(maxsize=4)
def town_of(path: Path, name: str) -> Town:
    """Return the town of a record; files are named by content, so a path has one content."""
    return Town(name=name or "town", opendrive=read_opendrive(path))


@lru_cache(maxsize=4)
def _planner(town: Any) -> RoutePlanner:
    return RoutePlanner(town.carla_map)
