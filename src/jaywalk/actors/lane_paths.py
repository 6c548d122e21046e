"""Paths for scenario vehicles along the lanes of a map and over its junctions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.geometry.path import Path, arc_lengths, nearest_vertices, without_repeats
from jaywalk.town.lane_graph import waypoint_poses

_STEP_M: Final = 1.0
_REPEAT_M: Final = 0.05  # waypoints nearer than this are one point
_SIDE_DEG: Final = 45.0  # tolerance of an arm's direction around a right angle or straight ahead
MEET_M: Final = 2.0  # centre lines nearer than this meet


@dataclass(frozen=True, slots=True)
class LanePath(Path):
    """A path to drive, with vertices (n, 3) and headings. Frame: CARLA's, metres and degrees."""

    yaw_deg: FloatArray

    @property
    def way(self) -> FloatArray:
        """Points (n, 4): x, y, z, yaw in radians."""
        return np.column_stack([self.points_m, np.deg2rad(self.yaw_deg)])

    def pose(self, along_m: float, up_m: float) -> Any:
        """Transform of a vehicle at a distance along the path."""
        at = min(max(along_m, 0.0), self.length_m)
        x, y, z = self.point_at(at)
        yaw = float(self.yaw_deg[self.vertex_at(at)])
        return carla.Transform(carla.Location(x, y, z + up_m), carla.Rotation(yaw=yaw))

    def nearest_m(self, place: Any) -> float:
        """Distance along the path of the point nearest to a location, in metres."""
        return float(self.arc_m[self.nearest(place.x, place.y)])

    def part(self, low_m: float, high_m: float) -> LanePath:
        """Return the part between two distances; its own distances start at 0."""
        keep = (self.arc_m >= low_m) & (self.arc_m <= high_m)
        arc = self.arc_m[keep]
        return LanePath(self.points_m[keep], arc - arc[0], self.yaw_deg[keep])


def lane_path(points_m: FloatArray, yaw_deg: FloatArray) -> LanePath:
    """Make a path through points (n, 3) with known headings."""
    return LanePath(np.ascontiguousarray(points_m), arc_lengths(points_m), yaw_deg)


def line_path(points_m: FloatArray) -> LanePath:
    """Make a path through points (n, 3); headings follow from the line."""
    points = without_repeats(points_m, _REPEAT_M)
    steps = np.diff(points[:, :2], axis=0)
    yaw = np.rad2deg(np.arctan2(steps[:, 1], steps[:, 0]))
    return lane_path(points, np.append(yaw, yaw[-1]))


def moved_aside(path: LanePath, right_m: float | FloatArray) -> LanePath:
    """Return a path moved to the right of another by one distance, or by one per point."""
    yaw = np.deg2rad(path.yaw_deg)
    x = path.points_m[:, 0] - right_m * np.sin(yaw)
    y = path.points_m[:, 1] + right_m * np.cos(yaw)
    return line_path(np.column_stack([x, y, path.points_m[:, 2]]))


def path_of(waypoints: list[carla.Waypoint]) -> LanePath:
    """Make a path through waypoints; repeated points are dropped."""
    values = without_repeats(waypoint_poses(waypoints), _REPEAT_M)
    return lane_path(values[:, :3], values[:, 3].copy())


def lane_ahead(waypoint: carla.Waypoint, length_m: float) -> list[Any]:
    """Return waypoints one metre apart from here on, straight ahead at forks."""
    return _walk(waypoint, length_m, lambda point: point.next(_STEP_M), False)


def lane_behind(waypoint: carla.Waypoint, length_m: float, within_road: bool = False) -> list[Any]:
    """Return the waypoints that lead here, in driving order; optionally not beyond a junction."""
    way = _walk(waypoint, length_m, lambda point: point.previous(_STEP_M), within_road)
    return way[::-1]


def _walk(waypoint: carla.Waypoint, length_m: float, step: Any, within_road: bool) -> list[Any]:
    way = [waypoint]
    while len(way) <= length_m / _STEP_M:
        try:
            options = step(way[-1])
        except RuntimeError:  # the map ends in a way the wheel does not expect
            break
        if not options:
            break
        best = min(options, key=lambda option: (_turn_deg(way[-1], option), option.lane_id))
        if within_road and best.is_junction:
            break
        way.append(best)
    return way


