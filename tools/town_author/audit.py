"""Measures whether a town is fit to drive and walk in, through ``carla.Map`` alone."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

import carla
import networkx as nx
import shapely
from defusedxml import ElementTree

LaneKey = tuple[int, int, int]  # road, section, lane
STEP_M = 1.0
EXIT_M = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was measured; every ``missing``, ``broken`` or ``conflicts`` list should be empty."""

    load_s: float
    road_km: float
    junctions: int
    lanes: int
    dead_ends: list[LaneKey]
    strongly_connected: int
    largest_gap_m: float
    crosswalks: int
    crosswalks_broken: list[int]
    signals: dict[str, int]
    signals_missing: list[tuple[str, int]]
    lights_missing: list[tuple[str, int]]
    green_conflicts: list[tuple[str, str]]
    sidewalks: int
    sidewalks_short: list[tuple[int, int]]
    steepest_deg: float
    lane_end_errors: int


def _key(waypoint: Any) -> LaneKey:
    return int(waypoint.road_id), int(waypoint.section_id), int(waypoint.lane_id)


def _distance(a: Any, b: Any) -> float:
    return float(a.transform.location.distance(b.transform.location))


def _lane_exits(carla_map: Any, root: Element) -> Iterator[Any]:
    """A waypoint just before the end of every driving lane."""
    bounds = _section_bounds(root)
    for road in root.iter("road"):
        for number, section in enumerate(road.iter("laneSection")):
            start, end = bounds[(int(road.get("id", "0")), number)]
            for lane in section.iter("lane"):
                if lane.get("type") == "driving":
                    side = int(lane.get("id", "0"))
                    station = end - EXIT_M if side < 0 else start + EXIT_M
                    yield carla_map.get_waypoint_xodr(int(road.get("id", "0")), side, station)


def lane_graph(carla_map: Any, root: Element, waypoints: list[Any]) -> nx.DiGraph:
    """Driving lanes linked by succession and by permitted lane changes in one direction."""
    graph = nx.DiGraph()
    for waypoint in _lane_exits(carla_map, root):
        graph.add_node(_key(waypoint))
        for following in waypoint.next(2.0 * EXIT_M):
            if _key(following) != _key(waypoint):
                graph.add_edge(_key(waypoint), _key(following), link=True)
    for waypoint in waypoints:
        here = _key(waypoint)
        change = waypoint.lane_change
        for allowed, beside in (
            (carla.LaneChange.Left, waypoint.get_left_lane),
            (carla.LaneChange.Right, waypoint.get_right_lane),
        ):
            if change not in (allowed, carla.LaneChange.Both):
                continue
            other = beside()
            if other is None or other.lane_type != carla.LaneType.Driving:
                continue
            if other.lane_id * waypoint.lane_id > 0 and not graph.has_edge(here, _key(other)):
                graph.add_edge(here, _key(other), link=False)
    return graph


def _section_bounds(root: Element) -> dict[tuple[int, int], tuple[float, float]]:
    bounds = {}
    for road in root.iter("road"):
        starts = [float(section.get("s", "0")) for section in road.iter("laneSection")]
        ends = [*starts[1:], float(road.get("length", "0"))]
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            bounds[(int(road.get("id", "0")), number)] = (start, end)
    return bounds


def _largest_gap(carla_map: Any, root: Element, graph: nx.DiGraph) -> float:
    """Largest jump where one lane goes over into the next."""
    bounds = _section_bounds(root)

    def place(key: LaneKey, at_exit: bool) -> Any:
        start, end = bounds[key[:2]]
        forward = (key[2] < 0) == at_exit
        return carla_map.get_waypoint_xodr(key[0], key[2], end - 1e-4 if forward else start + 1e-4)

    largest = 0.0
    for a, b, link in graph.edges(data="link"):
        if link and a[:2] in bounds and b[:2] in bounds:
            first, second = place(a, True), place(b, False)
            if first is not None and second is not None:
                largest = max(largest, _distance(first, second))
    return largest


