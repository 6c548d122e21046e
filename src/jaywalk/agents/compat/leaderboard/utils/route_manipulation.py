"""Routes of agents: thinned, made dense, in GPS."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from agents.navigation.global_route_planner import (  # type: ignore[import-not-found]
    GlobalRoutePlanner,
)
from agents.navigation.local_planner import RoadOption  # type: ignore[import-not-found]
from defusedxml.ElementTree import fromstring
from srunner.scenariomanager.carla_data_provider import (  # type: ignore[import-not-found]
    CarlaDataProvider,
)

from jaywalk.geometry.geodesy import route_reference_deg, to_gps

_CHANGES = (RoadOption.CHANGELANELEFT, RoadOption.CHANGELANERIGHT)


def downsample_route(route: list[tuple[Any, Any]], sample_factor: float) -> list[int]:
    """Indices of the points that are kept.

    The first, every lane-change point, points where the option changes (unless a lane change came
    before), a point whenever ``sample_factor`` metres have passed, and the last.
    """
    kept: list[int] = []
    before = None
    passed_m = 0.0
    for index, (pose, option) in enumerate(route):
        changed = before is not option and before not in _CHANGES
        last = index == len(route) - 1
        if option in _CHANGES or changed or passed_m > sample_factor or last:
            kept.append(index)
            passed_m = 0.0
        elif index > 0:
            passed_m += pose.location.distance(route[index - 1][0].location)
        before = option
    return kept


def interpolate_trajectory(
    waypoints_trajectory: list[Any], hop_resolution: float = 1.0
) -> tuple[list[Any], list[Any]]:
    """The dense route through some locations: in GPS, and as poses with options."""
    planner = GlobalRoutePlanner(CarlaDataProvider.get_map(), hop_resolution)
    route: list[tuple[Any, Any]] = []
    for start, end in itertools.pairwise(waypoints_trajectory):
        found = planner.trace_route(start, end)
        route += [(waypoint.transform, option) for waypoint, option in found]
    return location_route_to_gps(route, *_get_latlon_ref(CarlaDataProvider.get_world())), route


def location_route_to_gps(
    route: list[tuple[Any, Any]], lat_ref: float, lon_ref: float
) -> list[tuple[dict[str, float], Any]]:
    """Poses with options as GPS with options."""
    return [(_location_to_gps(lat_ref, lon_ref, pose.location), option) for pose, option in route]


def _location_to_gps(lat_ref: float, lon_ref: float, location: Any) -> dict[str, float]:
    place = np.array([[location.x, location.y, location.z]])
    lat, lon, z = to_gps(place, (lat_ref, lon_ref))[0]
    return {"lat": float(lat), "lon": float(lon), "z": float(z)}


def _get_latlon_ref(world: Any) -> tuple[float, float]:
    reference: tuple[float, float] = route_reference_deg(fromstring(world.get_map().to_opendrive()))
    return reference
