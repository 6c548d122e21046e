"""Explanations of braking other than a person: lights, signs, vehicles and obstacles.

The end of the route, a bend and a speed limit are explanations, too: where the ego had to slow down
anyway, a person cannot be named as the cause.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.geometry.box import box_points
from jaywalk.metrics.safety._braking import BrakingEvent
from jaywalk.metrics.safety._signals import RED, YELLOW, StopLine, light_lines, sign_lines
from jaywalk.metrics.safety._way import EgoPath, ego_way, route_way
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.tracks import (
    COS,
    HX,
    HY,
    SIN,
    VX,
    VY,
    EpisodeTracks,
    X,
    Y,
    light_states,
    route_points,
)

_NINE_POINTS: Final = np.array([[u, v] for u in (-1.0, 0.0, 1.0) for v in (-1.0, 0.0, 1.0)])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationRules:
    """Limits within which an object explains braking.

    Attributes:
        gentle_mps2: An object within the stopping distance at this deceleration explains braking.
        spare_m: Margin added to that distance.
        follow_s: A vehicle ahead with a shorter time gap explains braking ...
        closing_s: ... and so does a vehicle that the ego would reach within this time.
        lateral_mps2: A bend with a higher lateral acceleration at the present speed explains it.
    """

    gentle_mps2: float = 2.0
    spare_m: float = 5.0
    follow_s: float = 2.0
    closing_s: float = 5.0
    lateral_mps2: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """An episode as braking is judged in it.

    ``ways`` are the driven one and, if known, the route: what the ego went around was in its way.
    """

    tracks: EpisodeTracks
    ways: tuple[EgoPath, ...]
    lights: tuple[StopLine, ...]
    signs: tuple[StopLine, ...]
    states: dict[int, IntArray]
    limit_mps: FloatArray
    red_ahead: np.ndarray
    goal_m: float

    @classmethod
    def of(cls, record: Record, tracks: EpisodeTracks) -> Self:
        """Read the needed parts of the record."""
        way, route = ego_way(record, tracks), route_way(record, tracks)
        limit_mps, red_ahead = _limits(tracks)
        return cls(
            tracks=tracks,
            ways=(way,) if route is None else (way, route),
            lights=tuple(light_lines(record)),
            signs=tuple(sign_lines(record)),
            states=light_states(record, tracks.tick),
            limit_mps=limit_mps,
            red_ahead=red_ahead,
            goal_m=_goal_m(record, way),
        )


def explain(
    situation: Situation, event: BrakingEvent, rules: ExplanationRules, half_m: float, look_s: float
) -> str:
    """Return the first explanation found, in words; empty if there is none."""
    stop_m = event.speed_mps**2 / (2.0 * rules.gentle_mps2) + rules.spare_m
    if _red_light(situation, event, stop_m):
        return "red light"
    if any(0.0 <= gap <= stop_m for gap in _line_gaps(situation, event, situation.signs, stop_m)):
        return "stop sign"
    for way in situation.ways:
        found = _in_the_way(situation.tracks, way, event, rules, half_m, look_s)
        if found:
            return found
    at = event.start
    way = situation.ways[0]
    front = float(way.front_m[at])
    if situation.goal_m - front <= stop_m:
        return "end of the route"
    if event.speed_mps**2 * way.bend_per_m(front, front + stop_m) > rules.lateral_mps2:
        return "bend"
    soon = situation.tracks.time_s <= situation.tracks.time_s[at] + look_s
    limits = situation.limit_mps[at:][soon[at:]]
    if np.nanmin(limits, initial=math.inf) < event.speed_mps - 0.5:
        return "speed limit"
    return ""


def _red_light(situation: Situation, event: BrakingEvent, stop_m: float) -> bool:
    if situation.red_ahead[event.start : event.end + 1].any():
        return True
    stopping = [
        line
        for line in situation.lights
        if line.actor in situation.states
        and situation.states[line.actor][event.start] in (RED, YELLOW)
    ]
    return any(-1.0 <= gap <= stop_m for gap in _line_gaps(situation, event, stopping, stop_m))


def _line_gaps(
    situation: Situation,
    event: BrakingEvent,
    lines: tuple[StopLine, ...] | list[StopLine],
    stop_m: float,
) -> list[float]:
    """Distances from the front to lines that cross the way along its direction."""
    pose = situation.tracks.ego_pose[event.start]
    near = [
        line for line in lines if math.hypot(line.x_m - pose[X], line.y_m - pose[Y]) < stop_m + 10.0
    ]
    if not near:
        return []
    middles = np.array([[line.x_m, line.y_m] for line in near])
    gaps = []
    for way in situation.ways:
        front = float(way.front_m[event.start])
        seen = way.see(middles, front, front + stop_m)
        for k, line in enumerate(near):
            ux, uy = _direction_at(way, float(seen.along_m[k]))
            along = ux * line.cos + uy * line.sin > 0.5
            if along and abs(seen.lateral_m[k]) <= line.half_width_m and not seen.beyond[k]:
                gaps.append(float(seen.along_m[k]) - front)
    return gaps


def _direction_at(way: EgoPath, along_m: float) -> tuple[float, float]:
    k = int(np.clip(np.searchsorted(way.arc_m, along_m), 1, len(way.arc_m) - 1))
    dx, dy = way.points_m[k] - way.points_m[k - 1]
    length = math.hypot(dx, dy)
    return dx / length, dy / length


def _in_the_way(
    tracks: EpisodeTracks,
    way: EgoPath,
    event: BrakingEvent,
    rules: ExplanationRules,
    half_m: float,
    look_s: float,
) -> str:
    """A vehicle or obstacle in the corridor, near or approached, now or within the look-ahead."""
    at = event.start
    front, speed = float(way.front_m[at]), event.speed_mps
    far_m = max(speed * rules.closing_s, speed * rules.follow_s) + rules.spare_m
    ticks = np.flatnonzero(
        (tracks.time_s >= tracks.time_s[at]) & (tracks.time_s <= tracks.time_s[at] + look_s)
    )[::4]
    for other in tracks.others:
        if tracks.kind[other] == "walker" or not tracks.present[other, at]:
            continue
        away = tracks.pose[other, at, :2] - tracks.ego_pose[at, :2]
        if np.hypot(*away) > far_m + look_s * tracks.speed_mps(other)[at] + 10.0:
            continue
        corners, when = outline(tracks, other, ticks)
        seen = way.see(corners, front, front + far_m)
        inside = (np.abs(seen.lateral_m) <= half_m) & ~seen.beyond
        inside &= seen.along_m > way.front_m[when]
        if not inside.any():
            continue
        ux, uy = _direction_at(way, float(seen.along_m[inside][0]))
        pose = tracks.pose[other, at]
        closing = speed - (pose[VX] * ux + pose[VY] * uy)
        gap_m = float((seen.along_m - front)[inside].min())
        if gap_m <= speed * rules.follow_s + rules.spare_m or (
            closing > 0.0 and gap_m / closing <= rules.closing_s
        ):
            return "obstacle" if tracks.kind[other] == "prop" else "vehicle"
    return ""


def outline(tracks: EpisodeTracks, other: int, ticks: IntArray) -> tuple[FloatArray, IntArray]:
    """Corners, middles of the sides and centre at some ticks, and the tick of each."""
    pose = tracks.pose[other, ticks]
    points = box_points(
        pose[:, [X, Y]], pose[:, COS], pose[:, SIN], tracks.shape[other, [HX, HY]], _NINE_POINTS
    )
    return points.reshape(-1, 2), np.repeat(ticks, len(_NINE_POINTS))


def _limits(tracks: EpisodeTracks) -> tuple[FloatArray, np.ndarray]:
    """Speed limit at each tick (nan: unknown), and whether the server says: at a red light."""
    limit, red = np.full(len(tracks.tick), np.nan), np.zeros(len(tracks.tick), np.bool_)
    columns = (c.SPEED_LIMIT_KMH, c.AT_LIGHT, c.LIGHT_STATE)
    kmh, at_light, state = tracks.values(tracks.ego, *columns).T
    seen = tracks.seen(tracks.ego)
    limit[seen] = np.where(kmh > 0.0, kmh / MPS_TO_KMH, np.nan)
    red[seen] = (at_light == 1.0) & np.isin(state, [RED, YELLOW])
    return limit, red


def _goal_m(record: Record, way: EgoPath) -> float:
    """Return the distance along the path to the end of the route (m); infinite without a route."""
    route = route_points(record)[:, :2]
    if not len(route):
        return math.inf
    away = np.hypot(*(way.points_m - route[-1]).T)
    # A route may pass its own end early on; the last pass within reach is the goal.
    near = np.flatnonzero(away <= max(float(away.min()) + 1.0, 5.0))
    return float(way.arc_m[near[-1]]) if away.min() < 15.0 else math.inf
