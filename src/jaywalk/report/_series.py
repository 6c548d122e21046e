"""Time series of the ego: speed, controls, gap ahead, time to collision, nearest person.

The gap is measured along the path that the ego drove next (straight ahead beyond its end), from the
ego's front to the nearest body that reaches into a corridor of the ego's width plus a margin. Time
to collision assumes that both bodies keep their velocity. It is exact for boxes that do not turn;
people count as squares. One figure shows speed, pedals, gap and time to collision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.box import box_points
from jaywalk.report._scene import DrawnBody, Scene
from jaywalk.report.svg import (
    BETTER,
    HAIR,
    SOFT,
    WORSE,
    drawing,
    el,
    path_of,
    text,
    text_width,
    ticks_of,
)

GAP_MARGIN_M: Final = 0.3  # on either side of the ego
GAP_REACH_M: Final = 60.0
TTC_HORIZON_S: Final = 8.0
_PATH_STEP_M: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Values on the rows ``rows`` of a scene; NaN where there is none."""

    rows: FloatArray
    time_s: FloatArray
    speed_mps: FloatArray
    speed_limit_mps: FloatArray
    brake: FloatArray
    throttle: FloatArray
    gap_m: FloatArray
    ttc_s: FloatArray
    person_m: FloatArray


def ego_series(scene: Scene, rows: IntArray | None = None) -> Series | None:
    """Series of the ego at rows of the scene, by default at all; None without an ego."""
    ego = scene.ego
    if ego is None:
        return None
    life = np.arange(ego.first, ego.first + len(ego.pose))
    rows = life if rows is None else rows[(rows >= life[0]) & (rows <= life[-1])]
    if not len(rows):
        return None
    own = ego.pose[rows - ego.first]
    speed = ego.speed_mps[rows - ego.first]
    gap, ttc, person = (np.full(len(rows), np.inf) for _ in range(3))
    path = _driven_path(ego)
    front = shapely.line_locate_point(path, shapely.points(own[:, :2])) + ego.half_m[0]
    for body in scene.bodies[1:]:
        there = np.flatnonzero((rows >= body.first) & (rows < body.first + len(body.pose)))
        away = body.pose[rows[there] - body.first, :2] - own[there, :2]
        there = there[np.hypot(away[:, 0], away[:, 1]) < GAP_REACH_M + ego.half_m[0]]
        if not len(there):
            continue
        k = rows[there] - body.first
        pose, velocity = body.pose[k], _velocity(body, scene.time_s)[k]
        mine = own[there]
        distance = _clear_distance(mine, ego.half_m, pose, body)
        if body.is_walker:
            person[there] = np.minimum(person[there], distance)
        ahead = _gap_ahead(path, front[there], pose, body, ego.half_m[1])
        gap[there] = np.minimum(gap[there], ahead)
        own_velocity = _velocity(ego, scene.time_s)[rows[there] - ego.first]
        meet = _time_to_meet(mine, ego.half_m, pose, body.half_m, velocity - own_velocity)
        ttc[there] = np.minimum(ttc[there], meet)
    return Series(
        rows=rows.astype(float),
        time_s=scene.time_s[rows],
        speed_mps=speed,
        speed_limit_mps=_positive(scene.controls["speed_limit_mps"][rows]),
        brake=scene.controls["brake"][rows],
        throttle=scene.controls["throttle"][rows],
        gap_m=np.where(gap <= GAP_REACH_M, gap, np.nan),
        ttc_s=np.where(ttc <= TTC_HORIZON_S, ttc, np.nan),
        person_m=np.where(person <= GAP_REACH_M, person, np.nan),
    )


def corners(pose: FloatArray, half_m: tuple[float, float]) -> FloatArray:
    """Corners of boxes, (n, 4, 2)."""
    return box_points(pose[:, :2], np.cos(pose[:, 2]), np.sin(pose[:, 2]), half_m)


def _velocity(body: DrawnBody, time_s: FloatArray) -> FloatArray:
    """Compute velocity by differences of poses, which also suits bodies moved without physics."""
    n = len(body.pose)
    if n < 2 or body.kind == "prop":
        return np.zeros((n, 2))
    times = time_s[body.first : body.first + n]
    steps = np.diff(body.pose[:, :2], axis=0) / np.maximum(np.diff(times), 1e-6)[:, None]
    return np.asarray(np.concatenate([steps[:1], steps]))


def _driven_path(ego: DrawnBody) -> BaseGeometry:
    """Return the ego's path over the whole episode, extended straight at its end."""
    points = [ego.pose[0, :2]]
    for place in ego.pose[1:, :2]:
        if np.hypot(*(place - points[-1])) >= _PATH_STEP_M:
            points.append(place)
    yaw = ego.pose[-1, 2]
    points.append(ego.pose[-1, :2] + GAP_REACH_M * np.array([np.cos(yaw), np.sin(yaw)]))
    return shapely.linestrings(np.array(points))


