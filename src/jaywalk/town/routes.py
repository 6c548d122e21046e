"""Dense routes: keypoints become points a metre apart with road options.

The planner returns the same points and options as CARLA's global route planner (checked against
it), without CARLA's ``agents`` package. Thinning follows the routes that the Leaderboard gives to
agents.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.path import Path, arc_lengths
from jaywalk.town import opendrive
from jaywalk.town.lane_graph import LANE_CHANGES, Edge, LaneGraph, RoadOption

Point = tuple[float, float, float]

_STRAIGHT_RAD: Final = math.radians(35.0)
_CHANGE_POINTS: Final = 5  # a lane change ends this many points later
_NONE: Final = -1


@dataclass(frozen=True, kw_only=True)
class DenseRoute:
    """A route in the form that agents receive. Frame: CARLA's left-handed metres and degrees."""

    position_m: FloatArray  # (n, 3)
    rotation_deg: FloatArray  # (n, 3): pitch, yaw, roll
    option: NDArray[np.int8]  # (n,) of RoadOption
    lane: NDArray[np.int64]  # (n, 3): road, section, lane
    in_junction: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.option)

    @cached_property
    def path(self) -> Path:
        """The points as a path."""
        return Path(self.position_m, arc_lengths(self.position_m))

    @property
    def along_m(self) -> FloatArray:
        """Distance of each point along the route, in the plane."""
        return self.path.arc_m

    @cached_property
    def yaw_rad(self) -> FloatArray:
        """Headings, clockwise from above."""
        return np.deg2rad(self.rotation_deg[:, 1])


class RoutePlanner:
    """Planner for one town; building it takes a fraction of a second, so reuse it."""

    def __init__(self, carla_map: Any, step_m: float = 1.0) -> None:
        self._graph = LaneGraph(carla_map, step_m)

    @property
    def graph(self) -> LaneGraph:
        """Lane graph of the town."""
        return self._graph

    def plan(self, keypoints_m: Sequence[Point]) -> DenseRoute:
        """Connect keypoints in order; the point at a join appears twice, as in CARLA.

        Raises:
            UsageError: Fewer than two keypoints.
            DataError: No lane leads from one keypoint to the next.
        """
        if len(keypoints_m) < 2:
            raise UsageError(f"A route needs at least 2 keypoints, got {len(keypoints_m)}.")
        tracer = _Tracer(self._graph)
        pairs = itertools.pairwise(keypoints_m)
        points: list[tuple[Any, RoadOption]] = []
        for number, (origin, aim) in enumerate(pairs, 1):
            points += tracer.trace(origin, aim, number)
        if not points:
            raise DataError("The route is empty: its keypoints lie on the same spot.")
        return _dense(points)

    def trace(self, origin_m: Point, aim_m: Point) -> list[tuple[Any, RoadOption]]:
        """Return the waypoints with road options from one position to another.

        Raises:
            DataError: No lane leads to the second position.
        """
        return _Tracer(self._graph).trace(origin_m, aim_m, 1)


