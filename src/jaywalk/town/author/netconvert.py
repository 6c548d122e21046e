"""Turns a plan into a SUMO network by running netconvert on four plain XML files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from jaywalk.core.errors import PrerequisiteError
from jaywalk.town.author.plan import Edge, TownPlan

COMMON_OPTIONS = (
    "--no-turnarounds", "true", "--walkingareas", "--offset.disable-normalization",
    "--crossings.guess", "--default.crossing-width", "3.5", "--junctions.corner-detail", "5",
    "--precision", "5",
)  # fmt: skip
TIMEOUT_S = 120.0


def find_netconvert() -> Path:
    """Path of the netconvert program.

    Raises:
        PrerequisiteError: when the ``town`` extra is not installed.
    """
    beside = Path(sys.executable).parent / "netconvert"
    if beside.exists():
        return beside
    found = shutil.which("netconvert")
    if found is None:
        raise PrerequisiteError(
            "netconvert was not found; authoring towns needs it (the shipped towns do not). "
            "Fix: pip install 'jaywalk[town]'   (or: pip install eclipse-sumo==1.28.0)"
        )
    return Path(found)


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
            str(program), "-n", "nod.xml", "-e", "edg.xml", "-x", "con.xml", "-o", "net.xml",
            *COMMON_OPTIONS, *plan.options,
        ]  # fmt: skip
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
            root, "node", id=name, x=f"{node.x:.5f}", y=f"{node.y:.5f}",
            type=node.kind,
        )  # fmt: skip
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
            root, "edge", {"id": name, "from": edge.start, "to": edge.end},
            numLanes=str(edge.lanes), speed=f"{edge.speed_kmh / 3.6:.4f}",
            width=f"{edge.width_m:.2f}",
            spreadType="right",
            priority=str(edge.priority),
        )  # fmt: skip
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
            root, "connection", {"from": link.source, "to": link.target},
            fromLane=str(link.from_lane), toLane=str(link.to_lane),
        )  # fmt: skip
    return root
