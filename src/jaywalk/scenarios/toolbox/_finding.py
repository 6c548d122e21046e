"""Search of a place in a town for a scenario type, and routes and triggers of scenario files.

A place is a route that has the properties which the type needs. The lanes of the town give heights,
dense routes, and triggers at a distance along them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.lane_paths import LanePath, crossings, lane_path, opposite_lane
from jaywalk.client.placing import roadside
from jaywalk.core.errors import DataError, JaywalkError
from jaywalk.core.seeds import stream
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.scenarios.catalogue import TURN_LEFT, TURN_RIGHT, StreetNeeds
from jaywalk.scenarios.formats.route_xml import TriggerPoint
from jaywalk.scenarios.toolbox.form import Authored
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner
from jaywalk.town.town import Town, load_town

OUR_TOWNS: Final = ("Harbour", "Orchard", "Ridge")
_OFF_ROAD_M: Final = 15.0
_SHORTEST_M: Final = 1.0


@lru_cache(maxsize=4)
def planner_of(town: str) -> RoutePlanner:
    """Return the planner of a known town."""
    return RoutePlanner(load_town(town).carla_map)


def planner_for(file: Authored) -> RoutePlanner:
    """Return the planner of a file's town.

    Raises:
        DataError: The town is unknown here; the message names file and field.
    """
    try:
        return planner_of(file.town)
    except JaywalkError as problem:
        raise DataError(f"'{file.path}', town: {problem}") from problem


def points_of(file: Authored) -> list[Point]:
    """Return the keypoints with heights; points without one are put on the nearest lane."""
    if all(len(point) == 3 for point in file.points):
        return [(point[0], point[1], point[2]) for point in file.points]
    town_map = planner_for(file).graph.map
    return [_with_height(town_map, point) for point in file.points]


def _with_height(town_map: Any, point: tuple[float, ...]) -> Point:
    if len(point) == 3:
        return point[0], point[1], point[2]
    lane = town_map.get_waypoint(carla.Location(point[0], point[1], 0.0))
    return point[0], point[1], round(float(lane.transform.location.z), 3)


def dense_of(file: Authored) -> DenseRoute:
    """Return the dense route that a file describes, with a point per metre."""
    planner, points = planner_for(file), points_of(file)
    for number, point in enumerate(points, 1):
        lane = planner.graph.map.get_waypoint(carla.Location(*point)).transform.location
        away_m = math.hypot(lane.x - point[0], lane.y - point[1])
        if away_m > _OFF_ROAD_M:
            raise DataError(
                f"'{file.path}', route.points, point {number}: is {away_m:.0f} m from the nearest "
                f"lane of {file.town}; expected within {_OFF_ROAD_M:g} m."
            )
    try:
        route = planner.plan(points)
    except DataError as problem:
        raise DataError(f"'{file.path}', route.points: {problem}") from problem
    if route.along_m[-1] < _SHORTEST_M:
        raise DataError(
            f"'{file.path}', route.points: the route has {route.along_m[-1]:.1f} m; expected "
            f"places at least {_SHORTEST_M:g} m apart."
        )
    return route


def trigger_at(route: DenseRoute, at_m: float, where: str) -> TriggerPoint:
    """Return the point of a route at a distance along it."""
    length_m = float(route.along_m[-1])
    if at_m > length_m:
        raise DataError(f"{where}, at: is {at_m:g}; the route has only {length_m:.1f} m.")
    row = route.path.vertex_at(at_m)
    x_m, y_m, z_m = (round(float(value), 4) for value in route.position_m[row])
    yaw_deg = round(float(route.rotation_deg[row, 1]), 4)
    return TriggerPoint(x_m=x_m, y_m=y_m, z_m=z_m, yaw_deg=yaw_deg)


LENGTH_M: Final = 160.0
_BEFORE_AT_M: Final = 10.0
_BACK_M: Final = 80.0  # largest distance back to the beginning of a lane
_JUNCTION_M: Final = (55.0, 120.0)  # wanted position of the first junction, for types that need one
_LEAP_M: Final = 2.0
_STRAIGHT_RAD: Final = math.radians(25.0)
_STRAIGHT_DEG: Final = 40.0
_BAYS: Final = (carla.LaneType.Parking, carla.LaneType.Shoulder, carla.LaneType.Stop)
_TRIES: Final = 400
_STREAM_M: Final = (40.0, 60.0)  # before and after a junction: start and end of streams of cars
_OF_TURN: Final = {TURN_LEFT: -90.0, TURN_RIGHT: 90.0}


class NoPlaceError(DataError):
    """A town has no place for a scenario type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A route, and the path of the vehicles that meet it."""

    points: tuple[tuple[float, float], ...]
    way: LanePath | None = None

    @property
    def way_ends(self) -> tuple[Point, Point] | None:
        """First and last point of the path of the other vehicles."""
        if self.way is None:
            return None
        rows = self.way.points_m
        first, last = (tuple(round(float(v), 1) for v in rows[row]) for row in (0, -1))
        return first, last  # type: ignore[return-value]


def find_place(kind: str, town_name: str, needs: StreetNeeds, *, at_m: float, seed: int) -> Place:
    """Find a route in a town that suits a type.

    Raises:
        NoPlaceError: There is none.
    """
    town, planner = load_town(town_name), planner_of(town_name)
    poses = town.spawn_points
    order = stream(seed, "scenario-place", town_name, kind).permutation(len(poses))
    for number in order[:_TRIES].tolist():
        pose = poses[number]
        route = _ahead(planner, (pose.x, pose.y, pose.z), needs)
        if route is None:
            continue
        way = _Looked(route, planner.graph.map, town, needs, at_m).way()
        if way is not None:
            ends = (route.position_m[0, :2], route.position_m[-1, :2])
            points = tuple((round(float(x), 1), round(float(y), 1)) for x, y in ends)
            return Place(points=points, way=way if way.length_m else None)
    raise NoPlaceError(
        f"{town_name} has no place for {kind} among {min(len(poses), _TRIES)} tried. Give the "
        "route yourself with --from X,Y --to X,Y, another --seed or another --town."
    )


def _ahead(planner: RoutePlanner, start: Point, needs: StreetNeeds) -> DenseRoute | None:
    """Plan about 160 m from the beginning of a lane, turning at the first junction as needed."""
    first = lane = _lane_begins(planner.graph.map.get_waypoint(carla.Location(*start)))
    driven_m, turned = 0.0, needs.junction not in _OF_TURN
    while driven_m < LENGTH_M:
        options = lane.next(2.0)
        if not options:
            return None
        if not turned and options[0].is_junction:
            wanted, turned = _OF_TURN[needs.junction], True
            turns = [_turn_over(lane, option) for option in options]
            best = int(np.argmin([abs(wrap_degrees(turn - wanted)) for turn in turns]))
            if abs(wrap_degrees(turns[best] - wanted)) > _STRAIGHT_DEG:
                return None
            lane = options[best]
        else:
            yaw = lane.transform.rotation.yaw
            lane = min(
                options, key=lambda option: abs(wrap_degrees(option.transform.rotation.yaw - yaw))
            )
        driven_m += 2.0
    if lane.is_junction or not turned:
        return None
    return _planned(planner, first, lane)


def _planned(planner: RoutePlanner, first: Any, last: Any) -> DenseRoute | None:
    ends = [_rounded(waypoint.transform.location) for waypoint in (first, last)]
    try:
        route = planner.plan(ends)
    except DataError:
        return None
    # One lane all the way: where the planner changes lanes, points jump.
    steps = np.hypot(*np.diff(route.position_m[:, :2], axis=0).T)
    good = abs(float(route.along_m[-1]) - LENGTH_M) < 30.0 and float(steps.max()) < _LEAP_M
    return route if good else None


def _turn_over(before: Any, inside: Any) -> float:
    """Turn of a path over a junction in degrees; to the right is positive."""
    lane = inside
    for _ in range(60):
        options = lane.next(1.0)
        if not options:
            break
        lane = options[0]
        if not lane.is_junction:
            break
    return float(wrap_degrees(lane.transform.rotation.yaw - before.transform.rotation.yaw))


def _lane_begins(lane: Any) -> Any:
    """Go back to the junction before a place: blocks are short, and scenarios need room."""
    for _ in range(int(_BACK_M / 4.0)):
        before = lane.previous(4.0)
        if len(before) != 1 or before[0].is_junction:
            break
        lane = before[0]
    return lane


def _rounded(place: Any) -> Point:
    return round(place.x, 1), round(place.y, 1), round(place.z, 1)


_NOBODY: Final = LanePath(np.zeros((1, 3)), np.zeros(1), np.zeros(1))


@dataclass(frozen=True, slots=True)
class _Looked:
    """One candidate route with the needs of a type."""

    route: DenseRoute
    map: Any
    town: Town
    needs: StreetNeeds
    at_m: float

    def way(self) -> LanePath | None:
        """Path of vehicles that meet the ego, empty if none do; None if the route does not suit."""
        if self.needs.junction:
            return self._at_junction()
        return self._on_stretch()

    def _on_stretch(self) -> LanePath | None:
        route, needs, along = self.route, self.needs, self.route.along_m
        near = (along > self.at_m - _BEFORE_AT_M) & (along < self.at_m + needs.length_m)
        if along[-1] < self.at_m + needs.length_m or route.in_junction[near].any():
            return None
        yaw = np.unwrap(route.yaw_rad[near])
        if np.ptp(yaw) > _STRAIGHT_RAD:
            return None
        if "parking" in needs.lane:  # blocks are short: check only where a car parks
            near &= (along > self.at_m + needs.parks_m[0]) & (along < self.at_m + needs.parks_m[1])
        lanes = [self._lane(row) for row in np.flatnonzero(near)[::8]]
        if not all(self._has_beside(lane) for lane in lanes):
            return None
        if needs.sidewalk and not all(self._has_sidewalk(lane) for lane in lanes):
            return None
        if needs.kerb_m and not all(self._is_near_kerb(lane) for lane in lanes):
            return None
        if needs.lane == "queue":
            beside = [lane.get_right_lane().transform.location for lane in lanes]
            points = np.array([(point.x, point.y, point.z) for point in beside])
            return lane_path(points, np.zeros(len(points)))
        return _NOBODY

    def _lane(self, row: int) -> Any:
        return self.map.get_waypoint(carla.Location(*self.route.position_m[row].tolist()))

    def _has_beside(self, lane: Any) -> bool:
        wanted = self.needs.lane
        if "opposite" in wanted and opposite_lane(lane) is None:
            return False
        right, left = lane.get_right_lane(), lane.get_left_lane()
        if "parking" in wanted and (right is None or right.lane_type not in _BAYS):
            return False
        beside = {"same": left, "queue": right}.get(wanted, lane)
        if beside is None:
            return False
        same = beside.lane_id * lane.lane_id > 0
        return bool(same and beside.lane_type == carla.LaneType.Driving)

    def _is_near_kerb(self, lane: Any) -> bool:
        right = lane.get_right_lane()
        if right is not None and right.lane_type in _BAYS:
            return True
        return roadside(self.map, lane.transform, to_right=True).kerb_m <= self.needs.kerb_m

    def _has_sidewalk(self, lane: Any) -> bool:
        return roadside(self.map, lane.transform, to_right=True).sidewalk_m > 0.0

    def _at_junction(self) -> LanePath | None:
        """Path of vehicles that meet the ego at the first junction; None if it does not suit."""
        route, needs, along = self.route, self.needs, self.route.along_m
        if not route.in_junction.any():
            return None
        first = int(np.argmax(route.in_junction))
        enter_m = float(along[first])
        if not self.at_m + 20.0 <= enter_m or not _JUNCTION_M[0] <= enter_m <= _JUNCTION_M[1]:
            return None
        before = route.position_m[(along > enter_m - 30.0) & (along < enter_m + 3.0)]
        if not self._is_controlled(before):
            return None
        entry = self._lane(max(first - 2, 0))
        if needs.sidewalk and not self._has_sidewalk(entry):
            return None
        return self._meeting(first, entry) if needs.arm else _NOBODY

    def _is_controlled(self, before: NDArray[np.float64]) -> bool:
        control = self.needs.control
        lit = any(_on_way(light.stops, before) for light in self.town.lights)
        kinds = {sign.type_id for sign in self.town.signs if _on_way(sign.stops, before)}
        signs = kinds & {"traffic.stop", "traffic.yield"}
        return {
            "light": lit,
            "stop": not lit and "traffic.stop" in signs,
            "free": not lit and not signs,
            "dark": not lit,
        }.get(control, True)

    def _meeting(self, first: int, entry: Any) -> LanePath | None:
        """Path of a vehicle from the arm that meets the ego's path."""
        route, needs = self.route, self.needs
        last = first
        while last + 1 < len(route) and route.in_junction[last + 1]:
            last += 1
        inside = next(
            (lane for row in range(first, last + 1) if (lane := self._lane(row)).is_junction), None
        )
        if inside is None:
            return None
        keep = slice(max(first - 6, 0), last + 1)
        paths = crossings(
            inside.get_junction(),
            needs.arm,
            float(entry.transform.rotation.yaw),
            route.position_m[keep, :2],
            route.along_m[keep],
            *_STREAM_M,
        )
        if needs.they == "straight":
            paths = [crossing for crossing in paths if abs(crossing.turn_deg) <= _STRAIGHT_DEG]
        elif needs.they == "right":
            paths = [crossing for crossing in paths if crossing.turn_deg > _STRAIGHT_DEG]
        if needs.return_lane:
            paths = [crossing for crossing in paths if self._has_return_lane(crossing.path)]
        return paths[0].path if paths else None

    def _has_return_lane(self, way: LanePath) -> bool:
        ends = [carla.Location(x=x, y=y, z=z) for x, y, z in way.points_m[[0, -1]].tolist()]
        lanes = [self.map.get_waypoint(end).get_left_lane() for end in ends]
        return all(lane is not None and lane.lane_type == carla.LaneType.Driving for lane in lanes)


def _on_way(stops: Any, way_m: NDArray[np.float64]) -> bool:
    return any(
        float(np.hypot(*(way_m[:, :2] - np.asarray(stop)[:2]).T).min()) < 1.5 for stop in stops
    )
