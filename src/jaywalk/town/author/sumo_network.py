"""Reads what we need of a SUMO ``.net.xml``: lanes, connections, crossings and signal phases."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from defusedxml import ElementTree
from numpy.typing import NDArray

Polyline = NDArray[np.float64]  # (points, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetLane:
    """One lane of an edge; index 0 is the rightmost."""

    width_m: float
    speed_mps: float
    shape: Polyline
    walking: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NetEdge:
    """One direction of a street, between the junctions that cut it."""

    name: str
    start: str
    end: str
    lanes: tuple[NetLane, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetConnection:
    """A lane-to-lane link of vehicles with its turn, right of way and signal."""

    source: str
    target: str
    from_lane: int
    to_lane: int
    turn: str  # s, r, l, R, L
    state: str  # M major, m minor, = equal, s or w stop, o off, ...
    signal: str | None
    signal_link: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetCrossing:
    """A crosswalk at a junction."""

    edges: tuple[str, ...]
    shape: Polyline
    width_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A SUMO network."""

    edges: dict[str, NetEdge]
    connections: tuple[NetConnection, ...]
    crossings: tuple[NetCrossing, ...]
    phases: dict[str, tuple[str, ...]]  # signal program -> states of its links, phase by phase


def _polyline(text: str) -> Polyline:
    points = [[float(value) for value in point.split(",")] for point in text.split()]
    return np.array([point + [0.0] * (3 - len(point)) for point in points])


def _crossing(element: Element) -> NetCrossing:
    lane = element.find("lane")
    if lane is None:
        raise ValueError(f"crossing {element.get('id')!r} has no lane")
    return NetCrossing(
        edges=tuple(element.get("crossingEdges", "").split()),
        shape=_polyline(lane.get("shape", "")),
        width_m=float(lane.get("width", "4")),
    )


def _edge(element: Element) -> NetEdge:
    lanes = tuple(
        NetLane(
            width_m=float(lane.get("width", "3.2")),
            speed_mps=float(lane.get("speed", "0")),
            shape=_polyline(lane.get("shape", "")),
            walking=lane.get("allow") == "pedestrian",
        )
        for lane in element.iter("lane")
    )
    return NetEdge(
        name=element.get("id", ""),
        start=element.get("from", ""),
        end=element.get("to", ""),
        lanes=lanes,
    )


def _connection(element: Element, edges: dict[str, NetEdge]) -> NetConnection | None:
    """A link between driving lanes of two edges; None for people's links and inside junctions."""
    source, target = element.get("from", ""), element.get("to", "")
    if source not in edges or target not in edges:
        return None
    from_lane, to_lane = int(element.get("fromLane", "0")), int(element.get("toLane", "0"))
    if edges[source].lanes[from_lane].walking or edges[target].lanes[to_lane].walking:
        return None
    return NetConnection(
        source=source,
        target=target,
        from_lane=from_lane,
        to_lane=to_lane,
        turn=element.get("dir", ""),
        state=element.get("state", ""),
        signal=element.get("tl"),
        signal_link=int(element.get("linkIndex", "-1")),
    )


def read_network(text: str) -> Network:
    """Parse the text of a ``.net.xml``."""
    root = ElementTree.fromstring(text)
    by_function: dict[str, list[Element]] = {}
    for element in root.iter("edge"):
        by_function.setdefault(element.get("function", "normal"), []).append(element)
    edges = {edge.name: edge for edge in map(_edge, by_function.get("normal", []))}
    links = (_connection(element, edges) for element in root.iter("connection"))
    phases = {
        program.get("id", ""): tuple(phase.get("state", "") for phase in program.iter("phase"))
        for program in root.iter("tlLogic")
    }
    return Network(
        edges=edges,
        connections=tuple(link for link in links if link is not None),
        crossings=tuple(map(_crossing, by_function.get("crossing", []))),
        phases=phases,
    )
