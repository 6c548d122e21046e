"""Lanes of a town as a directed graph, built so that plans equal those of CARLA's planner.

Nodes are lane ends rounded to whole metres; edges are lanes between two ends (with their points a
step apart) and zero-length lane changes. Rounding joins lanes whose ends do not meet exactly, and
the order of insertion decides between equally long routes. Both affect the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.town import opendrive

LaneKey = tuple[int, int, int]  # road, section, lane


class RoadOption(IntEnum):
    """Command at a point of a route; agents expect these values."""

    VOID = -1
    LEFT = 1
    RIGHT = 2
    STRAIGHT = 3
    LANEFOLLOW = 4
    CHANGELANELEFT = 5
    CHANGELANERIGHT = 6


LANE_CHANGES: Final = (RoadOption.CHANGELANELEFT, RoadOption.CHANGELANERIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A lane between two nodes, or a change to the neighbouring lane."""

    option: RoadOption
    entry: Any  # carla.Waypoint
    exit: Any
    path: list[Any]  # waypoints between entry and exit
    in_junction: bool
    exit_way: FloatArray | None  # unit vector of travel at the exit
    chord: FloatArray | None  # unit vector from entry to exit


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSegment:
    """A lane between two lane ends, from the topology of the map."""

    entry: Any
    exit: Any
    path: list[Any]
    ends: tuple[tuple[float, ...], tuple[float, ...]]  # rounded positions


class LaneGraph:
    """The graph of a ``carla.Map`` with points ``step_m`` apart."""

    def __init__(self, carla_map: Any, step_m: float = 1.0) -> None:
        import networkx

        self.map = carla_map
        self.step_m = step_m
        self.graph = networkx.DiGraph()
        self.segments = _segments(carla_map, step_m)
        self._nodes: dict[tuple[float, ...], int] = {}
        self._lanes: dict[LaneKey, tuple[int, int]] = {}
        for segment in self.segments:
            self._add_segment(segment)
        self._add_loose_ends()
        for segment in self.segments:
            if not segment.entry.is_junction:
                self._add_lane_changes(segment)

    def edge(self, start: int, end: int) -> Edge:
        """Return the edge between two nodes."""
        edge: Edge = self.graph.edges[start, end]["edge"]
        return edge

    def lane_edge(self, waypoint: Any) -> tuple[int, int] | None:
        """Return the nodes of a waypoint's lane; None for a lane outside the topology."""
        return self._lanes.get(lane_key(waypoint))

    def locate(self, location: Any) -> tuple[int, int] | None:
        """Return the nodes of the driving lane nearest to a location."""
        return self.lane_edge(self.map.get_waypoint(location))

    def _node(self, place: tuple[float, ...]) -> int:
        if place not in self._nodes:
            self._nodes[place] = len(self._nodes)
            self.graph.add_node(self._nodes[place], place=np.array(place))
        return self._nodes[place]

    def _add_segment(self, segment: LaneSegment) -> None:
        start, end = (self._node(place) for place in segment.ends)
        self._lanes[lane_key(segment.entry)] = (start, end)
        first, last = segment.entry.transform, segment.exit.transform
        edge = Edge(
            option=RoadOption.LANEFOLLOW,
            entry=segment.entry,
            exit=segment.exit,
            path=segment.path,
            in_junction=segment.entry.is_junction,
            exit_way=_xyz(last.get_forward_vector()),
            chord=_xyz((last.location - first.location).make_unit_vector()),
        )
        self.graph.add_edge(start, end, edge=edge, length=len(segment.path) + 1)

    def _add_loose_ends(self) -> None:
        """Add the lanes that begin at the end of a segment but are not a segment themselves."""
        count = 0
        for segment in self.segments:
            key = lane_key(segment.exit)
            if key in self._lanes:
                continue
            count += 1
            start, end = self._nodes[segment.ends[1]], -count
            self._lanes[key] = (start, end)
            path = _along_lane(segment.exit, key, self.step_m)
            if path:
                self.graph.add_node(end, place=_xyz(path[-1].transform.location))
                edge = Edge(
                    option=RoadOption.LANEFOLLOW,
                    entry=segment.exit,
                    exit=path[-1],
                    path=path,
                    in_junction=segment.exit.is_junction,
                    exit_way=None,
                    chord=None,
                )
                self.graph.add_edge(start, end, edge=edge, length=len(path) + 1)

    def _add_lane_changes(self, segment: LaneSegment) -> None:
        """Add one change to each side, from the first point at which the marking allows it."""
        carla = opendrive.import_carla()
        start = self._nodes[segment.ends[0]]
        missing = [RoadOption.CHANGELANERIGHT, RoadOption.CHANGELANELEFT]
        for waypoint in segment.path:
            for option in tuple(missing):
                right = option is RoadOption.CHANGELANERIGHT
                allowed = carla.LaneChange.Right if right else carla.LaneChange.Left
                marking = waypoint.right_lane_marking if right else waypoint.left_lane_marking
                if not (marking and marking.lane_change & allowed):
                    continue
                beside = waypoint.get_right_lane() if right else waypoint.get_left_lane()
                if (
                    beside is None
                    or beside.lane_type != carla.LaneType.Driving
                    or beside.road_id != waypoint.road_id
                ):
                    continue
                target = self.locate(beside.transform.location)
                if target is None:
                    continue
                edge = Edge(
                    option=option,
                    entry=waypoint,
                    exit=beside,
                    path=[],
                    in_junction=False,
                    exit_way=None,
                    chord=None,
                )
                self.graph.add_edge(start, target[0], edge=edge, length=0)
                missing.remove(option)
            if not missing:
                return


