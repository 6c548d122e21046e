"""Making way for an emergency vehicle that comes from behind: onto the next lane or the edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.agents.bypass import ASIDE, Bypass, Way, transition_m
from jaywalk.agents.frame import project
from jaywalk.agents.perception import Eyes, Own, Seen
from jaywalk.agents.road_room import Room, room_beside
from jaywalk.agents.route_line import STEP_M

_NEAR_M: Final = 60.0
_FASTER_MPS: Final = 0.5
_IN_LANE_M: Final = 2.0
_AGREE: Final = 0.7  # cosine of the angle between its heading and the line
_HOLD_M: Final = 60.0  # stay aside for so long ...
_LEAST_HOLD_M: Final = 12.0  # ... and for less it is not worth it
_BEFORE_JUNCTION_M: Final = 8.0  # to be back in the lane
_LEAST_ASIDE_M: Final = 2.2  # that another car gets past in the middle of the lane
_EDGE_M: Final = 0.1


@dataclass(slots=True)
class MakeWay:
    """Lays a way beside the own lane while one comes."""

    bypass: Bypass
    eyes: Eyes

    def update(self, own: Own, along_m: float, seen: Seen) -> None:
        """Go aside if an emergency vehicle comes and there is room to."""
        if self.bypass.way is not None or not self._comes(own, along_m, seen):
            return
        ways = [self._aside(own, along_m, right) for right in (True, False)]
        found = [way for way in ways if way is not None]
        # Onto a lane rather than over the edge of the road, whichever side it is on.
        for _, way in sorted(found, key=lambda one: one[0]):
            if self.bypass.take(way, own, along_m, seen):
                return

    def _comes(self, own: Own, along_m: float, seen: Seen) -> bool:
        """Whether one with its lights on is behind in the own lane and gains."""
        known = self.eyes.emergency
        if not known:
            return False
        mine = seen.where(np.array([one in known for one in seen.actor_id.tolist()], np.bool_))
        line, here = self.bypass.line, int(along_m / STEP_M)
        back = int((_NEAR_M + 20.0) / STEP_M)
        at, right, yaw = project(line, here - back, here + 2, mine.xy_m, mine.z_m)
        gap_m = along_m + own.rear_m - (at + mine.half_m[:, 0])
        pace = mine.velocity_mps[:, 0] * np.cos(yaw) + mine.velocity_mps[:, 1] * np.sin(yaw)
        agrees = mine.cos * np.cos(yaw) + mine.sin * np.sin(yaw) > _AGREE
        comes = (np.abs(right) < _IN_LANE_M) & agrees & (gap_m > 0.0) & (gap_m < _NEAR_M)
        comes &= (pace > own.speed_mps + _FASTER_MPS) | (gap_m < 0.5 * _NEAR_M)
        return bool(comes.any()) and bool(self.eyes.lit() & set(mine.actor_id[comes].tolist()))

    def _aside(self, own: Own, along_m: float, right: bool) -> tuple[bool, Way] | None:
        """The way on one side, up to the next junction, and whether it is only the road's edge.

        None: there is neither a lane nor an edge.
        """
        line = self.bypass.line
        first = int(along_m / STEP_M)
        reach = first + int(2.0 * _HOLD_M / STEP_M)
        inside = np.flatnonzero(line.in_junction[first:reach])
        end_m = STEP_M * (first + int(inside[0])) if len(inside) else STEP_M * reach
        last = min(int(end_m / STEP_M), len(line) - 1)
        room = room_beside(self.bypass.carla_map, line, first, last - 1, right)
        offset = _offset_m(room, own.half_width_m)
        if offset < _LEAST_ASIDE_M:
            return None
        bend_m = transition_m(offset, own.speed_mps)
        from_m = along_m + bend_m + 1.0
        to_m = min(from_m + _HOLD_M, end_m - own.front_m - _BEFORE_JUNCTION_M)
        if to_m - from_m < _LEAST_HOLD_M:
            return None
        way = Way(
            offset_m=offset if right else -offset,
            from_m=from_m,
            to_m=to_m,
            transition_m=bend_m,
            back_m=bend_m,
            kind=ASIDE,
        )
        return not room.traffic, way


def _offset_m(room: Room, half_width_m: float) -> float:
    """To the middle of the lane beside, or as far as the edge lets one; 0: nowhere to go."""
    if room.traffic and not room.same_way:
        return 0.0
    middle_m = 0.5 * (room.own_m + room.all_m)
    return min(middle_m, room.all_m - half_width_m - _EDGE_M)
