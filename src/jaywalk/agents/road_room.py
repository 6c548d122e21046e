"""How much road lies beside a lane, and which way it is driven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from jaywalk.agents.route_line import STEP_M, RouteLine

_EVERY_M: Final = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Room on one side of the lane's centre over a stretch."""

    own_m: float  # to the lane's own edge
    all_m: float  # to the far edge of the neighbouring lane
    same_way: bool  # the neighbour is driven in the same direction
    traffic: bool  # the neighbour carries traffic at all


def room_beside(carla_map: Any, line: RouteLine, first: int, last: int, right: bool) -> Room:
    """The least room on one side between two samples of a line."""
    own, whole, same, traffic = np.inf, np.inf, True, False
    step = int(_EVERY_M / STEP_M)
    for k in range(max(first, 0), min(last + step, len(line)), step):
        x, y, z = (float(value) for value in line.base_m[k])
        waypoint = carla_map.get_waypoint(carla.Location(x, y, z))
        half = 0.5 * float(waypoint.lane_width)
        own = min(own, half)
        # The map's left and right follow the lane, which may be matched from its other side.
        against = np.cos(np.deg2rad(waypoint.transform.rotation.yaw) - line.base_yaw_rad[k]) < 0.0
        beside = waypoint.get_right_lane() if right != against else waypoint.get_left_lane()
        if beside is None or not _drivable(beside):
            whole = min(whole, half)
            continue
        whole = min(whole, half + float(beside.lane_width))
        if beside.lane_type in (carla.LaneType.Driving, carla.LaneType.Bidirectional):
            traffic = True
            same &= waypoint.lane_id * beside.lane_id > 0
    return Room(own_m=float(own), all_m=float(whole), same_way=bool(same), traffic=traffic)


def _drivable(waypoint: Any) -> bool:
    kinds = carla.LaneType
    return waypoint.lane_type in (
        kinds.Driving, kinds.Bidirectional, kinds.Parking, kinds.Shoulder, kinds.Biking
    )  # fmt: skip
