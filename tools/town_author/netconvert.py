"""Turns a plan into a SUMO network by running netconvert on four plain XML files.

Reads what we need of a SUMO ``.net.xml``: lanes, connections, crossings and signal phases.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from defusedxml import ElementTree
from numpy.typing import NDArray

from jaywalk.core.errors import PrerequisiteError
from jaywalk.core.units import MPS_TO_KMH
from town_author.plan import Edge, TownPlan

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


COMMON_OPTIONS = (
    "--no-turnarounds",
    "true",
    "--walkingareas",
    "--offset.disable-normalization",
    "--crossings.guess",
    "--default.crossing-width",
    "3.5",
    "--junctions.corner-detail",
    "5",
    "--precision",
    "5",
)
TIMEOUT_S = 120.0


def find_netconvert() -> Path:
    """Path of the netconvert program.

    Raises:
        PrerequisiteError: when the ``town`` extra is not installed.
    """
    beside = Path(sys.executable).parent / "netconvert"
    if beside.exists():
        return beside
    path = shutil.which("netconvert")
    if path is None:
        raise PrerequisiteError(
            "netconvert was not found; authoring towns needs it (the shipped towns do not). "
            "Fix: pip install 'jaywalk[town]'   (or: pip install eclipse-sumo==1.28.0)"
        )
    return Path(path)


def build_network(plan: TownPlan) -> str:
    """Run netconvert on ``plan`` and return the text of its ``.net.xml``.

    Raises:
        PrerequisiteError: when netconvert is not installed.
        RuntimeError: when netconvert rejects the plan; its own words are in the message.
    """
    program = find_netconvert()
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        _write(folder / "nod.xml", _nodes(plan))
        _write(folder / "edg.xml", _edges(plan))
        _write(folder / "con.xml", _connections(plan))
        command = [
            str(program),
            "-n",
            "nod.xml",
            "-e",
            "edg.xml",
            "-x",
            "con.xml",
            "-o",
            "net.xml",
            *COMMON_OPTIONS,
            *plan.options,
        ]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"netconvert rejected town {plan.name!r}: {done.stderr.strip()}")
        return (folder / "net.xml").read_text(encoding="utf-8")


def _write(path: Path, root: ET.Element) -> None:
    ET.ElementTree(root).write(path, encoding="utf-8")


def _nodes(plan: TownPlan) -> ET.Element:
    root = ET.Element("nodes")
    for name, node in plan.nodes.items():
        element = ET.SubElement(
            root,
            "node",
            id=name,
            x=f"{node.x:.5f}",
            y=f"{node.y:.5f}",
            type=node.kind,
        )
        if node.tl_layout:
            element.set("tlLayout", node.tl_layout)
        if node.outline:
            element.set("shape", " ".join(f"{x:.2f},{y:.2f}" for x, y in node.outline))
    return root


def _shape(plan: TownPlan, edge: Edge) -> str:
    # Flat on purpose: given heights, netconvert levels the road ends and straightens bends there.
    return " ".join(f"{x:.5f},{y:.5f}" for x, y, _ in plan.polyline(edge))


def _edges(plan: TownPlan) -> ET.Element:
    root = ET.Element("edges")
    for name, edge in plan.edges.items():
        element = ET.SubElement(
            root,
            "edge",
            {"id": name, "from": edge.start, "to": edge.end},
            numLanes=str(edge.lanes),
            speed=f"{edge.speed_kmh / MPS_TO_KMH:.4f}",
            width=f"{edge.width_m:.2f}",
            spreadType="right",
            priority=str(edge.priority),
        )
        if edge.points:
            element.set("shape", _shape(plan, edge))
        if edge.walking_only:
            element.set("allow", "pedestrian")
        elif edge.sidewalk_m > 0.0:
            element.set("sidewalkWidth", f"{edge.sidewalk_m:.2f}")
    for nodes, edges in plan.roundabouts:
        ET.SubElement(root, "roundabout", nodes=" ".join(nodes), edges=" ".join(edges))
    return root


def _connections(plan: TownPlan) -> ET.Element:
    root = ET.Element("connections")
    for link in plan.connections:
        ET.SubElement(
            root,
            "connection",
            {"from": link.source, "to": link.target},
            fromLane=str(link.from_lane),
            toLane=str(link.to_lane),
        )
    return root
