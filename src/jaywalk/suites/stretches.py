"""Stretches of road in a town, with the lanes and roadside beside them, as places for scenarios.

A stretch is a route of about 200 m from a spawn point, straight on or with a turn at its first
junction, never changing lanes. Everything follows from the map, so equal towns give equal
stretches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.lane_paths import crossings, opposite_lane
from jaywalk.client.placing import roadside
from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.errors import DataError
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.suites.random_routes import rounded
from jaywalk.town.limits import speed_limit_at
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner
from jaywalk.town.town import Town

TURNS: Final = ("straight", "left", "right")
_STEP_M: Final = 2.0
_TURN_DEG: Final = 45.0
_FITS_M: Final = 6.0
_WIDE: Final = 30.0
_SIGN_M: Final = 1.5
_LEAP_M: Final = 2.4  # a longer step between two points is a lane change


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Lanes and roadside beside each point of a stretch."""

    left_same: BoolArray  # a driving lane of the same direction on the left
    right_same: BoolArray
    opposite: BoolArray  # an opposite driving lane, right beside
    parking: BoolArray  # a parking lane on the right
    right_room: BoolArray  # a lane of any kind except a sidewalk on the right
    walk_right: BoolArray  # a sidewalk on the right ...
    walk_left: BoolArray
    kerb_right_m: FloatArray  # from the middle of the lane
    kerb_left_m: FloatArray
    width_m: FloatArray
    limit_kmh: FloatArray


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A route and its surroundings."""

    town: Town
    start: int  # spawn point
    turn: str
    points: tuple[Point, Point]
    dense: DenseRoute

    @property
    def along_m(self) -> FloatArray:
        """Distance along the route of each point."""
        return self.dense.path.arc_m

    @property
    def length_m(self) -> float:
        """Length of the route."""
        return self.dense.path.length_m

    @cached_property
    def streets(self) -> frozenset[tuple[int, int]]:
        """Road and lane of its points outside junctions."""
        lanes = self.dense.lane[~self.dense.in_junction]
        return frozenset((int(road), int(lane)) for road, _, lane in lanes)

    @cached_property
    def beside(self) -> Beside:
        """Lanes and roadside beside it; computed on first use."""
        return _beside(self)

    def window(self, at_m: float, before_m: float, after_m: float) -> slice:
        """Slice of the points around a place."""
        low, high = np.searchsorted(self.along_m, [at_m - before_m, at_m + after_m])
        return slice(int(low), int(high) + 1)

    def bend_deg(self, at_m: float, before_m: float, after_m: float) -> float:
        """Change of heading around a place, in degrees."""
        yaw = np.unwrap(self.dense.yaw_rad[self.window(at_m, before_m, after_m)])
        return float(np.rad2deg(yaw.max() - yaw.min())) if len(yaw) else 0.0

    @cached_property
    def junctions(self) -> list[tuple[float, float]]:
        """Start and end of each junction along the route."""
        inside, junctions = self.dense.in_junction, []
        k = 0
        while k < len(inside):
            if inside[k]:
                last = k
                while last + 1 < len(inside) and inside[last + 1]:
                    last += 1
                junctions.append((float(self.along_m[k]), float(self.along_m[last])))
                k = last
            k += 1
        return junctions

    def junction_at(self, number: int) -> Any:
        """Return CARLA's junction object."""
        enter_m, leave_m = self.junctions[number]
        for share in (0.5, 0.3, 0.7, 0.1, 0.9):
            at = int(np.searchsorted(self.along_m, enter_m + share * (leave_m - enter_m)))
            lane = self.town.carla_map.get_waypoint(_location(self.dense.position_m[at]))
            if lane.is_junction:
                return lane.get_junction()
        raise DataError("A junction without a lane through it.")

    def has_lights(self, number: int) -> bool:
        """Return True if a light stands before a junction of the route."""
        enter_m, _ = self.junctions[number]
        points = self.dense.position_m[self.window(enter_m, 12.0, 1.0), :2]
        boxes = np.concatenate([light.stops for light in self.town.lights] or [np.zeros((0, 7))])
        return _nearest(points, boxes[:, :2]) < _SIGN_M

    def has_stop_sign(self, number: int) -> bool:
        """Return True if a stop sign acts on the route before a junction."""
        enter_m, _ = self.junctions[number]
        points = self.dense.position_m[self.window(enter_m, 12.0, 1.0), :2]
        signs = [sign.stops for sign in self.town.signs if sign.type_id == "traffic.stop"]
        return _nearest(points, np.concatenate(signs or [np.zeros((0, 7))])[:, :2]) < _SIGN_M

    def meets(self, number: int, arm: str) -> bool:
        """Return True if a vehicle from an arm of a junction drives straight across the route."""
        enter_m, leave_m = self.junctions[number]
        keep = self.window(enter_m, 6.0, leave_m - enter_m)
        yaw = float(self.dense.rotation_deg[max(keep.start, 0), 1])
        paths = crossings(
            self.junction_at(number),
            arm,
            yaw,
            self.dense.position_m[keep, :2],
            self.along_m[keep],
            35.0,
            40.0,
        )
        return bool(paths) and abs(paths[0].turn_deg) < _TURN_DEG and paths[0].meets_along_m > 25.0


