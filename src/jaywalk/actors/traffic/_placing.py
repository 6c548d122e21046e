"""Placement of background traffic: free spawn points, optionally near a route, and closed lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.spatial import cKDTree

from jaywalk.actors.lane_network import LaneNetwork
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.pose import yaw_rad

if TYPE_CHECKING:
    import carla

Circle = tuple[float, float, float]  # x, y, radius

_SPAWN_GAP_M: Final = 9.0
_SAME_M: Final = 1.2
_SAME_LEVEL_M: Final = 3.0
_SAME_COSINE: Final = 0.85
_PACE_SHARE: Final = 1.3
_TOUCHES: Final = 3  # with at least this many shared points, lanes share more than an end


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRules:
    """Areas to fill with cars and areas to keep clear. Frame: CARLA's left-handed metres."""

    clear: tuple[Circle, ...] = ()  # no cars in these
    near_m: FloatArray | None = None  # (n, 2) points; places near them come first
    reach_m: float = 120.0
    only_near: bool = False  # use no places farther away


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnPlace:
    """A spawn point with its number on the map, which names the car's random streams."""

    number: int
    pose: carla.Transform


def free_places(
    poses: list[carla.Transform],
    random: np.random.Generator,
    wishes: PlacementRules,
    network: LaneNetwork,
    closed: frozenset[int],
) -> Iterator[SpawnPlace]:
    """Yield spawn points in random order, preferred ones first, apart and outside clear areas.

    The order is drawn over all points, so keeping an area clear does not change the other cars.
    """
    spots = np.array([(pose.location.x, pose.location.y) for pose in poses]).reshape(-1, 2)
    order = random.permutation(len(poses))
    if wishes.near_m is not None and len(wishes.near_m) and len(poses):
        gap_m = cKDTree(wishes.near_m).query(spots)[0]
        far = gap_m[order] > wishes.reach_m
        order = order[~far] if wishes.only_near else order[np.argsort(far, kind="stable")]
    kept = np.zeros((0, 2))
    for number in order.tolist():
        spot = spots[number]
        if any(np.hypot(spot[0] - x, spot[1] - y) < radius for x, y, radius in wishes.clear):
            continue
        if len(kept) and np.hypot(*(kept - spot).T).min() <= _SPAWN_GAP_M:
            continue
        segment = segment_at(network, poses[number])
        if segment in closed or not network.successors[segment]:  # closed, or a dead end ahead
            continue
        kept = np.concatenate([kept, spot[None]])
        yield SpawnPlace(number=number, pose=poses[number])


def segment_at(network: LaneNetwork, pose: carla.Transform) -> int:
    """Return the lane that a car stands on: the nearest point with the same direction."""
    yaw = yaw_rad(pose)
    points = network.points
    gap = np.hypot(points[:, 0] - pose.location.x, points[:, 1] - pose.location.y)
    gap = gap + np.abs(points[:, 2] - pose.location.z) + 5.0 * (1.0 - np.cos(points[:, 3] - yaw))
    best = int(np.argmin(gap))
    return int(np.searchsorted(network.starts, best, side="right") - 1)


def closed_segments(
    network: LaneNetwork, ways: Iterable[FloatArray], pace_of: FloatArray | None = None
) -> frozenset[int]:
    """Return the lanes along some paths, and those that lead only to such lanes.

    Args:
        network: The lanes.
        ways: Arrays (n, 4): x, y, z, yaw in radians.
        pace_of: A path; lanes with a much higher speed limit than any on it are closed too.
    """
    closed = _along(network, ways)
    if pace_of is not None:
        closed |= _faster(network, pace_of)
    return _with_approaches(network, closed)


def _faster(network: LaneNetwork, way: FloatArray) -> set[int]:
    """Return the lanes with a much higher speed limit than any lane of a path."""
    on_way = cKDTree(way[:, :2]).query(network.points[:, :2])[0] < _SAME_M
    limit = np.nan_to_num(network.limit_mps)
    if not on_way.any():
        return set()
    fastest = np.maximum.reduceat(limit, network.starts[:-1])
    return set(np.flatnonzero(fastest > _PACE_SHARE * limit[on_way].max()).tolist())


def _along(network: LaneNetwork, ways: Iterable[FloatArray]) -> set[int]:
    rows = [way for way in ways if len(way)]
    if not rows:
        return set()
    points = np.concatenate(rows)
    gap_m, nearest = cKDTree(points[:, :2]).query(network.points[:, :2])
    other = points[nearest]
    same = gap_m < _SAME_M
    same &= np.abs(network.points[:, 2] - other[:, 2]) < _SAME_LEVEL_M
    same &= np.cos(network.points[:, 3] - other[:, 3]) > _SAME_COSINE
    touched = np.add.reduceat(same, network.starts[:-1])
    sizes = np.diff(network.starts)
    return set(np.flatnonzero(touched >= np.minimum(_TOUCHES, sizes)).tolist())


def _with_approaches(network: LaneNetwork, closed: set[int]) -> frozenset[int]:
    """Add the lanes that lead only to closed ones."""
    changed = True
    while changed:
        changed = False
        for segment, group in enumerate(network.successors):
            if segment not in closed and group and all(after in closed for after in group):
                closed.add(segment)
                changed = True
    return frozenset(closed)