def _into_frame(pose: FloatArray, points: FloatArray) -> FloatArray:
    """Points (n, k, 2) as seen from poses (n, 3): ahead and to the right."""
    delta = points - pose[:, None, :2]
    cos, sin = np.cos(pose[:, 2])[:, None], np.sin(pose[:, 2])[:, None]
    ahead = cos * delta[..., 0] + sin * delta[..., 1]
    right = -sin * delta[..., 0] + cos * delta[..., 1]
    return np.asarray(np.stack([ahead, right], axis=-1))


def _box_distance(seen: FloatArray, half_m: tuple[float, float]) -> FloatArray:
    """Distance of points, seen from boxes, from those boxes."""
    out = np.maximum(np.abs(seen) - half_m, 0.0)
    return np.asarray(np.hypot(out[..., 0], out[..., 1]))


def _clear_distance(
    mine: FloatArray, half_m: tuple[float, float], pose: FloatArray, body: DrawnBody
) -> FloatArray:
    if body.is_round:
        centre = _box_distance(_into_frame(mine, pose[:, None, :2]), half_m)[:, 0]
        return np.maximum(centre - body.half_m[0], 0.0)
    # Two convex outlines apart from each other are nearest at a corner of one of them.
    a = _box_distance(_into_frame(mine, corners(pose, body.half_m)), half_m).min(axis=1)
    b = _box_distance(_into_frame(pose, corners(mine, half_m)), body.half_m).min(axis=1)
    return np.asarray(np.minimum(a, b))


def _gap_ahead(
    path: BaseGeometry, front_m: FloatArray, pose: FloatArray, other: DrawnBody, half_width_m: float
) -> FloatArray:
    """Distance along the path from the front to the body; infinite outside of the corridor."""
    gap_m = np.full(len(pose), np.inf)
    reach = half_width_m + GAP_MARGIN_M
    # Most bodies are nowhere near the path: their outlines need no looking at.
    middle = shapely.points(pose[:, :2])
    may = shapely.dwithin(path, middle, reach + float(np.hypot(*other.half_m)))
    if not may.any():
        return gap_m
    points = shapely.points(_outline(pose[may], other.half_m))
    along = shapely.line_locate_point(path, points)
    front = front_m[may][:, None]
    inside = (shapely.distance(path, points) <= reach) & (along > front - 0.5)
    gap_m[may] = np.where(inside, np.maximum(along - front, 0.0), np.inf).min(axis=1)
    return gap_m


def _outline(pose: FloatArray, half_m: tuple[float, float]) -> FloatArray:
    """Corners, middles of the sides and the middle of each body, (n, 9, 2)."""
    four = corners(pose, half_m)
    sides = 0.5 * (four + np.roll(four, 1, axis=1))
    return np.concatenate([four, sides, pose[:, None, :2]], axis=1)


def _time_to_meet(
    mine: FloatArray,
    half_m: tuple[float, float],
    pose: FloatArray,
    other_m: tuple[float, float],
    velocity: FloatArray,
) -> FloatArray:
    """Return the times (s) until translating boxes overlap, from intervals on separating axes."""
    enter, leave = np.zeros(len(mine)), np.full(len(mine), np.inf)
    turn = pose[:, 2] - mine[:, 2]
    cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    delta = pose[:, :2] - mine[:, :2]
    for frame, (a, b) in ((mine, (half_m, other_m)), (pose, (other_m, half_m))):
        for axis in range(2):
            angle = frame[:, 2] + axis * np.pi / 2.0
            normal = np.column_stack([np.cos(angle), np.sin(angle)])
            across = (b[0] * cos + b[1] * sin, b[0] * sin + b[1] * cos)[axis]
            reach = a[axis] + across
            gap, rate = (delta * normal).sum(axis=1), (velocity * normal).sum(axis=1)
            moves = np.abs(rate) > 1e-9
            pace = np.where(moves, rate, 1.0)
            ends = np.sort([(-reach - gap) / pace, (reach - gap) / pace], axis=0)
            apart = ~moves & (np.abs(gap) > reach)
            enter = np.where(apart, np.inf, np.where(moves, np.maximum(enter, ends[0]), enter))
            leave = np.where(moves, np.minimum(leave, ends[1]), leave)
    return np.where(enter <= leave, enter, np.inf)


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0.0, values, np.nan)


WIDTH: Final = 380.0
LEFT: Final = 34.0
RIGHT: Final = 8.0
_PANEL: Final = 52.0
_STEP: Final = 76.0
_TOP: Final = 20.0
_BLUE, _RED, _GREEN, _PINK = "#1d6fb8", WORSE, BETTER, "#d6407f"
_GAP_SHOWN_M: Final = 40.0
_Line = tuple[FloatArray, str, str, str | None]  # values, colour, name, dashes


