"""Outside route lanes: the share of the distance driven off the road or on a wrong lane.

A wrong lane is a lane of the opposite direction.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.driving.criteria._ending import is_active
from jaywalk.metrics.driving.criteria._rules import Event, Rules
from jaywalk.metrics.driving.criteria._scene import CriteriaScene
from jaywalk.metrics.driving.criteria._track import CriteriaRoute
from jaywalk.town.waypoints import LanesUnder

_MAX_EGO_DEG: Final = 120.0
_MAX_LANE_DEG: Final = 150.0


def is_wrong_lane(
    lanes: LanesUnder, ego_yaw_deg: NDArray[np.float64], *, change_forgives: bool = False
) -> NDArray[np.bool_]:
    """Return whether each row is on a wrong lane.

    Rows in a junction never are. After a junction the ego's heading decides. Elsewhere a change to
    a lane of roughly the opposite direction inverts the answer, so that only lane changes matter.
    With ``change_forgives``, a change between lanes of one direction makes the lane right.
    """
    n = len(lanes.road)
    out = np.zeros(n, np.bool_)
    wrong = False
    changed = np.ones(n, np.bool_)
    changed[1:] = (np.diff(lanes.road) != 0) | (np.diff(lanes.lane) != 0)
    for row in range(n):
        before = max(row - 1, 0)
        if lanes.in_junction[row]:
            wrong = False
        elif changed[row]:
            if lanes.in_junction[before]:
                off = (lanes.yaw_deg[row] - ego_yaw_deg[row]) % 360.0
                wrong = not (off < _MAX_EGO_DEG or off > 360.0 - _MAX_EGO_DEG)
            else:
                off = (lanes.yaw_deg[before] - lanes.yaw_deg[row]) % 360.0
                if _MAX_LANE_DEG < off < 360.0 - _MAX_LANE_DEG:
                    wrong = not wrong
                elif change_forgives:
                    wrong = False
        out[row] = wrong
    return out


_WINDOW: Final = 3


def find_outside_lanes(scene: CriteriaScene, rules: Rules) -> list[Event]:
    """One event with the final percentage, or none. Its row is the last that changed it."""
    if scene.route is None:
        return []
    track = scene.track
    driving = scene.lanes.under(track.place_m)
    off = np.zeros(len(track), np.bool_)
    # Nearer to a lane's centre than the margin, no parking lane can make a difference.
    asked = np.flatnonzero(driving.distance_m > rules.lane_margin_m)
    parking = scene.lanes.under(track.place_m[asked], "parking")
    off[asked] = is_off_lane(driving.rows(asked), parking, rules.lane_margin_m)
    forgives = rules.lane_change_forgives
    wrong = is_wrong_lane(driving, track.rotation_deg[:, 1], change_forgives=forgives)
    counts, _ = is_active(scene, rules, "wrong_lane")
    total_m, outside_m, row = _measure(scene.route, track.place_m, off | (counts & wrong))
    if outside_m == 0.0:
        return []
    percent = outside_m / total_m * 100.0
    message = (
        f"Agent went outside its route lanes for about {round(outside_m, 3)} meters "
        f"({round(percent, 2)}% of the completed route)"
    )
    return [Event(key="outside_route_lanes", row=row, message=message, value=percent)]


def is_off_lane(driving: LanesUnder, parking: LanesUnder, margin_m: float) -> NDArray[np.bool_]:
    """Return whether each row is outside the nearest driving lane and the nearest parking lane."""
    parked = driving.distance_m >= parking.distance_m
    distance = np.where(parked, parking.distance_m, driving.distance_m)
    width = np.where(parked, parking.width_m, driving.width_m)
    return np.asarray(distance > width / 2.0 + margin_m, np.bool_)


def _measure(
    route: CriteriaRoute, places_m: NDArray[np.float64], outside: NDArray[np.bool_]
) -> tuple[float, float, int]:
    """Metres passed, metres of them outside, and the row of the last change after a first one."""
    points, ways = route.points_m.tolist(), route.forward.tolist()
    index, total_m, outside_m, last_row = 0, 0.0, 0.0, 0
    for row, (x, y, z) in enumerate(places_m.tolist()):
        for k in range(index + 1, min(index + _WINDOW + 1, len(points))):
            (px, py, pz), (fx, fy, fz) = points[k], ways[k]
            if (x - px) * fx + (y - py) * fy + (z - pz) * fz <= 0.0:
                continue
            step_m = float(np.linalg.norm(route.points_m[index] - route.points_m[k]))
            total_m += step_m
            if outside[row]:
                outside_m += step_m
            if outside_m:
                last_row = row
            index = k
    return total_m, outside_m, last_row
