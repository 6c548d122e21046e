"""Junctions: one connecting road per lane-to-lane link, and the sidewalks round the corners."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from town_author.curves import ReferenceLine, joining_line
from town_author.netconvert import NetConnection, Network
from town_author.roads import Lane, Road

FIRST_CONNECTING_ROAD = 1001
FIRST_JUNCTION = 9001
TOUCHING_M = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEnd:
    """The end of a lane at a node."""

    road: Road
    edge: str
    index: int
    contact: str  # "start" or "end" of the road

    @property
    def station_m(self) -> float:
        """Station of that end of the road."""
        return 0.0 if self.contact == "start" else self.road.length_m

    @property
    def lane_number(self) -> int:
        """OpenDRIVE lane id there."""
        return self.road.lane_number(self.edge, self.index, self.station_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectingRoad:
    """A one-lane road through a junction."""

    number: int
    kind: str
    source: LaneEnd
    target: LaneEnd
    line: ReferenceLine
    widths_m: tuple[float, float]
    speed_kmh: int
    link: NetConnection | None = None


@dataclass(slots=True, kw_only=True)
class Junction:
    """A node where roads meet."""

    number: int
    node: str
    connecting: list[ConnectingRoad] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Joints:
    """How roads hang together: junctions, and roads that touch without one."""

    junctions: dict[str, Junction] = field(default_factory=dict)
    direct: dict[tuple[int, str], tuple[LaneEnd, list[tuple[LaneEnd, LaneEnd]]]] = field(
        default_factory=dict
    )


def _arriving(road: Road, edge: str, index: int) -> LaneEnd:
    contact = "end" if edge == road.forward else "start"
    return LaneEnd(road=road, edge=edge, index=index, contact=contact)


def _leaving(road: Road, edge: str, index: int) -> LaneEnd:
    contact = "start" if edge == road.forward else "end"
    return LaneEnd(road=road, edge=edge, index=index, contact=contact)


def _sidewalk(road: Road, edge: str | None) -> Lane | None:
    if edge is None:
        return None
    return next((lane for lane in road.lanes(road.side_of(edge)) if lane.kind == "sidewalk"), None)


def _arms(node: str, roads: list[Road]) -> list[tuple[float, Road, str | None, str | None]]:
    """Arms of a node counter-clockwise: angle outwards, road, arriving edge, leaving edge."""
    arms = []
    for road in roads:
        for contact, name in (("start", road.start_node), ("end", road.end_node)):
            if name != node:
                continue
            # A little inside the road: ring arms leave a node almost along each other.
            inside = min(6.0, road.length_m / 2.0)
            at_start = contact == "start"
            near = road.line.pose(0.0 if at_start else road.length_m)
            far = road.line.pose(inside if at_start else road.length_m - inside)
            angle = math.atan2(far.y - near.y, far.x - near.x)
            arriving, leaving = road.backward, road.forward
            if not at_start:
                arriving, leaving = leaving, arriving
            arms.append((angle, road, arriving, leaving))
    return sorted(arms, key=lambda arm: (arm[0], arm[1].number))


def _corner_links(node: str, roads: list[Road]) -> list[tuple[LaneEnd, LaneEnd]]:
    """Sidewalk ends to join at a node: each arriving side with the next arm counter-clockwise."""
    arms = _arms(node, roads)
    links = []
    for k, (_, road, arriving, _) in enumerate(arms):
        walk = _sidewalk(road, arriving)
        if walk is None or arriving is None or len(arms) < 2:
            continue
        _, other, _, leaving = arms[(k + 1) % len(arms)]
        beside = _sidewalk(other, leaving)
        if beside is not None and leaving is not None:
            links.append(
                (_arriving(road, arriving, walk.index), _leaving(other, leaving, beside.index))
            )
    return links


def _gap(source: LaneEnd, target: LaneEnd) -> float:
    a, _ = source.road.lane_pose(source.edge, source.index, source.station_m)
    b, _ = target.road.lane_pose(target.edge, target.index, target.station_m)
    return math.hypot(a.x - b.x, a.y - b.y)


def _connecting(
    number: int, source: LaneEnd, target: LaneEnd, kind: str, link: NetConnection | None
) -> ConnectingRoad:
    start, start_width = source.road.lane_pose(source.edge, source.index, source.station_m)
    end, end_width = target.road.lane_pose(target.edge, target.index, target.station_m)
    return ConnectingRoad(
        number=number,
        kind=kind,
        source=source,
        target=target,
        line=joining_line(start, end),
        widths_m=(start_width, end_width),
        speed_kmh=min(source.road.speed_kmh, target.road.speed_kmh),
        link=link,
    )


def build_joints(network: Network, roads: list[Road]) -> Joints:
    """Connect the roads at every node of the network."""
    by_edge = {edge: road for road in roads for edge in (road.forward, road.backward) if edge}
    links: dict[str, list[tuple[LaneEnd, LaneEnd, NetConnection | None]]] = {}
    for link in network.connections:
        source = _arriving(by_edge[link.source], link.source, link.from_lane)
        target = _leaving(by_edge[link.target], link.target, link.to_lane)
        links.setdefault(network.edges[link.source].end, []).append((source, target, link))
    nodes = sorted({node for road in roads for node in (road.start_node, road.end_node)})
    joints = Joints()
    number = FIRST_CONNECTING_ROAD
    for node in nodes:
        here = links.get(node, [])
        corners = _corner_links(node, roads)
        everything = [*here, *((source, target, None) for source, target in corners)]
        if len(_arms(node, roads)) == 2 and all(_gap(a, b) < TOUCHING_M for a, b, _ in everything):
            _join_directly(joints, [(a, b) for a, b, _ in everything])
            continue
        junction = Junction(number=FIRST_JUNCTION + len(joints.junctions), node=node)
        for source, target, turn in everything:
            kind = "sidewalk" if turn is None else "driving"
            if _gap(source, target) < 0.1:
                continue
            junction.connecting.append(_connecting(number, source, target, kind, turn))
            number += 1
        joints.junctions[node] = junction
    return joints


def _join_directly(joints: Joints, pairs: list[tuple[LaneEnd, LaneEnd]]) -> None:
    for source, target in pairs:
        for end, other in ((source, target), (target, source)):
            key = (end.road.number, end.contact)
            joints.direct.setdefault(key, (other, []))[1].append((end, other))
