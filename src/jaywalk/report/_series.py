"""Time series of the ego: speed, controls, gap ahead, time to collision, nearest person.

The gap is measured along the path that the ego drove next (straight ahead beyond its end), from the
ego's front to the nearest body that reaches into a corridor of the ego's width plus a margin. Time
to collision assumes that both bodies keep their velocity. It is exact for boxes that do not turn;
people count as squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.box import box_points
from jaywalk.report._scene import DrawnBody, Scene

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
