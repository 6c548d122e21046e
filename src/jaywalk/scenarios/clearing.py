"""Lanes that belong to a route: nobody else uses them where two routes are to be compared."""

from __future__ import annotations

from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.town.routes import DenseRoute

_MOST_LANES: Final = 6  # to either side


def lanes_abreast(world_map: Any, route: DenseRoute) -> NDArray[np.float64]:
    """Points (n, 4: x, y, z, yaw in radians) of the route and of all driving lanes beside it.

    It depends on the route alone, so both routes of a counterfactual pair close the same lanes,
    whatever their scenarios are: a difference between them can reach nobody but the ego.
    """
    rows = [
        (*place, np.deg2rad(yaw))
        for place, yaw in zip(
            route.position_m.tolist(), route.rotation_deg[:, 1].tolist(), strict=True
        )
    ]
    for place in route.position_m[~route.in_junction].tolist():
        lane = world_map.get_waypoint(carla.Location(*place))
        for to_right in (True, False):
            rows += _beside(lane, to_right)
    return np.array(rows, dtype=np.float64)


def _beside(lane: Any, to_right: bool) -> list[tuple[float, float, float, float]]:
    found, current = [], lane
    for _ in range(_MOST_LANES):
        same_way = current.lane_id * lane.lane_id > 0  # left and right swap over the middle
        current = current.get_right_lane() if to_right == same_way else current.get_left_lane()
        if current is None:
            break
        if current.lane_type == carla.LaneType.Driving:
            pose = current.transform
            spot = pose.location
            found.append((spot.x, spot.y, spot.z, float(np.deg2rad(pose.rotation.yaw))))
    return found