def waypoint_poses(waypoints: Sequence[Any]) -> FloatArray:
    """Return x, y, z in metres and yaw in degrees of waypoints, (n, 4)."""
    poses = [waypoint.transform for waypoint in waypoints]
    return np.array([(p.location.x, p.location.y, p.location.z, p.rotation.yaw) for p in poses])


def lane_points(waypoints: Sequence[Any]) -> FloatArray:
    """Return x, y, z in metres and yaw in radians of waypoints, (n, 4)."""
    points = waypoint_poses(waypoints)
    points[:, 3] = np.deg2rad(points[:, 3])
    return points


def lane_key(waypoint: Any) -> LaneKey:
    """Road, section and lane of a waypoint."""
    return waypoint.road_id, waypoint.section_id, waypoint.lane_id


def _segments(carla_map: Any, step_m: float) -> list[LaneSegment]:
    segments = []
    for entry, leave in carla_map.get_topology():
        path = _between(entry, leave, step_m)
        if path is None:
            continue
        ends = tuple(
            tuple(float(value) for value in np.round(_xyz(point.transform.location), 0))
            for point in (entry, leave)
        )
        segments.append(LaneSegment(entry=entry, exit=leave, path=path, ends=(ends[0], ends[1])))
    return segments


def _between(entry: Any, leave: Any, step_m: float) -> list[Any] | None:
    """Points of a lane between its ends; None for a short lane without a successor."""
    aim = leave.transform.location
    after = entry.next(step_m)
    if entry.transform.location.distance(aim) <= step_m:
        return [after[0]] if after else None
    path = []
    while after and after[0].transform.location.distance(aim) > step_m:
        path.append(after[0])
        after = after[0].next(step_m)
    return path


def _along_lane(waypoint: Any, key: LaneKey, step_m: float) -> list[Any]:
    path: list[Any] = []
    after = waypoint.next(step_m)
    while after and lane_key(after[0]) == key:
        path.append(after[0])
        after = after[0].next(step_m)
    return path


def _xyz(vector: Any) -> FloatArray:
    return np.array([vector.x, vector.y, vector.z])