def crosswalk_polygons(carla_map: Any) -> list[list[tuple[float, float]]]:
    """Splits the flat list of corners where a polygon comes back to its first corner."""
    polygons: list[list[tuple[float, float]]] = []
    corners: list[tuple[float, float]] = []
    for location in carla_map.get_crosswalks():
        point = (location.x, location.y)
        if len(corners) >= 3 and math.dist(point, corners[0]) < 1e-3:
            polygons.append(corners)
            corners = []
        else:
            corners.append(point)
    if corners:
        polygons.append(corners)
    return polygons


def _signal_lanes(root: Element) -> Iterator[tuple[int, float, str, str, int]]:
    """Road, station, id, type and lane of every signal's validity."""
    for road in root.iter("road"):
        for signal in road.iter("signal"):
            for validity in signal.iter("validity"):
                yield (
                    int(road.get("id", "0")),
                    float(signal.get("s", "0")),
                    str(signal.get("id")),
                    str(signal.get("type")),
                    int(validity.get("fromLane", "0")),
                )


def _unseen(
    carla_map: Any, root: Element, before_m: float, kind: str | None = None
) -> list[tuple[str, int]]:
    """Signals that cannot be found on their lane from ``before_m`` ahead of them."""
    lengths = {
        int(road.get("id", "0")): float(road.get("length", "0")) for road in root.iter("road")
    }
    unseen = []
    for road, s_m, number, found_kind, lane in _signal_lanes(root):
        if kind is not None and found_kind != kind:
            continue
        station = s_m - before_m if lane < 0 else s_m + before_m
        station = min(max(station, 0.05), lengths[road] - 0.05)
        waypoint = carla_map.get_waypoint_xodr(road, lane, station)
        seen = waypoint.get_landmarks(before_m + 4.0) if waypoint is not None else []
        if number not in {landmark.id for landmark in seen}:
            unseen.append((number, lane))
    return unseen


def _paths(root: Element) -> dict[tuple[int, int], list[tuple[int, tuple[int, int]]]]:
    """Arriving road and lane -> its connecting roads, each with the road and lane it leads to."""
    onward: dict[int, tuple[int, int]] = {}
    for road in root.iter("road"):
        if road.get("junction") != "-1":
            successor = road.find("link/successor")
            lane = road.find("lanes/laneSection/right/lane/link/successor")
            if successor is not None and lane is not None:
                onward[int(road.get("id", "0"))] = (
                    int(successor.get("elementId", "0")),
                    int(lane.get("id", "0")),
                )
    paths: dict[tuple[int, int], list[tuple[int, tuple[int, int]]]] = {}
    for connection in root.iter("connection"):
        through = int(connection.get("connectingRoad", "0"))
        incoming = int(connection.get("incomingRoad", "0"))
        for link in connection.iter("laneLink"):
            paths.setdefault((incoming, int(link.get("from", "0"))), []).append(
                (through, onward[through])
            )
    return paths


def _centre_line(carla_map: Any, road: int, length_m: float) -> shapely.LineString:
    count = max(3, int(length_m))
    points = []
    for k in range(count + 1):
        station = min(max(length_m * k / count, 1e-3), length_m - 1e-3)
        location = carla_map.get_waypoint_xodr(road, -1, station).transform.location
        points.append((location.x, location.y))
    return shapely.LineString(points)


def _green_conflicts(carla_map: Any, root: Element) -> list[tuple[str, str]]:
    """Pairs of lights green together although their paths cross or merge."""
    lengths = {
        int(road.get("id", "0")): float(road.get("length", "0")) for road in root.iter("road")
    }
    lanes: dict[str, list[tuple[int, int]]] = {}
    for road, _, number, kind, lane in _signal_lanes(root):
        if kind == "1000001":
            lanes.setdefault(number, []).append((road, lane))
    paths = _paths(root)
    conflicts = []
    for controller in root.findall("controller"):
        together = [str(control.get("signalId")) for control in controller.iter("control")]
        for a, b in itertools.combinations(together, 2):
            if lanes[a][0][0] == lanes[b][0][0] and lanes[a][0][1] * lanes[b][0][1] > 0:
                continue
            ours = [path for lane in lanes[a] for path in paths.get(lane, [])]
            theirs = [path for lane in lanes[b] for path in paths.get(lane, [])]
            for (first, to), (two, other_to) in itertools.product(ours, theirs):
                crossing = _centre_line(carla_map, first, lengths[first]).intersects(
                    _centre_line(carla_map, two, lengths[two])
                )
                if to == other_to or crossing:
                    conflicts.append((a, b))
    return conflicts


