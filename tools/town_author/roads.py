"""Ordinary roads: the two directions of a street merged into one road with lanes and strips."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
import shapely

from jaywalk.core.units import MPS_TO_KMH
from jaywalk.geometry.path import arc_lengths
from town_author.curves import ReferenceLine, RoadPose, Vector, smooth_line
from town_author.netconvert import NetEdge, Network
from town_author.plan import Strip, TownPlan

SHORTEST_STRIP_M = 8.0
TERRAIN_STEP_M = 20.0
ZEBRA_CLEAR_M = 6.0  # from the middle of a zebra to the first parked car


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthPiece:
    """A cubic of a lane's width from ``begin_m`` to ``end_m`` along the road."""

    begin_m: float
    end_m: float
    coefficients: tuple[float, float, float, float]

    def from_station(self, s_m: float) -> tuple[float, float, float, float]:
        """The same cubic written from another origin."""
        a, b, c, d = self.coefficients
        h = s_m - self.begin_m
        return (
            ((d * h + c) * h + b) * h + a,
            (3.0 * d * h + 2.0 * c) * h + b,
            3.0 * d * h + c,
            d,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane of a road on an interval; ``key`` tells it from all others of the road."""

    key: str
    kind: str
    begin_m: float
    end_m: float
    widths: tuple[WidthPiece, ...]
    speed_kmh: int = 0
    edge: str = ""
    index: int = -1

    def width(self, s_m: float) -> tuple[float, float]:
        """Width and its slope at a station (both zero outside the interval)."""
        if s_m < self.begin_m - 1e-9 or s_m > self.end_m + 1e-9:
            return 0.0, 0.0
        for piece in self.widths:
            if s_m <= piece.end_m + 1e-9:
                value, slope, _, _ = piece.from_station(s_m)
                return value, slope
        return 0.0, 0.0


@dataclass(slots=True, kw_only=True)
class Road:
    """One ordinary road; lanes are listed from the centre outwards."""

    number: int
    forward: str
    backward: str | None
    start_node: str
    end_node: str
    line: ReferenceLine
    speed_kmh: int
    setting: str
    right: list[Lane] = field(default_factory=list)
    left: list[Lane] = field(default_factory=list)

    @property
    def length_m(self) -> float:
        """Length of the reference line."""
        return self.line.length_m

    def lanes(self, side: int) -> list[Lane]:
        """Lanes right (side -1) or left (+1) of the reference line."""
        return self.right if side < 0 else self.left

    def side_of(self, edge: str) -> int:
        """-1 for the edge along the road, +1 for the one against it."""
        return -1 if edge == self.forward else 1

    def station(self, edge: str, along_m: float) -> float:
        """Station of a place given along one of the road's edges."""
        return along_m if edge == self.forward else self.length_m - along_m

    def present(self, side: int, s_m: float) -> list[Lane]:
        """Lanes of a side that exist at a station inside the road."""
        return [
            lane for lane in self.lanes(side) if lane.begin_m - 1e-6 <= s_m <= lane.end_m + 1e-6
        ]

    def lane_number(self, edge: str, index: int, s_m: float) -> int:
        """OpenDRIVE lane id of an edge's lane at a station."""
        side = self.side_of(edge)
        for place, lane in enumerate(self.present(side, s_m)):
            if lane.edge == edge and lane.index == index:
                return side * (place + 1)
        raise KeyError(f"no lane {index} of edge {edge!r} at {s_m:.1f} m")

    def lane_pose(self, edge: str, index: int, s_m: float) -> tuple[RoadPose, float]:
        """Centre of a lane with its direction of travel, and its width."""
        side = self.side_of(edge)
        offset = slope = 0.0
        for lane in self.lanes(side):
            width, rate = lane.width(s_m)
            if lane.edge == edge and lane.index == index:
                offset, slope = side * (offset + width / 2.0), side * (slope + rate / 2.0)
                pose = self.line.pose(s_m)
                x, y = pose.moved(offset)
                back = math.pi if side > 0 else 0.0
                return (
                    RoadPose(
                        x=x,
                        y=y,
                        z=pose.z,
                        heading_rad=pose.heading_rad + math.atan(slope) + back,
                        slope=-pose.slope if side > 0 else pose.slope,
                    ),
                    width,
                )
            offset += width
            slope += rate
        raise KeyError(f"road {self.number} has no lane {index} of edge {edge!r}")

    def half_width(self, side: int, s_m: float, *, to_kerb: bool = False) -> float:
        """Distance from the reference line to the outer edge, or to the kerb of the sidewalk."""
        return sum(
            lane.width(s_m)[0]
            for lane in self.lanes(side)
            if not (to_kerb and lane.kind == "sidewalk")
        )

    def cuts(self) -> list[float]:
        """Stations where lanes begin or end: the starts of the lane sections and the road's end."""
        stations = {0.0, self.length_m}
        for lane in (*self.right, *self.left):
            stations |= {lane.begin_m, lane.end_m}
        ordered = sorted(stations)
        kept = [ordered[0]]
        for station in ordered[1:]:
            if station - kept[-1] > 1e-3:
                kept.append(station)
        return kept


def left_border(edge: NetEdge) -> Vector:
    """The left edge of the leftmost lane, which is the road's reference line."""
    lane = edge.lanes[-1]
    shape = lane.shape
    chords = np.diff(shape[:, :2], axis=0)
    units = chords / np.hypot(chords[:, 0], chords[:, 1])[:, None]
    normals = np.column_stack([-units[:, 1], units[:, 0]])
    mean = np.vstack([normals[0], normals[:-1] + normals[1:], normals[-1]])
    mean /= np.hypot(mean[:, 0], mean[:, 1])[:, None]
    cosine = np.concatenate([[1.0], np.sum(mean[1:-1] * normals[1:], axis=1), [1.0]])
    moved = shape.copy()
    moved[:, :2] += mean * (lane.width_m / 2.0 / np.maximum(cosine, 0.5))[:, None]
    return moved


def _constant(width_m: float, begin_m: float, end_m: float) -> tuple[WidthPiece, ...]:
    return (WidthPiece(begin_m=begin_m, end_m=end_m, coefficients=(width_m, 0.0, 0.0, 0.0)),)


def _tapered(
    width_m: float, begin_m: float, end_m: float, taper_m: float
) -> tuple[WidthPiece, ...]:
    if taper_m <= 0.0:
        return _constant(width_m, begin_m, end_m)
    taper = min(taper_m, (end_m - begin_m) / 2.0 - 0.5)
    c, d = 3.0 * width_m / taper**2, -2.0 * width_m / taper**3
    opening = WidthPiece(begin_m=begin_m, end_m=begin_m + taper, coefficients=(0.0, 0.0, c, d))
    closing = WidthPiece(begin_m=end_m - taper, end_m=end_m, coefficients=(width_m, 0.0, -c, -d))
    middle = _constant(width_m, begin_m + taper, end_m - taper)
    return (opening, *middle, closing)


def _edge_lanes(edge: NetEdge, length_m: float) -> list[Lane]:
    lanes = []
    for index in reversed(range(len(edge.lanes))):
        lane = edge.lanes[index]
        lanes.append(
            Lane(
                key=f"{edge.name}:{index}",
                kind="sidewalk" if lane.walking else "driving",
                begin_m=0.0,
                end_m=length_m,
                widths=_constant(lane.width_m, 0.0, length_m),
                speed_kmh=0 if lane.walking else round(lane.speed_mps * MPS_TO_KMH),
                edge=edge.name,
                index=index,
            )
        )
    return lanes


def _strip_intervals(road: Road, strip: Strip, zebras_m: list[float]) -> list[tuple[float, float]]:
    """Stations a strip covers; nobody parks on a zebra, so bays stop before it and go on after."""
    length = road.length_m
    begin = 0.0 if strip.begin_m is None else strip.begin_m
    end = length if strip.end_m is None else strip.end_m
    begin, end = (value + length if value < 0.0 else value for value in (begin, end))
    if strip.edge != road.forward:
        begin, end = length - end, length - begin
    pieces = []
    for zebra in sorted(zebras_m) if strip.kind in ("parking", "stop") else []:
        if begin - ZEBRA_CLEAR_M < zebra < end + ZEBRA_CLEAR_M:
            pieces.append((begin, zebra - ZEBRA_CLEAR_M))
            begin = zebra + ZEBRA_CLEAR_M
    pieces.append((begin, end))
    shortest = max(SHORTEST_STRIP_M, 2.0 * strip.taper_m + 6.0)
    return [(first, last) for first, last in pieces if last - first >= shortest]


def _insert_strip(road: Road, strip: Strip, number: int, zebras_m: list[float]) -> None:
    lanes = road.lanes(road.side_of(strip.edge))
    for part, (begin, end) in enumerate(_strip_intervals(road, strip, zebras_m)):
        lane = Lane(
            key=f"{strip.kind}{number}_{part}",
            kind=strip.kind,
            begin_m=begin,
            end_m=end,
            widths=_tapered(strip.width_m, begin, end, strip.taper_m),
        )
        if strip.at_centre:
            lanes.insert(0, lane)
        else:
            walk = bool(lanes) and lanes[-1].kind == "sidewalk"
            lanes.insert(len(lanes) - walk, lane)


def _levelled(plan: TownPlan, name: str, border: Vector) -> Vector:
    """The border with heights of the plan: the network is flat."""
    edge = plan.edges[name]
    if edge.heights:
        known = np.array(plan.polyline(edge))
        line = shapely.LineString(known[:, :2])
        stations = arc_lengths(known)
        along = shapely.line_locate_point(line, shapely.points(border[:, :2]))
        return np.column_stack([border[:, :2], np.interp(along, stations, known[:, 2])])
    dense = [border[:1, :2]]
    for a, b in itertools.pairwise(border[:, :2]):
        count = max(1, math.ceil(float(np.hypot(*(b - a))) / TERRAIN_STEP_M))
        dense.append(a + (b - a) * (np.arange(1, count + 1) / count)[:, None])
    plane = np.vstack(dense)
    return np.column_stack([plane, [plan.height(float(x), float(y)) for x, y in plane]])


def build_roads(plan: TownPlan, network: Network) -> list[Road]:
    """Merge the network's edges into roads and put the plan's strips on them."""
    roads: list[Road] = []
    taken: set[str] = set()
    names = sorted(network.edges, key=lambda name: (plan.edges[name].walking_only, name))
    by_ends: dict[tuple[str, str], list[str]] = {}
    for name in names:
        edge = network.edges[name]
        by_ends.setdefault((edge.start, edge.end), []).append(name)
    for name in names:
        if name in taken:
            continue
        edge = network.edges[name]
        border = left_border(edge)
        partner = None
        for other in by_ends.get((edge.end, edge.start), []):
            facing = left_border(network.edges[other])
            gap = np.hypot(*(facing[-1] - border[0])[:2]) + np.hypot(*(facing[0] - border[-1])[:2])
            if other not in taken and other != name and gap < 1.0:
                partner = other
        taken |= {name} | ({partner} if partner else set())
        line = smooth_line(_levelled(plan, name, border))
        road = Road(
            number=len(roads) + 1,
            forward=name,
            backward=partner,
            start_node=edge.start,
            end_node=edge.end,
            line=line,
            speed_kmh=plan.edges[name].speed_kmh,
            setting=plan.edges[name].setting,
        )
        road.right = _edge_lanes(edge, line.length_m)
        if partner:
            road.left = _edge_lanes(network.edges[partner], line.length_m)
        roads.append(road)
    _decorate(plan, roads)
    return roads


def _decorate(plan: TownPlan, roads: list[Road]) -> None:
    by_edge = {edge: road for road in roads for edge in (road.forward, road.backward) if edge}
    zebras: dict[int, list[float]] = {}
    for zebra in plan.zebras:
        road = by_edge[zebra.edge]
        station = road.station(zebra.edge, zebra.at * road.length_m)
        zebras.setdefault(road.number, []).append(station)
    for number, strip in enumerate(plan.strips):
        road = by_edge[strip.edge]
        _insert_strip(road, strip, number, zebras.get(road.number, []))
    for number, zebra in enumerate(plan.zebras):
        if not zebra.refuge:
            continue
        road = by_edge[zebra.edge]
        middle = road.station(zebra.edge, zebra.at * road.length_m)
        reach = min(32.0, middle - 2.0, road.length_m - middle - 2.0)
        for edge in (road.forward, road.backward):
            if edge is None:
                raise ValueError(f"a refuge needs a two-way street, {zebra.edge!r} is one-way")
            along = road.station(edge, middle)
            _insert_strip(
                road,
                Strip(
                    edge=edge,
                    kind="median",
                    width_m=1.1,
                    taper_m=16.0,
                    begin_m=along - reach,
                    end_m=along + reach,
                    at_centre=True,
                ),
                1000 + number,
                [],
            )