def _turn_deg(first: Any, second: Any) -> float:
    return float(abs(wrap_degrees(second.transform.rotation.yaw - first.transform.rotation.yaw)))


def opposite_lane(waypoint: carla.Waypoint) -> Any | None:
    """Return the nearest driving lane of the other direction, left of a lane; None if absent."""
    current = waypoint
    for _ in range(8):
        beside = current.get_left_lane() if current.lane_id * waypoint.lane_id > 0 else None
        if beside is None:
            return None
        if beside.lane_id * waypoint.lane_id < 0:
            return beside if beside.lane_type == carla.LaneType.Driving else None
        current = beside
    return None


def lane_beside(waypoint: carla.Waypoint) -> Any | None:
    """Return the driving lane next to a lane, left before right; None: there is none."""
    for beside in (waypoint.get_left_lane(), waypoint.get_right_lane()):
        if beside is not None and beside.lane_type == carla.LaneType.Driving:
            return beside
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionPath:
    """A path over a junction that meets the ego's route."""

    path: LanePath
    meets_along_m: float  # on the path
    meets_route_m: float  # on the ego's route
    turn_deg: float  # turn of the path over the junction


def crossings(
    junction: carla.Junction,
    arm: str,
    ego_yaw_deg: float,
    route_m: FloatArray,
    along_m: FloatArray,
    before_m: float,
    after_m: float,
    within_m: float = MEET_M,
) -> list[JunctionPath]:
    """Find paths from an arm (``left``, ``right`` or ``opposite``) that meet the route.

    Straight paths come first.

    Args:
        junction: CARLA's junction.
        arm: Arm from which the vehicle comes, as seen by the ego.
        ego_yaw_deg: Heading of the ego at the entry.
        route_m: (n, 2) points of the ego's route over the junction.
        along_m: Their distances along the route.
        before_m: Length of the path before the junction; shorter if another junction comes first.
        after_m: Length of the path behind the junction.
        within_m: Largest distance between path and route at the meeting point.
    """
    heading = {"left": 90.0, "right": -90.0, "opposite": 180.0}[arm]
    paths: list[JunctionPath] = []
    for entry, leaves in junction.get_waypoints(carla.LaneType.Driving):
        yaw = entry.transform.rotation.yaw
        if abs(wrap_degrees(yaw - ego_yaw_deg - heading)) > _SIDE_DEG:
            continue
        inside = _between(entry, leaves)
        path = path_of(
            [
                *lane_behind(entry, before_m, within_road=True)[:-1],
                *inside,
                *lane_ahead(leaves, after_m)[1:],
            ]
        )
        meeting = _meeting(path, route_m, along_m, within_m)
        if meeting is not None:
            turn = wrap_degrees(leaves.transform.rotation.yaw - yaw)
            paths.append(
                JunctionPath(
                    path=path, meets_along_m=meeting[0], meets_route_m=meeting[1], turn_deg=turn
                )
            )
    return sorted(paths, key=lambda path: (round(abs(path.turn_deg)), path.meets_along_m))


def _between(entry: Any, leaves: Any) -> list[Any]:
    """Return the waypoints of a connecting lane from its entry to its exit."""
    way = [entry]
    for _ in range(200):
        options = [
            point
            for point in way[-1].next(_STEP_M)
            if point.road_id == entry.road_id and point.lane_id == entry.lane_id
        ]
        if not options:
            break
        way.append(options[0])
    return [*way, leaves]


def _meeting(
    path: LanePath, route_m: FloatArray, along_m: FloatArray, within_m: float
) -> tuple[float, float] | None:
    """Return the distances along path and route where they come nearest; None if too far apart."""
    row, column, gap_m = nearest_vertices(path.points_m, route_m)
    if gap_m > within_m:
        return None
    return float(path.arc_m[row]), float(along_m[column])
