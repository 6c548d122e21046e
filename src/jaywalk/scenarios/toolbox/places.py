"""A town's lanes for scenario files: heights, routes, and triggers some metres along them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError, JaywalkError
from jaywalk.scenarios.route_xml import TriggerPoint
from jaywalk.scenarios.toolbox.form import Authored
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner
from jaywalk.town.town import load_town

OUR_TOWNS: Final = ("Harbour", "Orchard", "Ridge")
_OFF_ROAD_M: Final = 15.0
_SHORTEST_M: Final = 1.0


@lru_cache(maxsize=4)
def planner_of(town: str) -> RoutePlanner:
    """The planner of a town we have."""
    return RoutePlanner(load_town(town).carla_map)


def planner_for(file: Authored) -> RoutePlanner:
    """The planner of a file's town.

    Raises:
        DataError: There is no such town here; the message names file and field.
    """
    try:
        return planner_of(file.town)
    except JaywalkError as problem:
        raise DataError(f"'{file.path}', town: {problem}") from problem


def points_of(file: Authored) -> list[Point]:
    """Keypoints with heights; those without one lie on the nearest lane."""
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
    """The route a file describes, metre by metre."""
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
    """The point of a route so many metres along it."""
    length_m = float(route.along_m[-1])
    if at_m > length_m:
        raise DataError(f"{where}, at: is {at_m:g}; the route has only {length_m:.1f} m.")
    row = int(np.argmin(np.abs(route.along_m - at_m)))
    x_m, y_m, z_m = (round(float(value), 4) for value in route.position_m[row])
    yaw_deg = round(float(route.rotation_deg[row, 1]), 4)
    return TriggerPoint(x_m=x_m, y_m=y_m, z_m=z_m, yaw_deg=yaw_deg)
