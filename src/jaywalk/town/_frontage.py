"""Surfaces and edges of a town's roads, sampled through ``carla.Map``, for placing scenery.

Frame: CARLA's left-handed world. Quads are short pieces of lanes; a frontage is the outer edge of a
road's side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol
from xml.etree.ElementTree import Element

import numpy as np
import shapely
from numpy.typing import NDArray

from jaywalk.core.units import MPH_TO_KMH, MPS_TO_KMH
from jaywalk.geometry.path import arc_lengths, points_at

Values = NDArray[np.float64]
STEP_M: Final = 3.0
FINE_STEP_M: Final = 1.5  # in junctions and where lanes change their width
CLEAR_WALK_M: Final = 1.2
CROSSING_MOUTH_M: Final = 1.8
GROUPS: Final = ("road", "walk", "clear", "mouth")
GREEN: Final = frozenset({"median", "none", "border"})


class MapLike(Protocol):
    """The part of ``carla.Map`` that scenery needs."""

    def get_waypoint_xodr(self, road_id: int, lane_id: int, s: float) -> Any: ...

    def get_crosswalks(self) -> Any: ...

    def get_all_landmarks(self) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontage:
    """The outer edge of one side of a road, in the direction of the road's stations."""

    road: int
    side: int  # -1 right, 1 left of the reference line; 0: a bare inner edge
    points: Values  # (n, 3)
    outward: Values  # (n, 2) unit vectors away from the road
    along: Values  # (n,) arc length
    walk_m: Values  # (n,) width of the sidewalk, 0 without one
    shoulder_m: Values  # (n,) width of the shoulder between lanes and sidewalk, 0 without one
    speed_kmh: float
    setting: str
    driving_lanes: int
    lane_width_m: float
    stops: Values  # (k,) arc lengths of the middles of bus bays

    @property
    def length_m(self) -> float:
        """Arc length of the edge."""
        return float(self.along[-1])

    def at(self, along_m: Values) -> tuple[Values, Values, Values]:
        """Points (n, 3), outward vectors (n, 2) and sidewalk widths at arc lengths."""
        points = points_at(along_m, self.along, self.points)
        outward = points_at(along_m, self.along, self.outward)
        outward /= np.maximum(np.hypot(outward[:, 0], outward[:, 1]), 1e-9)[:, None]
        return points, outward, np.interp(along_m, self.along, self.walk_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class TownSurfaces:
    """Surfaces that must stay free of scenery, and the edges along which scenery stands."""

    road: shapely.STRtree  # lanes of vehicles and crosswalks
    road_z: Values
    walk: shapely.STRtree  # whole sidewalks and medians
    walk_z: Values
    clear: shapely.STRtree  # the middle of the sidewalks
    clear_z: Values
    mouth: shapely.STRtree  # where people step onto a crosswalk
    mouth_z: Values
    junctions: shapely.STRtree
    frontages: tuple[Frontage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaneRun:
    """Samples of one lane in one section."""

    number: int
    kind: str
    centre: Values  # (n, 3)
    right: Values  # (n, 2) to the right of travel, which is away from the road's middle
    width: Values

    def edge(self, share: float) -> Values:
        """Points offset outwards by a share of the half width (-1 inner edge, 1 outer edge)."""
        return self.centre[:, :2] + self.right * (share * self.width / 2.0)[:, None]


def _stations(begin_m: float, end_m: float, step_m: float) -> Values:
    count = max(2, int(np.ceil((end_m - begin_m) / step_m)) + 1)
    return np.linspace(begin_m + 1e-3, end_m - 1e-3, count)


def _run(
    carla_map: MapLike, road: int, number: int, kind: str, stations: Values
) -> _LaneRun | None:
    values = []
    for station in stations:
        waypoint = carla_map.get_waypoint_xodr(road, number, float(station))
        if waypoint is None:
            continue
        transform = waypoint.transform
        place = transform.location
        values.append((place.x, place.y, place.z, transform.rotation.yaw, waypoint.lane_width))
    if len(values) < 2:
        return None
    table = np.array(values)
    yaw = np.radians(table[:, 3])
    return _LaneRun(
        number=number,
        kind=kind,
        centre=table[:, :3],
        right=np.column_stack([-np.sin(yaw), np.cos(yaw)]),
        width=table[:, 4],
    )


def _sections(road: Element) -> list[tuple[Element, float, float]]:
    sections = road.findall("lanes/laneSection")
    starts = [float(section.get("s", "0")) for section in sections]
    ends = [*starts[1:], float(road.get("length", "0"))]
    return [
        (section, start, end)
        for section, start, end in zip(sections, starts, ends, strict=True)
        if end - start > 0.05
    ]


def _lane_runs(carla_map: MapLike, road: Element) -> list[list[_LaneRun]]:
    ordinary = road.get("junction") == "-1"
    number = int(road.get("id", "0"))
    runs = []
    for section, start, end in _sections(road):
        tapers = any(len(lane.findall("width")) > 1 for lane in section.iter("lane"))
        step = STEP_M if ordinary and not tapers else FINE_STEP_M
        stations = _stations(start, end, step)
        result = []
        for lane in section.iter("lane"):
            if lane.get("id") != "0":
                kind = lane.get("type", "none")
                run = _run(carla_map, number, int(lane.get("id", "0")), kind, stations)
                if run is not None:
                    result.append(run)
        runs.append(result)
    return runs


def _quads(run: _LaneRun, half_m: float | None = None) -> Values:
    """Quads (n, 4, 2) of a lane, or of its middle strip."""
    if half_m is None:
        inner, outer = run.edge(-1.0), run.edge(1.0)
    else:
        inner = run.centre[:, :2] - run.right * half_m
        outer = run.centre[:, :2] + run.right * half_m
    return np.stack([inner[:-1], inner[1:], outer[1:], outer[:-1]], axis=1)


def _tree(quads: list[Values], heights: list[Values]) -> tuple[shapely.STRtree, Values]:
    if not quads:
        return shapely.STRtree([]), np.zeros(0)
    return shapely.STRtree(shapely.polygons(np.concatenate(quads))), np.concatenate(heights)


def _speed(road: Element) -> tuple[float, str]:
    record = road.find("type")
    speed = road.find("type/speed")
    if record is None or speed is None:
        return 50.0, "town"
    unit = {"mph": MPH_TO_KMH, "m/s": MPS_TO_KMH}.get(speed.get("unit", "km/h"), 1.0)
    try:
        return float(speed.get("max", "50")) * unit, record.get("type", "town")
    except ValueError:
        return 50.0, record.get("type", "town")


def _make_frontage(road: Element, side: int, runs: list[list[_LaneRun]]) -> Frontage | None:
    """Join the outermost lanes of a side (side 0: the inner edge of lane -1) along the road."""
    points, outward, walks, shoulders, stops = [], [], [], [], []
    for section in runs:
        lanes = [run for run in section if run.number * (side or -1) > 0]
        if not lanes:
            continue
        choose = min if side == 0 else max
        outer = choose(lanes, key=lambda run: abs(run.number))
        sign = -1.0 if side == 0 else 1.0
        points.append(np.column_stack([outer.edge(sign), outer.centre[:, 2]]))
        outward.append(outer.right * sign)
        walk = outer.kind == "sidewalk" and side != 0
        nothing = np.zeros(len(outer.width))
        walks.append(outer.width if walk else nothing)
        inner = [run for run in lanes if abs(run.number) == abs(outer.number) - 1]
        shoulder = walk and bool(inner) and inner[0].kind == "shoulder"
        same = shoulder and len(inner[0].width) == len(nothing)
        shoulders.append(inner[0].width if same else nothing)
        bays = [run for run in lanes if run.kind == "stop" and run.width.max() > 2.0]
        stops += [points[-1][len(run.width) // 2] for run in bays]
    if not points:
        return None
    edge = np.concatenate(points)
    along = arc_lengths(edge)
    if along[-1] < 12.0:
        return None
    keep = np.concatenate([[True], np.diff(along) > 1e-6])
    places = [along[np.argmin(np.hypot(*(edge - stop)[:, :2].T))] for stop in stops]
    driving = [run for section in runs for run in section if run.kind == "driving"]
    speed, setting = _speed(road)
    return Frontage(
        road=int(road.get("id", "0")),
        side=side,
        points=edge[keep],
        outward=np.concatenate(outward)[keep],
        along=along[keep],
        walk_m=np.concatenate(walks)[keep],
        shoulder_m=np.concatenate(shoulders)[keep],
        speed_kmh=speed,
        setting=setting,
        driving_lanes=len({run.number for run in driving}),
        lane_width_m=float(np.mean([run.width.mean() for run in driving])) if driving else 0.0,
        stops=np.array(places),
    )


def _crosswalk_shapes(carla_map: MapLike) -> list[shapely.Polygon]:
    shapes: list[shapely.Polygon] = []
    corners: list[tuple[float, float, float]] = []
    for place in carla_map.get_crosswalks():
        point = (place.x, place.y, place.z)
        if (
            len(corners) >= 3
            and np.hypot(point[0] - corners[0][0], point[1] - corners[0][1]) < 1e-3
        ):
            shapes.append(shapely.Polygon(corners).convex_hull)
            corners = []
        else:
            corners.append(point)
    return [shape for shape in shapes if shape.geom_type == "Polygon"]


class _Collector:
    """Collector of quads and heights by surface."""

    def __init__(self) -> None:
        self.quads: dict[str, list[Values]] = {name: [] for name in GROUPS}
        self.heights: dict[str, list[Values]] = {name: [] for name in GROUPS}
        self.junctions: dict[str, list[Values]] = {}

    def add(self, name: str, quads: Values, run: _LaneRun) -> None:
        self.quads[name].append(quads)
        self.heights[name].append((run.centre[:-1, 2] + run.centre[1:, 2]) / 2.0)

    def take(self, road: Element, run: _LaneRun) -> None:
        quads = _quads(run)
        if run.kind == "sidewalk":
            self.add("walk", quads, run)
            self.add("clear", _quads(run, CLEAR_WALK_M / 2.0), run)
        elif run.kind in GREEN:
            self.add("walk", quads, run)
        else:
            self.add("road", quads, run)
            if road.get("junction") != "-1":
                self.junctions.setdefault(road.get("junction", ""), []).append(quads)


def read_surfaces(carla_map: MapLike, root: Element) -> TownSurfaces:
    """Sample all lanes of a town."""
    collector = _Collector()
    frontages = []
    for road in root.iter("road"):
        runs = _lane_runs(carla_map, road)
        for run in (run for section in runs for run in section):
            collector.take(road, run)
        if road.get("junction") != "-1":
            continue
        has_left = any(run.number > 0 for section in runs for run in section)
        for side in (-1, 1) if has_left else (-1, 0):
            frontage = _make_frontage(road, side, runs)
            if frontage is not None:
                frontages.append(frontage)
    for shape in _crosswalk_shapes(carla_map):
        ring = shapely.get_coordinates(shape, include_z=True)
        height = np.array([np.nanmean(ring[:, 2])])
        # People step onto a crosswalk from the kerb, so poles and trees must keep off the kerb too.
        for name, reach in (("road", 0.0), ("mouth", CROSSING_MOUTH_M)):
            collector.quads[name].append(_four_corners(ring[:, :2], reach)[None])
            collector.heights[name].append(height)
    hulls = [
        shapely.MultiPoint(np.concatenate(quads).reshape(-1, 2)).convex_hull
        for quads in collector.junctions.values()
    ]
    road, road_z = _tree(collector.quads["road"], collector.heights["road"])
    walk, walk_z = _tree(collector.quads["walk"], collector.heights["walk"])
    clear, clear_z = _tree(collector.quads["clear"], collector.heights["clear"])
    mouth, mouth_z = _tree(collector.quads["mouth"], collector.heights["mouth"])
    return TownSurfaces(
        road=road,
        road_z=road_z,
        walk=walk,
        walk_z=walk_z,
        clear=clear,
        clear_z=clear_z,
        mouth=mouth,
        mouth_z=mouth_z,
        junctions=shapely.STRtree(hulls),
        frontages=tuple(frontages),
    )


def _four_corners(ring: Values, reach_m: float) -> Values:
    """Oriented rectangle around a crosswalk, enlarged by ``reach_m``."""
    outline = shapely.MultiPoint(ring).convex_hull.buffer(reach_m, join_style="mitre")
    box = shapely.minimum_rotated_rectangle(outline)
    return np.asarray(shapely.get_coordinates(box)[:4])
