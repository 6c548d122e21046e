"""The lanes of a map as flat arrays, with the match of poses to lanes and the way ahead.

Points are about one metre apart. Each point stores the next one; where lanes split, that is the
straightest continuation. Frame: CARLA's left-handed metres and radians.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.angle import wrap_angle
from jaywalk.geometry.path import arc_lengths, without_repeats
from jaywalk.town.lane_graph import LaneGraph, lane_key, lane_points
from jaywalk.town.opendrive import native_map

_NEIGHBOURS: Final = 8
_TURN_COST_M: Final = 3.0  # lateral distance within which a lane of the opposite heading counts
_LEVEL_M: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Lanes of a map; segment ``k`` owns the points ``starts[k]:starts[k + 1]``."""

    points: FloatArray  # (m, 4): x, y, z, yaw
    starts: IntArray  # (n + 1,)
    segment: IntArray  # (m,) of each point
    along_m: FloatArray  # (m,) of each point on its segment
    after: IntArray  # (m,) the next point, straight ahead; the point itself at a dead end
    in_junction: NDArray[np.bool_]  # (n,)
    successors: list[list[int]]
    predecessors: list[list[int]]
    tree: Any  # scipy's, over x and y

    def line(self, segment: int) -> FloatArray:
        """Return the points of a segment."""
        return self.points[self.starts[segment] : self.starts[segment + 1]]

    def length_m(self, segment: int) -> float:
        """Return the length of a segment."""
        return float(self.along_m[self.starts[segment + 1] - 1])

    def match(
        self, xy_m: FloatArray, z_m: FloatArray, yaw_rad: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Return the lane point of each pose and the misfit in metres; below 2 is a match."""
        if not len(xy_m):
            return np.zeros(0, np.int64), np.zeros(0)
        _, near = self.tree.query(xy_m, k=_NEIGHBOURS)
        points = self.points[near]
        dx, dy = xy_m[:, None, 0] - points[:, :, 0], xy_m[:, None, 1] - points[:, :, 1]
        yaw = points[:, :, 3]
        aside = np.abs(-dx * np.sin(yaw) + dy * np.cos(yaw))
        ahead = np.abs(dx * np.cos(yaw) + dy * np.sin(yaw))
        turn = 1.0 - np.cos(yaw - yaw_rad[:, None])
        misfit = aside + np.maximum(ahead - 1.0, 0.0) + _TURN_COST_M * turn
        misfit = np.where(np.abs(points[:, :, 2] - z_m[:, None]) < _LEVEL_M, misfit, 1e3)
        best = np.argmin(misfit + 0.01 * ahead, axis=1)
        rows = np.arange(len(xy_m))
        return near[rows, best], misfit[rows, best]

    def candidates(self, xy_m: FloatArray, yaw_rad: float, within_m: float) -> IntArray:
        """Return the lane points near a place with a similar direction, the nearest per segment."""
        near = np.array(self.tree.query_ball_point(xy_m, within_m), dtype=np.int64)
        if not len(near):
            return near
        near = near[np.cos(self.points[near, 3] - yaw_rad) > 0.8]
        gaps = np.hypot(*(self.points[near, :2] - xy_m).T)
        near = near[np.argsort(gaps, kind="stable")]
        _, first = np.unique(self.segment[near], return_index=True)
        return np.asarray(near[first])

    def ahead(self, point: IntArray, steps: int) -> IntArray:
        """Return the points ahead of each point, ``(n, steps + 1)``."""
        result = np.empty((len(point), steps + 1), np.int64)
        result[:, 0] = point
        for k in range(steps):
            result[:, k + 1] = self.after[result[:, k]]
        return result


def lanes_of(carla_map: Any) -> Lanes:
    """Return the lanes of a map; the results for the latest maps are cached."""
    return _built(str(carla_map.to_opendrive()))


@lru_cache(maxsize=3)
def _built(opendrive: str) -> Lanes:
    # A separate map: waypoints of an episode's map must not outlive it.
    carla_map = native_map("lanes", opendrive)
    graph = LaneGraph(carla_map)
    first: dict[tuple[int, int, int], int] = {}
    lines: list[FloatArray] = []
    junction: list[bool] = []
    exits: list[set[tuple[int, int, int]]] = []
    for segment in graph.segments:
        key = lane_key(segment.entry)
        if key not in first:
            first[key] = len(lines)
            lines.append(_line(segment))
            junction.append(bool(segment.entry.is_junction))
            exits.append(set())
        exits[first[key]].add(lane_key(segment.exit))
    for key, line in _left_out(carla_map, set(first)).items():
        first[key] = len(lines)
        lines.append(line)
        junction.append(False)
        exits.append(set())
    successors = [
        sorted(first[key] for key in group if key in first and first[key] != me)
        for me, group in enumerate(exits)
    ]
    return _arranged(lines, junction, successors)


def _left_out(
    carla_map: Any, known: set[tuple[int, int, int]]
) -> dict[tuple[int, int, int], FloatArray]:
    """Return the dead-end lanes, which the map's topology does not list."""
    groups: dict[tuple[int, int, int], list[Any]] = {}
    for waypoint in carla_map.generate_waypoints(1.0):
        key = lane_key(waypoint)
        if key not in known:
            groups.setdefault(key, []).append(waypoint)
    return {
        key: _points(sorted(group, key=lambda w: w.s, reverse=key[2] > 0))
        for key, group in sorted(groups.items())
    }


def _line(segment: Any) -> FloatArray:
    return _points([segment.entry, *segment.path])


def _points(waypoints: list[Any]) -> FloatArray:
    return without_repeats(lane_points(waypoints), 0.05)


def _arranged(lines: list[FloatArray], junction: list[bool], successors: list[list[int]]) -> Lanes:
    counts = [len(line) for line in lines]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    points = np.concatenate(lines)
    along = np.concatenate([arc_lengths(line) for line in lines])
    after = np.arange(1, len(points) + 1, dtype=np.int64)
    predecessors: list[list[int]] = [[] for _ in lines]
    for me, group in enumerate(successors):
        for other in group:
            predecessors[other].append(me)
        last = int(starts[me + 1]) - 1
        after[last] = int(starts[_straightest(points, starts, me, group)]) if group else last
    return Lanes(
        points=points,
        starts=starts,
        along_m=along,
        after=after,
        segment=np.repeat(np.arange(len(lines)), counts),
        in_junction=np.array(junction),
        successors=successors,
        predecessors=predecessors,
        tree=cKDTree(points[:, :2]),
    )


def _straightest(points: FloatArray, starts: IntArray, me: int, group: list[int]) -> int:
    """Return the continuation that turns least over its whole length."""
    yaw = points[starts[me + 1] - 1, 3]
    turns = [abs(wrap_angle(points[starts[k + 1] - 1, 3] - yaw)) for k in group]
    return group[int(np.argmin(turns))]
