"""Speed limit, lane width and junctions along a line, from the server's map."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.town.opendrive import parse_opendrive
from jaywalk.town.roads import Lane, LaneSection, Road, lane_speed_kmh, read_roads

_EVERY: Final = 4  # samples of the line between two queries to the map
_LANE_M: Final = 3.5


@lru_cache(maxsize=4)
def _roads_of(opendrive: str) -> dict[int, Road]:
    return {road.road_id: road for road in read_roads(parse_opendrive(opendrive, "the map"))}


def limits_along(
    carla_map: Any, places_m: FloatArray, default_mps: float
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return limit (m/s), lane width (m) and whether it is a junction, at every place.

    The limit is that of the lane's record, else that of the road, else ``default_mps``.
    """
    roads = _roads_of(carla_map.to_opendrive())
    asked = np.unique(np.append(np.arange(0, len(places_m), _EVERY), len(places_m) - 1))
    rows = [_at(carla_map, roads, place, default_mps) for place in places_m[asked]]
    values = np.array(rows, dtype=np.float64)
    nearest = np.searchsorted(asked, np.arange(len(places_m)), side="right") - 1
    limit, width = values[nearest, 0], values[nearest, 1]
    return limit, width, values[nearest, 2] > 0.5


def _at(
    carla_map: Any, roads: dict[int, Road], place_m: FloatArray, default_mps: float
) -> tuple[float, float, float]:
    waypoint = carla_map.get_waypoint(carla.Location(*(float(value) for value in place_m)))
    if waypoint is None:
        return default_mps, _LANE_M, 0.0
    kmh = float("nan")
    road = roads.get(waypoint.road_id)
    if road is not None:
        lane = _lane(road, waypoint)
        kmh = lane_speed_kmh(road, lane, waypoint.s) if lane else road.speed_kmh(waypoint.s)
    limit = kmh / MPS_TO_KMH if kmh == kmh else default_mps
    return limit, float(waypoint.lane_width), float(waypoint.is_junction)


def _lane(road: Road, waypoint: Any) -> Lane | None:
    sections: tuple[LaneSection, ...] = road.sections
    if not 0 <= waypoint.section_id < len(sections):
        return None
    section = sections[waypoint.section_id]
    lane_id = int(waypoint.lane_id)
    return next((k for k in (*section.left, *section.right) if k.lane_id == lane_id), None)
