"""Recommended places for vehicles to start: on driving lanes, clear of junctions and crosswalks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from jaywalk.town.lanes import LaneStrip
from jaywalk.town.roads import FloatArray

CLEARANCE_M = 0.5  # above the road: vehicles drop onto their wheels
_END_M = 8.0  # distance kept from road ends and crosswalks
_WANTED = 200
_SPACING_M = (18.0, 140.0)


class Pose(NamedTuple):
    """Pose in CARLA's left-handed world: metres and degrees."""

    x: float
    y: float
    z: float
    pitch: float
    yaw: float
    roll: float


def spawn_points(strips: list[LaneStrip], crosswalks: list[FloatArray]) -> list[Pose]:
    """Starting poses in file order, evenly spaced; about 100 to 300 in a town."""
    lanes = [s for s in strips if s.kind == "driving" and not s.in_junction]
    # Spacing grows with the town so that large ones do not drown in points.
    total_m = sum(float(s.s_m[-1] - s.s_m[0]) for s in lanes)
    spacing_m = min(max(total_m / _WANTED, _SPACING_M[0]), _SPACING_M[1])
    forbidden = cKDTree(_outline_points(crosswalks)) if crosswalks else None
    poses: list[Pose] = []
    for strip in lanes:
        poses += _strip_poses(strip, spacing_m, forbidden)
    return poses


def _strip_poses(strip: LaneStrip, spacing_m: float, forbidden: cKDTree | None) -> list[Pose]:
    usable_m = strip.road.length_m - 2.0 * _END_M
    if usable_m < 0.0:
        return []
    # Places are laid out per road, not per section, so neighbouring sections keep the spacing.
    count = int(usable_m / spacing_m) + 1
    places = _END_M + 0.5 * (usable_m - (count - 1) * spacing_m) + spacing_m * np.arange(count)
    poses = []
    for s_m in places[(places >= strip.section.start_m) & (places < strip.section.end_m)]:
        pose = _pose_at(strip, float(s_m))
        if pose is None:
            continue
        if forbidden is None or forbidden.query((pose.x, pose.y))[0] > _END_M:
            poses.append(pose)
    return poses


def _pose_at(strip: LaneStrip, s_m: float) -> Pose | None:
    k = min(max(int(np.searchsorted(strip.s_m, s_m)), 1), len(strip.s_m) - 1)
    if strip.width_m[k - 1 : k + 1].min() < 2.2:  # a lane still opening or closing
        return None
    part = (s_m - strip.s_m[k - 1]) / (strip.s_m[k] - strip.s_m[k - 1])
    ends = strip.centre_m[k - 1 : k + 1]
    x, y, z = (1.0 - part) * ends[0] + part * ends[1]
    dx, dy, dz = (ends[1] - ends[0]) * (-1.0 if strip.lane.lane_id > 0 else 1.0)
    return Pose(
        x=float(x),
        y=float(y),
        z=float(z) + CLEARANCE_M,
        pitch=math.degrees(math.atan2(dz, math.hypot(dx, dy))),
        yaw=math.degrees(math.atan2(dy, dx)),
        roll=0.0,
    )


def _outline_points(crosswalks: list[FloatArray]) -> FloatArray:
    """Points at most 1 m apart on the outlines of all crosswalks."""
    points = []
    for polygon in crosswalks:
        for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
            count = int(np.hypot(*(b - a)[:2])) + 2
            points.append(a[:2] + np.linspace(0.0, 1.0, count)[:, None] * (b - a)[:2])
    return np.concatenate(points)
