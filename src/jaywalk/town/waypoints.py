"""Spawn points of a town, and CARLA's waypoint lookups for whole tracks as plain arrays.

:func:`spawn_points` gives recommended starting poses of vehicles, on driving lanes and away from
junctions and crosswalks. :class:`LaneFinder` uses the lookups of the wheel, so a criterion gets the
same lanes as a program that calls ``carla.Map``. Frame: CARLA's left-handed world, metres and
degrees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.pose import CarlaPose
from jaywalk.town import opendrive
from jaywalk.town.lanes import LaneStrip

CLEARANCE_M = 0.5  # above the road: vehicles drop onto their wheels
_END_M = 8.0  # distance kept from road ends and crosswalks
_WANTED = 200
_SPACING_M = (18.0, 140.0)


def spawn_points(strips: list[LaneStrip], crosswalks: list[FloatArray]) -> list[CarlaPose]:
    """Return starting poses in file order, evenly spaced; about 100 to 300 in a town."""
    lanes = [s for s in strips if s.kind == "driving" and not s.in_junction]
    # The spacing grows with the town, which limits the number of points in large towns.
    total_m = sum(float(s.s_m[-1] - s.s_m[0]) for s in lanes)
    spacing_m = min(max(total_m / _WANTED, _SPACING_M[0]), _SPACING_M[1])
    forbidden = cKDTree(_outline_points(crosswalks)) if crosswalks else None
    poses: list[CarlaPose] = []
    for strip in lanes:
        poses += _strip_poses(strip, spacing_m, forbidden)
    return poses


def _strip_poses(strip: LaneStrip, spacing_m: float, forbidden: cKDTree | None) -> list[CarlaPose]:
    usable_m = strip.road.length_m - 2.0 * _END_M
    if usable_m < 0.0:
        return []
    # Positions are spaced per road, not per section, so neighbouring sections keep the spacing.
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


def _pose_at(strip: LaneStrip, s_m: float) -> CarlaPose | None:
    k = min(max(int(np.searchsorted(strip.s_m, s_m)), 1), len(strip.s_m) - 1)
    # Only these two samples: a long lane has a million.
    inner, outer = strip.inner_m[k - 1 : k + 1], strip.outer_m[k - 1 : k + 1]
    if np.hypot(*(outer - inner)[:, :2].T).min() < 2.2:  # the lane is still widening or narrowing
        return None
    part = (s_m - strip.s_m[k - 1]) / (strip.s_m[k] - strip.s_m[k - 1])
    ends = 0.5 * (inner + outer)
    x, y, z = (1.0 - part) * ends[0] + part * ends[1]
    dx, dy, dz = (ends[1] - ends[0]) * (-1.0 if strip.lane.lane_id > 0 else 1.0)
    return CarlaPose(
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


LaneKind = Literal["driving", "parking"]

_MAX_WALK_M = 500.0  # no lane is longer; prevents an endless loop on a broken map


@dataclass(frozen=True, slots=True, kw_only=True)
class LanesUnder:
    """Nearest lane at each of n positions; ``distance_m`` is infinite if there is none."""

    centre_m: FloatArray  # (n, 3)
    distance_m: FloatArray  # (n,) from the place to the lane's centre, in space
    yaw_deg: FloatArray
    forward: FloatArray  # (n, 3)
    width_m: FloatArray
    road: NDArray[np.int64]
    lane: NDArray[np.int64]
    in_junction: NDArray[np.bool_]

    def rows(self, which: NDArray[np.int64]) -> LanesUnder:
        """Return the rows of some of the positions."""
        return LanesUnder(**{k.name: getattr(self, k.name)[which] for k in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEnd:
    """Last point of a lane before a junction."""

    centre_m: tuple[float, float, float]
    yaw_deg: float
    forward: tuple[float, float, float]
    width_m: float
    road: int
    lane: int


class LaneFinder:
    """Lane lookups on one map."""

    def __init__(self, carla_map: Any) -> None:
        self._carla = opendrive.import_carla()
        self._map = carla_map
        self._absent: set[LaneKind] = set()

    def under(self, places_m: FloatArray, kind: LaneKind = "driving") -> LanesUnder:
        """Find the nearest lane of a kind at each position (n, 3).

        Consecutive equal positions are looked up once.
        """
        n = len(places_m)
        moved = np.ones(n, np.bool_)
        moved[1:] = np.any(places_m[1:] != places_m[:-1], axis=1)
        rows = [self._row(place, kind) for place in places_m[moved].tolist()]
        table = np.array(rows, np.float64).reshape(-1, 11)[np.cumsum(moved) - 1]
        gaps = np.linalg.norm(table[:, :3] - places_m, axis=1)
        return LanesUnder(
            centre_m=table[:, :3],
            distance_m=np.where(np.isnan(gaps), np.inf, gaps),
            yaw_deg=table[:, 3],
            forward=table[:, 4:7],
            width_m=table[:, 7],
            road=np.nan_to_num(table[:, 8], nan=-1).astype(np.int64),
            lane=np.nan_to_num(table[:, 9]).astype(np.int64),
            in_junction=table[:, 10] == 1.0,
        )

    def _row(self, place: list[float], kind: LaneKind) -> tuple[float, ...]:
        types = self._carla.LaneType
        wanted = types.Parking if kind == "parking" else types.Driving
        waypoint = None
        if kind not in self._absent:
            waypoint = self._map.get_waypoint(self._carla.Location(*place), lane_type=wanted)
        if waypoint is None:
            # The lookup covers the whole map, so the map has no lane of this kind. Remember that:
            # a failed lookup is the slowest of all.
            self._absent.add(kind)
            return (math.nan,) * 11
        pose = waypoint.transform
        at, ahead = pose.location, pose.get_forward_vector()
        return (
            at.x,
            at.y,
            at.z,
            pose.rotation.yaw,
            ahead.x,
            ahead.y,
            ahead.z,
            waypoint.lane_width,
            waypoint.road_id,
            waypoint.lane_id,
            waypoint.is_junction,
        )

    def ahead(self, place_m: tuple[float, ...], step_m: float, steps: int) -> FloatArray:
        """Centre of the lane at a position and the lane points ahead, (<= steps + 1, 3)."""
        waypoint = self._map.get_waypoint(self._carla.Location(*place_m))
        points = []
        for _ in range(steps + 1):
            at = waypoint.transform.location
            points.append((at.x, at.y, at.z))
            following = waypoint.next(step_m)
            if not following:
                break
            waypoint = following[0]
        return np.array(points)

    def lane_ends(self, places_m: FloatArray, step_m: float) -> list[LaneEnd]:
        """Follow the lanes at consecutive positions to their junctions; each lane counts once."""
        waypoints: list[Any] = []
        for place in places_m.tolist():
            point = self._map.get_waypoint(self._carla.Location(*place))
            lane = point.road_id, point.lane_id
            if not waypoints or (waypoints[-1].road_id, waypoints[-1].lane_id) != lane:
                waypoints.append(point)
        return [_end(self._walk(point, step_m)) for point in waypoints]

    def _walk(self, point: Any, step_m: float) -> Any:
        for _ in range(int(_MAX_WALK_M / step_m)):
            if point.is_junction:
                break
            following = point.next(step_m)
            if not following or following[0].is_junction:
                break
            point = following[0]
        return point


def _end(point: Any) -> LaneEnd:
    pose = point.transform
    at, ahead = pose.location, pose.get_forward_vector()
    return LaneEnd(
        centre_m=(at.x, at.y, at.z),
        yaw_deg=pose.rotation.yaw,
        forward=(ahead.x, ahead.y, ahead.z),
        width_m=point.lane_width,
        road=point.road_id,
        lane=point.lane_id,
    )
