"""Room for a bypass: the road beside a lane, and the obstacles that stand on the lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.pose import yaw_rad

_EVERY_M: Final = 4.0
_CLUSTER_M: Final = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Room on one side of the lane's centre over a stretch."""

    own_m: float  # to the lane's own edge
    all_m: float  # to the far edge of the neighbouring lane
    same_way: bool  # the neighbouring lane has the same direction
    traffic: bool  # the neighbouring lane carries traffic


def room_beside(carla_map: Any, line: RouteLine, first: int, last: int, right: bool) -> Room:
    """Return the least room on one side between two samples of a line."""
    own, whole, same, traffic = np.inf, np.inf, True, False
    step = int(_EVERY_M / STEP_M)
    for k in range(max(first, 0), min(last + step, len(line)), step):
        x, y, z = (float(value) for value in line.base_m[k])
        waypoint = carla_map.get_waypoint(carla.Location(x, y, z))
        half = 0.5 * float(waypoint.lane_width)
        own = min(own, half)
        # The map's left and right depend on the lane's direction, which may oppose the line's.
        against = np.cos(yaw_rad(waypoint.transform) - line.base_yaw_rad[k]) < 0.0
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
        kinds.Driving,
        kinds.Bidirectional,
        kinds.Parking,
        kinds.Shoulder,
        kinds.Biking,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Group of standing actors that the ego goes round on one side."""

    from_m: float
    to_m: float
    edge_m: float  # its extent to that side of the lane's centre, room included
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingObstacle:
    """Standing actors in coordinates of the line, one row each."""

    from_m: FloatArray
    to_m: FloatArray
    left_m: FloatArray  # edges, right of the lane's centre; negative to the left
    right_m: FloatArray
    side_m: FloatArray  # room to leave
    blocks: NDArray[np.bool_]
    actor_id: NDArray[np.int64]

    def grown(self, right: bool, width_m: float) -> Obstacle:
        """Return the first blocking actor together with all actors that its bypass would meet.

        Actors that stand in the lane just beyond it are included, waiting or not: the ego cannot
        return before them.
        """
        near = self.right_m + self.side_m if right else -self.left_m + self.side_m
        far = self.left_m - self.side_m if right else -self.right_m - self.side_m
        in_lane = (self.left_m - self.side_m < 0.5 * width_m) & (
            self.right_m + self.side_m > -0.5 * width_m
        )
        blocks = np.flatnonzero(self.blocks)
        members = {int(blocks[np.argmin(self.from_m[blocks])])}
        while True:
            rows = list(members)
            begin, end = float(self.from_m[rows].min()), float(self.to_m[rows].max())
            edge = float(near[rows].max())
            along = (self.from_m < end + _CLUSTER_M) & (self.to_m > begin - _CLUSTER_M)
            close = (self.from_m < end + 6.0) & (self.to_m > begin - 6.0)
            meets = (far < edge + width_m) & (near > edge)
            behind = in_lane & (self.from_m >= begin)
            joined = np.flatnonzero((along & (self.blocks | behind)) | (close & meets))
            if members.issuperset(joined.tolist()):
                break
            members.update(joined.tolist())
        ids = tuple(sorted(int(self.actor_id[k]) for k in members))
        return Obstacle(from_m=begin, to_m=end, edge_m=edge, ids=ids)
