"""Reads what we need of a SUMO ``.net.xml``: lanes, connections, crossings and signal phases."""

from __future__ import annotations

from dataclasses import dataclass

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


def read_network(text: str) -> Network:
    """Parse the text of a ``.net.xml``."""
    root = ElementTree.fromstring(text)
    edges: dict[str, NetEdge] = {}
    crossings: list[NetCrossing] = []
    for element in root.iter("edge"):
        function = element.get("function", "normal")
        if function == "crossing":
            lane = element.find("lane")
            crossings.append(
                NetCrossing(
                    edges=tuple(element.get("crossingEdges", "").split()),
                    shape=_polyline(lane.get("shape")),
                    width_m=float(lane.get("width")),
                )
            )
        elif function == "normal":
            name = element.get("id")
            lanes = tuple(
                NetLane(
                    width_m=float(lane.get("width", "3.2")),
                    speed_mps=float(lane.get("speed")),
                    shape=_polyline(lane.get("shape")),
                    walking=lane.get("allow") == "pedestrian",
                )
                for lane in element.iter("lane")
            )
            edges[name] = NetEdge(
                name=name, start=element.get("from"), end=element.get("to"), lanes=lanes
            )
    connections = []
    for element in root.iter("connection"):
        source, target = element.get("from"), element.get("to")
        if source not in edges or target not in edges:
            continue
        from_lane, to_lane = int(element.get("fromLane")), int(element.get("toLane"))
        if edges[source].lanes[from_lane].walking or edges[target].lanes[to_lane].walking:
            continue
        connections.append(
            NetConnection(
                source=source,
                target=target,
                from_lane=from_lane,
                to_lane=to_lane,
                turn=element.get("dir"),
                state=element.get("state"),
                signal=element.get("tl"),
                signal_link=int(element.get("linkIndex", "-1")),
            )
        )
    phases = {
        program.get("id"): tuple(phase.get("state") for phase in program.iter("phase"))
        for program in root.iter("tlLogic")
    }
    return Network(
        edges=edges, connections=tuple(connections), crossings=tuple(crossings), phases=phases
    )
