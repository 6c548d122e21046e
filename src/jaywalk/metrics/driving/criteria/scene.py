"""Everything the criteria read of one record, put together once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.criteria.roadside import Landmark, Light, landmarks_of, with_states
from jaywalk.metrics.driving.criteria.route_line import RouteLine
from jaywalk.metrics.driving.criteria.scripted import Span, Switch, spans_of, switches_of
from jaywalk.metrics.driving.criteria.slowed_traffic import slowed_by_scenarios
from jaywalk.metrics.driving.criteria.track import Track, forward_of, track_of, traffic_speed
from jaywalk.metrics.driving.criteria.watched import collision_tests, spans_seen
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.town.opendrive import read_opendrive
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import Town
from jaywalk.town.waypoints import LaneFinder

FloatArray = NDArray[np.float64]

_SPAWN_LIFT_M: Final = 0.5  # the evaluators lift the first point of a route to spawn the ego there


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A contact of the ego, in ticks. ``server_id`` is 0 for scenery, as in CARLA."""

    first_tick: int
    last_tick: int
    other: int | None
    server_id: int
    type_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One episode as criteria see it, from the tick on which scoring begins.

    Attributes:
        counters: Ticks (first, last) in which further collision tests ran beside the main one.
        is_watched: Whether another program drove, whose criteria the record shows by its sensors.
    """

    track: Track
    route: RouteLine | None
    lanes: LaneFinder
    half_length_m: float
    touches: tuple[Touch, ...]
    lights: tuple[Light, ...]
    stop_signs: tuple[Landmark, ...]
    spans: tuple[Span, ...]
    switches: tuple[Switch, ...]
    counters: tuple[tuple[int, int], ...]
    emergency: tuple[int, ...]
    states: pl.LazyFrame
    step_s: float
    is_watched: bool = False

    def until(self, row: int) -> Scene:
        """The scene up to and with a row of its track."""
        stop = row + 1
        lights = tuple(replace(light, state=light.state[:stop]) for light in self.lights)
        return replace(self, track=self.track.rows(0, stop), lights=lights)


def read_scene(record: Record, *, free_traffic: bool = False) -> Scene:
    """Read what criteria need.

    Args:
        record: The episode.
        free_traffic: Leave traffic that a scenario holds up out of the traffic's speed. It never is
            where another program drove: its own criteria counted that traffic.

    Raises:
        DataError: The record has no ego, no ticks with it, or no town.
    """
    ego = record.episode.ego_actor
    if ego is None:
        raise DataError(f"{record.folder} has no ego, so there is nobody to score.")
    actors, events = record.actors.collect(), record.events.collect()
    # A suite is named by our own runner, which scores from its first tick on.
    tests = [] if record.episode.suite else collision_tests(actors, ego)
    slowed = slowed_by_scenarios(record) if free_traffic and record.episode.suite else None
    traffic = traffic_speed(record.states, actors, slowed)
    track = track_of(record.ego_states().collect(), traffic)
    track = _scored_part(track, tests)
    if not len(track):
        raise DataError(f"{record.folder} has no tick with its ego.")
    town = town_of(record.shared_file("opendrive"), record.episode.town)
    route = _route_line(record, town)
    scenarios = record.episode.route.scenarios
    spans = spans_of(events, scenarios)
    if tests and not spans and route is not None:
        spans = spans_seen(scenarios, actors, track, route)
    server_ids = dict(zip(actors[c.ACTOR], actors[c.SERVER_ID], strict=True))
    landmarks = record.landmarks.collect()
    lights = landmarks_of(landmarks, server_ids, "traffic_light")
    again = [(one.first_tick, _last(one)) for one in spans if one.counts_collisions_again]
    return Scene(
        track=track,
        route=route,
        lanes=LaneFinder(town.carla_map),
        half_length_m=_half_length(actors, ego),
        touches=_touches(events, ego, server_ids),
        lights=tuple(with_states(lights, record.signals.collect(), track.tick)),
        stop_signs=tuple(landmarks_of(landmarks, server_ids, "traffic.stop")),
        spans=tuple(spans),
        switches=tuple(switches_of(events, spans)),
        counters=tuple(tests[1:] if tests else again),
        emergency=_emergency(actors),
        states=record.states,
        step_s=record.episode.step_s or _usual_step(track),
        is_watched=bool(tests),
    )


def _last(span: Span) -> int:
    return 2**31 - 1 if span.last_tick is None else span.last_tick


def _scored_part(track: Track, tests: list[tuple[int, int]]) -> Track:
    if not tests:
        return track
    first, last = tests[0]
    return track.rows(track.row_of(first), track.row_of(last + 1))


def _usual_step(track: Track) -> float:
    return float(np.median(np.diff(track.time_s))) if len(track) > 1 else 0.05


def _half_length(actors: pl.DataFrame, ego: int) -> float:
    half = actors.filter(pl.col(c.ACTOR) == ego)[c.HALF_X_M].to_list()[0]
    return math.nan if half is None else float(half)


def _touches(events: pl.DataFrame, ego: int, server_ids: dict[int, int]) -> tuple[Touch, ...]:
    hits = events.filter((pl.col(c.KIND) == "contact") & (pl.col(c.ACTOR) == ego))
    return tuple(
        Touch(
            first_tick=row[c.TICK],
            last_tick=row[c.END_TICK],
            other=row[c.OTHER],
            server_id=0 if row[c.OTHER] is None else server_ids.get(row[c.OTHER], 0),
            type_id=row[c.OTHER_TYPE_ID] or "",
        )
        for row in hits.iter_rows(named=True)
    )


def _emergency(actors: pl.DataFrame) -> tuple[int, ...]:
    marked = pl.col(c.ATTRIBUTES).str.contains(r'"special_type":\s*"emergency"')
    found = actors.filter((pl.col(c.KIND) == "vehicle") & marked)
    return tuple(found[c.ACTOR].to_list())


def _route_line(record: Record, town: Town) -> RouteLine | None:
    rows = record.route.collect()
    if rows.height < 2:
        return None
    place = rows.select(c.X_M, c.Y_M, c.Z_M).to_numpy().astype(np.float64)
    headings = rows.select(c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
    if record.episode.route.dense and not headings[c.YAW_DEG].has_nulls():
        return RouteLine(place_m=place, forward=forward_of(headings.fill_null(0.0).to_numpy()))
    dense = _planner(town).plan([(x, y, z) for x, y, z in place.tolist()])
    lifted = dense.position_m.copy()
    lifted[0, 2] += _SPAWN_LIFT_M
    return RouteLine(place_m=lifted, forward=forward_of(dense.rotation_deg))


@lru_cache(maxsize=4)
def town_of(path: Path, name: str) -> Town:
    """The town of a record; files are named by content, so a path stands for one content."""
    return Town(name=name or "town", opendrive=read_opendrive(path))


@lru_cache(maxsize=4)
def _planner(town: Any) -> RoutePlanner:
    return RoutePlanner(town.carla_map)