def _sidewalk_starts(carla_map: Any, root: Element) -> Iterator[tuple[int, Any]]:
    for road in root.iter("road"):
        if road.get("junction") != "-1":
            continue
        sections = list(road.iter("laneSection"))
        for section, at_start in ((sections[0], True), (sections[-1], False)):
            for lane in section.iter("lane"):
                number = int(lane.get("id", "0"))
                if lane.get("type") == "sidewalk" and (number < 0) == at_start:
                    length = float(road.get("length", "0"))
                    station = 0.1 if at_start else length - 0.1
                    yield (
                        number,
                        carla_map.get_waypoint_xodr(int(road.get("id", "0")), number, station),
                    )


def _short_sidewalks(starts: list[tuple[int, Any]], goal_m: float) -> list[tuple[int, int]]:
    short = []
    for number, start in starts:
        waypoint, walked = start, 0.0
        while walked < goal_m:
            onward = waypoint.next(4.0)
            if not onward:
                short.append((int(start.road_id), number))
                break
            waypoint, walked = onward[0], walked + 4.0
    return short


def _lane_end_errors(carla_map: Any) -> int:
    errors = 0
    for entry, _ in carla_map.get_topology():
        try:
            entry.next_until_lane_end(1.0)
        except RuntimeError:
            errors += 1
    return errors


def road_km(root: Element) -> float:
    """Length of the ordinary roads, junctions left out."""
    roads = (road for road in root.iter("road") if road.get("junction") == "-1")
    return sum(float(road.get("length", "0")) for road in roads) / 1000.0


def audit(name: str, opendrive: str) -> Audit:
    """Load a town and measure it."""
    begin = time.perf_counter()
    carla_map = carla.Map(name, opendrive)
    load_s = time.perf_counter() - begin
    root = ElementTree.fromstring(opendrive)
    waypoints = carla_map.generate_waypoints(STEP_M)
    graph = lane_graph(carla_map, root, waypoints)
    polygons = [shapely.Polygon(corners) for corners in crosswalk_polygons(carla_map)]
    walks = list(_sidewalk_starts(carla_map, root))
    kinds: dict[str, int] = {}
    for signal in root.iter("signal"):
        kinds[signal.get("type", "")] = kinds.get(signal.get("type", ""), 0) + 1
    links = graph.edge_subgraph([(a, b) for a, b, link in graph.edges(data="link") if link])
    pitches = [abs(math.remainder(w.transform.rotation.pitch, 360.0)) for w in waypoints]
    return Audit(
        load_s=load_s,
        road_km=road_km(root),
        junctions=len(root.findall("junction")),
        lanes=graph.number_of_nodes(),
        dead_ends=[key for key in graph if key not in links or links.out_degree(key) == 0],
        strongly_connected=max(map(len, nx.strongly_connected_components(graph))),
        largest_gap_m=_largest_gap(carla_map, root, graph),
        crosswalks=len(polygons),
        crosswalks_broken=[k for k, p in enumerate(polygons) if not p.is_valid or p.area < 6.0],
        signals=dict(sorted(kinds.items())),
        signals_missing=_unseen(carla_map, root, 8.0),
        lights_missing=_unseen(carla_map, root, 2.5, "1000001"),
        green_conflicts=_green_conflicts(carla_map, root),
        sidewalks=len(walks),
        sidewalks_short=_short_sidewalks(walks, 200.0),
        steepest_deg=max(pitches),
        lane_end_errors=_lane_end_errors(carla_map),
    )