class _Tracer:
    """State of one plan; decisions at a junction last beyond a pair of keypoints, as in CARLA."""

    def __init__(self, graph: LaneGraph) -> None:
        self._graph = graph
        self._location = opendrive.import_carla().Location
        self._decision = RoadOption.VOID
        self._junction_end = _NONE

    def trace(self, origin: Point, aim: Point, number: int) -> list[tuple[Any, RoadOption]]:
        start, end = self._location(*origin), self._location(*aim)
        nodes = self._search(start, end, number)
        map_ = self._graph.map
        current, target = map_.get_waypoint(start), map_.get_waypoint(end)
        points: list[tuple[Any, RoadOption]] = []
        for index in range(len(nodes) - 1):
            option = self._decide(index, nodes)
            edge = self._graph.edge(nodes[index], nodes[index + 1])
            if edge.option is not RoadOption.LANEFOLLOW:
                points.append((current, option))
                current = self._after_change(edge, current)
                points.append((current, option))
                continue
            path = [edge.entry, *edge.path, edge.exit]
            first = _nearest(current, path)
            last = index == len(nodes) - 2
            behind = last and first > _nearest(target, path)
            for waypoint in path[first:]:
                current = waypoint
                points.append((current, option))
                if last and self._arrived(waypoint, end, target, behind):
                    break
        return points

    def _search(self, start: Any, end: Any, number: int) -> list[int]:
        ends = [self._graph.locate(place) for place in (start, end)]
        for node, place in zip(ends, (start, end), strict=True):
            if node is None:
                raise DataError(f"Leg {number}: no lane of the town's network at {_told(place)}.")
        from_edge, to_edge = ends
        assert from_edge is not None
        assert to_edge is not None
        import networkx

        graph = self._graph.graph
        try:
            nodes: list[int] = networkx.astar_path(
                graph, from_edge[0], to_edge[0], heuristic=self._beeline, weight="length"
            )
        except networkx.NetworkXNoPath as error:
            raise DataError(
                f"Leg {number}: no way from {_told(start)} to {_told(end)}; move a keypoint to a "
                "lane of the right direction."
            ) from error
        return [*nodes, to_edge[1]]

    def _beeline(self, first: int, second: int) -> float:
        nodes = self._graph.graph.nodes
        return float(np.linalg.norm(nodes[first]["place"] - nodes[second]["place"]))

    def _after_change(self, edge: Edge, current: Any) -> Any:
        lane = self._graph.lane_edge(edge.exit)
        assert lane is not None
        beside = self._graph.edge(*lane)
        if not beside.path:
            return beside.exit
        at = _nearest(current, beside.path) + _CHANGE_POINTS
        return beside.path[min(at, len(beside.path) - 1)]

    def _arrived(self, waypoint: Any, end: Any, target: Any, behind: bool) -> bool:
        if waypoint.transform.location.distance(end) < 2.0 * self._graph.step_m:
            return True
        return behind and (
            waypoint.road_id == target.road_id
            and waypoint.section_id == target.section_id
            and waypoint.lane_id == target.lane_id
        )

    def _decide(self, index: int, nodes: list[int]) -> RoadOption:
        """Return the option of the edge that leaves ``nodes[index]``."""
        ahead = self._graph.edge(nodes[index], nodes[index + 1])
        option: RoadOption | None = ahead.option
        if index > 0:
            enters = ahead.option is RoadOption.LANEFOLLOW and ahead.in_junction
            inside = (
                self._decision is not RoadOption.VOID
                and self._junction_end > 0
                and self._junction_end != nodes[index - 1]
            )
            if inside and enters:
                option = self._decision
            else:
                self._junction_end = _NONE
                behind = self._graph.edge(nodes[index - 1], nodes[index])
                follows = behind.option is RoadOption.LANEFOLLOW and not behind.in_junction
                if follows and enters:
                    option = self._turn(index, nodes, behind)
                    if option is None:  # a lane without directions: decided, not remembered
                        return ahead.option
        assert option is not None
        self._decision = option
        return option

    def _turn(self, index: int, nodes: list[int], behind: Edge) -> RoadOption | None:
        """Return straight within 35 degrees, else compare the other edges through the junction."""
        tail = self._graph.edge(nodes[index], nodes[index + 1])
        for start, end in itertools.pairwise(nodes[index:]):
            edge = self._graph.edge(start, end)
            if edge.option is not RoadOption.LANEFOLLOW or not edge.in_junction:
                break
            tail, self._junction_end = edge, end
        if behind.exit_way is None or tail.exit_way is None:
            return None
        others = []
        for node in self._graph.graph.successors(nodes[index]):
            edge = self._graph.edge(nodes[index], node)
            if (
                edge.option is RoadOption.LANEFOLLOW
                and node != nodes[index + 1]
                and edge.chord is not None
            ):
                others.append(_cross(behind.exit_way, edge.chord))
        mine = _cross(behind.exit_way, tail.exit_way)
        if _angle(behind.exit_way, tail.exit_way) < _STRAIGHT_RAD:
            return RoadOption.STRAIGHT
        others = others or [0.0]
        if mine < min(others):
            return RoadOption.LEFT
        if mine > max(others):
            return RoadOption.RIGHT
        return RoadOption.LEFT if mine < 0.0 else RoadOption.RIGHT


def thin_route(route: DenseRoute, spacing_m: float) -> NDArray[np.int64]:
    """Return the indices of the points that the Leaderboard gives to agents.

    These are the first and last point, every lane-change point, each point where the option changes
    (unless a lane change ends there) and a point after each distance of more than ``spacing_m``.
    """
    kept: list[int] = []
    passed_m = 0.0
    for index in range(len(route)):
        option = RoadOption(int(route.option[index]))
        before = RoadOption(int(route.option[index - 1])) if index else None
        if (
            before is None
            or option in LANE_CHANGES
            or (before is not option and before not in LANE_CHANGES)
            or passed_m > spacing_m
            or index == len(route) - 1
        ):
            kept.append(index)
            passed_m = 0.0
        else:
            step = route.position_m[index] - route.position_m[index - 1]
            passed_m += float(np.linalg.norm(step))
    return np.array(kept, dtype=np.int64)


def _dense(points: list[tuple[Any, RoadOption]]) -> DenseRoute:
    poses = [waypoint.transform for waypoint, _ in points]
    return DenseRoute(
        position_m=np.array([(p.location.x, p.location.y, p.location.z) for p in poses]),
        rotation_deg=np.array([(p.rotation.pitch, p.rotation.yaw, p.rotation.roll) for p in poses]),
        option=np.array([int(option) for _, option in points], dtype=np.int8),
        lane=np.array([(w.road_id, w.section_id, w.lane_id) for w, _ in points], dtype=np.int64),
        in_junction=np.array([w.is_junction for w, _ in points], dtype=np.bool_),
    )


def _nearest(waypoint: Any, path: list[Any]) -> int:
    """Index of the first nearest point, by CARLA's single-precision distance."""
    place = waypoint.transform.location
    distances = [other.transform.location.distance(place) for other in path]
    return int(np.argmin(distances))


def _cross(first: FloatArray, second: FloatArray) -> float:
    return float(first[0] * second[1] - first[1] * second[0])


def _angle(first: FloatArray, second: FloatArray) -> float:
    norms = np.linalg.norm(first) * np.linalg.norm(second)
    return math.acos(min(max(float(np.dot(first, second) / norms), -1.0), 1.0))


def _told(place: Any) -> str:
    return f"({place.x:.1f}, {place.y:.1f}, {place.z:.1f})"