def series_figure(series: Series, marks_s: Sequence[float]) -> str:
    """Four panels over game time; vertical lines where infractions were counted."""
    span = float(series.time_s[0]), float(max(series.time_s[-1], series.time_s[0] + 1.0))
    limit = series.speed_limit_mps
    seen = series.speed_mps if np.isnan(limit).all() else np.fmax(series.speed_mps, limit)
    top_speed = max(float(np.nanmax(seen)) * 1.08, 5.0)
    panels: tuple[tuple[str, str, float, list[_Line]], ...] = (
        (
            "speed",
            "m/s",
            top_speed,
            [(limit, SOFT, "limit", "3 3"), (series.speed_mps, _BLUE, "speed", None)],
        ),
        (
            "pedals",
            "",
            1.0,
            [(series.throttle, _GREEN, "throttle", None), (series.brake, _RED, "brake", None)],
        ),
        (
            "gap",
            "m",
            _GAP_SHOWN_M,
            [
                (series.person_m, _PINK, "nearest person", "3 2"),
                (series.gap_m, _BLUE, "gap ahead", None),
            ],
        ),
        ("time to collision", "s", 5.0, [(series.ttc_s, _RED, "TTC", None)]),
    )
    bottom = _TOP + _STEP * (len(panels) - 1) + _PANEL
    parts = [_time_axis(span, bottom)]
    for number, (name, unit, high, lines) in enumerate(panels):
        top = _TOP + _STEP * number
        parts.append(_panel(name, unit, high, top))
        parts.append(_keys(lines, top))
        for values, colour, _, dash in lines:
            parts.append(_line(series.time_s, values, span, high, top, colour, dash))
    for mark in marks_s:
        x = _across(mark, span)
        parts.append(
            el(
                "line",
                x1=x,
                x2=x,
                y1=_TOP,
                y2=bottom,
                stroke=_RED,
                stroke_width=1.2,
                stroke_dasharray="4 3",
                class_="event",
            )
        )
    parts.append(
        el(
            "line",
            x1=LEFT,
            x2=LEFT,
            y1=_TOP - 4,
            y2=bottom,
            stroke="#1d2430",
            stroke_width=1.2,
            class_="playhead",
            visibility="hidden",
        )
    )
    return drawing(WIDTH, bottom + 32.0, parts, title="Speed, pedals, gap and time to collision")


def _across(time_s: float, span: tuple[float, float]) -> float:
    share = (time_s - span[0]) / (span[1] - span[0])
    return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def _time_axis(span: tuple[float, float], bottom: float) -> str:
    parts = []
    for value in ticks_of(*span, most=6):
        x = _across(value, span)
        parts.append(
            el("line", x1=x, x2=x, y1=_TOP, y2=bottom, stroke=HAIR, stroke_width=0.6, class_="hair")
        )
        parts.append(
            text(
                x,
                bottom + 14.0,
                f"{value:g}",
                size=10.0,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    middle = (LEFT + WIDTH - RIGHT) / 2.0
    parts.append(
        text(
            middle,
            bottom + 27.0,
            "time (s)",
            size=10.0,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    return "".join(parts)


def _panel(name: str, unit: str, high: float, top: float) -> str:
    parts = [
        text(LEFT, top - 6.0, f"{name} ({unit})" if unit else name, size=11.0, font_weight=600)
    ]
    for value in ticks_of(0.0, high, most=2):
        y = top + _PANEL * (1.0 - value / high)
        parts.append(
            el(
                "line",
                x1=LEFT,
                x2=WIDTH - RIGHT,
                y1=y,
                y2=y,
                stroke=HAIR,
                stroke_width=0.6,
                class_="hair",
            )
        )
        parts.append(
            text(
                LEFT - 5.0,
                y + 3.5,
                f"{value:g}",
                size=10.0,
                text_anchor="end",
                fill=SOFT,
                class_="s",
            )
        )
    return "".join(parts)


def _keys(lines: Sequence[_Line], top: float) -> str:
    if len(lines) < 2:
        return ""
    parts, at = [], WIDTH - RIGHT
    for _, colour, name, dash in reversed(lines):
        parts.append(text(at, top - 6.0, name, size=10.0, text_anchor="end", fill=SOFT, class_="s"))
        at -= text_width(name, 10.0) + 4.0
        parts.append(
            el(
                "line",
                x1=at - 14.0,
                x2=at,
                y1=top - 9.5,
                y2=top - 9.5,
                stroke=colour,
                stroke_width=2,
                stroke_dasharray=dash,
            )
        )
        at -= 26.0
    return "".join(parts)


def _line(
    time_s: FloatArray,
    values: FloatArray,
    span: tuple[float, float],
    high: float,
    top: float,
    colour: str,
    dash: str | None,
) -> str:
    # Values above the panel are off the scale, not at its edge.
    shown = np.where(values <= high, values, np.nan)
    x = LEFT + (time_s - span[0]) / (span[1] - span[0]) * (WIDTH - LEFT - RIGHT)
    y = top + _PANEL * (1.0 - shown / high)
    alone = np.isfinite(y) & np.isnan(np.r_[np.nan, y[:-1]]) & np.isnan(np.r_[y[1:], np.nan])
    points = "".join(
        el("circle", cx=round(float(px), 1), cy=round(float(py), 1), r=1.2, fill=colour)
        for px, py in zip(x[alone], y[alone], strict=True)
    )
    data = path_of(np.column_stack([x, y]))
    if not data:
        return points
    return points + el(
        "path",
        d=data,
        fill="none",
        stroke=colour,
        stroke_width=1.6,
        stroke_dasharray=dash,
        stroke_linejoin="round",
    )