def _nearest(points: FloatArray, others: FloatArray) -> float:
    if not len(points) or not len(others):
        return np.inf
    return float(np.hypot(*(points[:, None] - others[None]).transpose(2, 0, 1)).min())


def _location(place: FloatArray) -> Any:
    return carla.Location(*(float(value) for value in place))


def stretches(town: Town, length_m: float = 210.0) -> list[Stretch]:
    """Return all stretches of a town, in the order of its spawn points."""
    planner = RoutePlanner(town.carla_map)
    result = []
    for number, pose in enumerate(town.spawn_points):
        start = rounded((pose.x, pose.y, pose.z))
        lane = town.carla_map.get_waypoint(carla.Location(*start))
        for turn in TURNS:
            end = _follow(lane, turn, length_m)
            if end is None:
                continue
            stretch = _planned(town, planner, number, turn, start, end)
            if stretch is not None:
                result.append(stretch)
    return result


def _follow(lane: Any, turn: str, length_m: float) -> tuple[Any, float] | None:
    """Return the waypoint ``length_m`` ahead, turning at the first junction, and its distance."""
    here, way_m, turned = lane, 0.0, turn == "straight"
    while way_m < length_m or here.is_junction:
        options = _next(here)
        if not options or way_m > length_m + _WIDE:
            return None
        if len(options) > 1:
            wanted = "straight" if turned else turn
            options = [option for option in options if _turns(option) == wanted]
            if not options:
                return None
            turned = True
        here = min(options, key=lambda option: (abs(_bend(here, option)), option.lane_id))
        way_m += _STEP_M
    return (here, way_m) if turned else None


def _next(lane: Any) -> list[Any]:
    try:
        return list(lane.next(_STEP_M))
    except RuntimeError:
        return []


def _bend(first: Any, second: Any) -> float:
    return float(wrap_degrees(second.transform.rotation.yaw - first.transform.rotation.yaw))


def _turns(inside: Any) -> str:
    """Return the turn of a lane inside a junction: ``straight``, ``left`` or ``right``."""
    here = inside
    for _ in range(40):
        options = _next(here)
        if not options or not here.is_junction:
            break
        here = options[0]
    bend = _bend(inside, here)
    if abs(bend) < _TURN_DEG:
        return "straight"
    return "right" if bend > 0.0 else "left"


def _planned(
    town: Town,
    planner: RoutePlanner,
    number: int,
    turn: str,
    start: Point,
    end: tuple[Any, float],
) -> Stretch | None:
    """Return the stretch if the planner takes the same path without lane changes; else None."""
    place = end[0].transform.location
    points = (start, rounded((place.x, place.y, place.z)))
    try:
        dense = planner.plan(points)
    except DataError:
        return None
    steps = np.hypot(*np.diff(dense.position_m[:, :2], axis=0).T)
    if abs(float(dense.along_m[-1]) - end[1]) > _FITS_M or steps.max() > _LEAP_M:
        return None
    return Stretch(town=town, start=number, turn=turn, points=points, dense=dense)


def _beside(stretch: Stretch) -> Beside:
    rows = [
        _look(stretch, place, float(yaw))
        for place, yaw in zip(stretch.dense.position_m, stretch.dense.yaw_rad, strict=True)
    ]
    columns = list(zip(*rows, strict=True))
    flags = [np.array(column, np.bool_) for column in columns[:7]]
    kerb_right, kerb_left, width, limit = (np.array(column, float) for column in columns[7:])
    return Beside(
        left_same=flags[0],
        right_same=flags[1],
        opposite=flags[2],
        parking=flags[3],
        right_room=flags[4],
        walk_right=flags[5],
        walk_left=flags[6],
        kerb_right_m=kerb_right,
        kerb_left_m=kerb_left,
        width_m=width,
        limit_kmh=limit,
    )


def _look(stretch: Stretch, place: FloatArray, yaw_rad: float) -> tuple[float, ...]:
    town = stretch.town
    lane = town.carla_map.get_waypoint(_location(place))
    left, right = lane.get_left_lane(), lane.get_right_lane()
    driving = carla.LaneType.Driving

    def same(other: Any) -> bool:
        return bool(
            other is not None and other.lane_type == driving and other.lane_id * lane.lane_id > 0
        )

    sides = [roadside(town.carla_map, lane.transform, to_right) for to_right in (True, False)]
    across = opposite_lane(lane) if not same(left) else None
    kind = None if right is None else right.lane_type
    x, y, z = (float(value) for value in place)
    limit = float(speed_limit_at(town.limits, x, y, z, yaw_rad))
    return (
        same(left),
        same(right),
        across is not None,
        kind == carla.LaneType.Parking,
        kind not in (None, carla.LaneType.Sidewalk),
        sides[0].sidewalk_m > 0.0,
        sides[1].sidewalk_m > 0.0,
        sides[0].kerb_m,
        sides[1].kerb_m,
        float(lane.lane_width),
        limit,
    )
