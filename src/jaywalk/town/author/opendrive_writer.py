"""Writes OpenDRIVE from a plan and the SUMO network built from it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from jaywalk.town.author.curves import ReferenceLine
from jaywalk.town.author.junctions import ConnectingRoad, Joints, LaneEnd, build_joints
from jaywalk.town.author.lane_sections import write_lanes
from jaywalk.town.author.objects import OutlineObject, build_objects
from jaywalk.town.author.plan import TownPlan
from jaywalk.town.author.roads import Road, build_roads
from jaywalk.town.author.signals import SPEED, Controller, Signal, SignalWriter, signal_heading
from jaywalk.town.author.sumo_network import Network


def number_text(value: float) -> str:
    """Shortest text with enough digits (1e-7 m over a piece of road)."""
    text = format(value, ".12g")
    return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """All parts of a town, ready to be written."""

    plan: TownPlan
    roads: list[Road]
    joints: Joints
    signals: list[Signal]
    controllers: list[Controller]
    objects: list[OutlineObject]


def draw(plan: TownPlan, network: Network) -> Drawing:
    """Work out roads, junctions, signals and objects."""
    roads = build_roads(plan, network)
    joints = build_joints(network, roads)
    writer = SignalWriter(plan, network, roads, joints)
    writer.build()
    return Drawing(
        plan=plan,
        roads=roads,
        joints=joints,
        signals=writer.signals,
        controllers=writer.controllers,
        objects=build_objects(plan, network, roads),
    )


def _header(root: ET.Element, plan: TownPlan) -> None:
    header = ET.SubElement(
        root, "header", revMajor="1", revMinor="4", name=plan.name, version="1", date="2025-01-01",
        north="0", south="0", east="0", west="0",
    )  # fmt: skip
    reference = ET.SubElement(header, "geoReference")
    reference.text = (
        f"+proj=tmerc +lat_0={plan.latitude_deg} +lon_0={plan.longitude_deg} +k=1 +x_0=0 +y_0=0 "
        "+datum=WGS84 +units=m +vunits=m +no_defs"
    )


def _geometry(element: ET.Element, line: ReferenceLine) -> None:
    view = ET.SubElement(element, "planView")
    for start, piece in zip(line.starts_m, line.pieces, strict=True):
        geometry = ET.SubElement(
            view, "geometry", s=number_text(start), x=number_text(piece.x), y=number_text(piece.y),
            hdg=number_text(piece.heading_rad), length=number_text(piece.length_m),
        )  # fmt: skip
        if not piece.u:
            ET.SubElement(geometry, "line")
            continue
        names = [f"{letter}{axis}" for axis in "UV" for letter in "abcd"]
        values = (number_text(value) for value in (*piece.u, *piece.v))
        ET.SubElement(
            geometry, "paramPoly3", dict(zip(names, values, strict=True)), pRange="normalized"
        )
    profile = ET.SubElement(element, "elevationProfile")
    for level in line.heights:
        values = (number_text(value) for value in level.coefficients)
        record = {"s": number_text(level.s_m)} | dict(zip("abcd", values, strict=True))
        ET.SubElement(profile, "elevation", record)
    ET.SubElement(element, "lateralProfile")


def _road_element(
    root: ET.Element, number: int, line: ReferenceLine, junction: int, name: str
) -> ET.Element:
    return ET.SubElement(
        root, "road", name=name, length=number_text(line.length_m), id=str(number),
        junction=str(junction),
    )  # fmt: skip


def _type(element: ET.Element, setting: str, speed_kmh: int) -> None:
    record = ET.SubElement(element, "type", s="0", type=setting)
    ET.SubElement(record, "speed", max=str(speed_kmh), unit="km/h")


def _ordinary_links(element: ET.Element, road: Road, joints: Joints) -> None:
    link = ET.SubElement(element, "link")
    for tag, contact, node in (
        ("predecessor", "start", road.start_node),
        ("successor", "end", road.end_node),
    ):
        direct = joints.direct.get((road.number, contact))
        if direct is not None:
            other = direct[0]
            ET.SubElement(
                link, tag, elementType="road", elementId=str(other.road.number),
                contactPoint=other.contact,
            )  # fmt: skip
        elif node in joints.junctions:
            number = joints.junctions[node].number
            ET.SubElement(link, tag, elementType="junction", elementId=str(number))


def _objects(element: ET.Element, objects: list[OutlineObject]) -> None:
    group = ET.SubElement(element, "objects")
    for item in objects:
        record = ET.SubElement(
            group, "object", id=str(item.number), name=item.name, type=item.kind,
            s=number_text(round(item.s_m, 4)), t="0", zOffset="0", hdg="0", orientation="none",
            width="0", length="0",
        )  # fmt: skip
        outline = ET.SubElement(record, "outline")
        for u, v in (*item.corners, item.corners[0]):
            corner = ET.SubElement(outline, "cornerLocal", u=f"{u:.3f}", v=f"{v:.3f}", z="0")
            if item.height_m:
                corner.set("height", f"{item.height_m:.2f}")


def _signals(element: ET.Element, signals: list[Signal]) -> None:
    group = ET.SubElement(element, "signals")
    for item in signals:
        light = item.kind == "1000001"
        value = str(item.value)
        record = ET.SubElement(
            group, "signal", id=str(item.number), name=item.name, s=number_text(round(item.s_m, 3)),
            t=number_text(round(item.t_m, 3)), zOffset=number_text(item.z_m),
            hOffset=number_text(signal_heading(item.side)), pitch="0", roll="0",
            orientation="-" if item.side < 0 else "+", dynamic="yes" if light else "no",
            country="OpenDRIVE", type=item.kind, subtype=value if item.kind == SPEED else "-1",
            value=value, text="", height="0.9", width="0.3" if light else "0.7",
        )  # fmt: skip
        for lane in item.lanes:
            ET.SubElement(record, "validity", fromLane=str(lane), toLane=str(lane))


def _ordinary(root: ET.Element, drawing: Drawing, road: Road) -> None:
    element = _road_element(root, road.number, road.line, -1, road.forward)
    _ordinary_links(element, road, drawing.joints)
    _type(element, road.setting, road.speed_kmh)
    _geometry(element, road.line)
    write_lanes(element, road, drawing.joints)
    objects = [item for item in drawing.objects if item.road == road.number]
    signals = [item for item in drawing.signals if item.road == road.number]
    if objects:
        _objects(element, objects)
    if signals:
        _signals(element, signals)


def _smooth(record: dict[str, str], start: float, end: float, length_m: float) -> dict[str, str]:
    change = end - start
    values = (start, 0.0, 3.0 * change / length_m**2, -2.0 * change / length_m**3)
    return record | {n: number_text(v) for n, v in zip("abcd", values, strict=True)}


def _end_link(link: ET.Element, tag: str, end: LaneEnd) -> None:
    ET.SubElement(
        link, tag, elementType="road", elementId=str(end.road.number), contactPoint=end.contact
    )


def _through(root: ET.Element, road: ConnectingRoad, junction: int) -> None:
    element = _road_element(root, road.number, road.line, junction, f"j{road.number}")
    link = ET.SubElement(element, "link")
    _end_link(link, "predecessor", road.source)
    _end_link(link, "successor", road.target)
    _type(element, road.target.road.setting, road.speed_kmh)
    _geometry(element, road.line)
    lanes = ET.SubElement(element, "lanes")
    length = road.line.length_m
    start, end = road.widths_m
    ET.SubElement(lanes, "laneOffset", _smooth({"s": "0"}, start / 2.0, end / 2.0, length))
    section = ET.SubElement(lanes, "laneSection", s="0")
    centre = ET.SubElement(
        ET.SubElement(section, "center"), "lane", id="0", type="none", level="false"
    )
    _no_mark(centre)
    lane = ET.SubElement(
        ET.SubElement(section, "right"), "lane", id="-1", type=road.kind, level="false"
    )
    lane_link = ET.SubElement(lane, "link")
    ET.SubElement(lane_link, "predecessor", id=str(road.source.lane_number))
    ET.SubElement(lane_link, "successor", id=str(road.target.lane_number))
    ET.SubElement(lane, "width", _smooth({"sOffset": "0"}, start, end, length))
    _no_mark(lane)
    if road.kind == "driving":
        ET.SubElement(lane, "speed", sOffset="0", max=str(road.speed_kmh), unit="km/h")


def _no_mark(lane: ET.Element) -> None:
    ET.SubElement(
        lane, "roadMark", sOffset="0", type="none", weight="standard", color="standard",
        width="0", laneChange="none",
    )  # fmt: skip


def _junction(root: ET.Element, drawing: Drawing, node: str) -> None:
    junction = drawing.joints.junctions[node]
    element = ET.SubElement(root, "junction", id=str(junction.number), name=node)
    for place, road in enumerate(junction.connecting):
        connection = ET.SubElement(
            element, "connection", id=str(place), incomingRoad=str(road.source.road.number),
            connectingRoad=str(road.number), contactPoint="start",
        )  # fmt: skip
        ET.SubElement(connection, "laneLink", {"from": str(road.source.lane_number), "to": "-1"})
    for place, controller in enumerate(drawing.controllers):
        if controller.junction == junction.number:
            ET.SubElement(
                element, "controller", id=str(controller.number), type="0", sequence=str(place)
            )


def write_opendrive(drawing: Drawing) -> str:
    """The OpenDRIVE text of a town."""
    root = ET.Element("OpenDRIVE")
    _header(root, drawing.plan)
    for road in drawing.roads:
        _ordinary(root, drawing, road)
    for junction in drawing.joints.junctions.values():
        for through in junction.connecting:
            _through(root, through, junction.number)
    for controller in drawing.controllers:
        element = ET.SubElement(
            root, "controller", id=str(controller.number), name=f"ctrl{controller.number}",
            sequence="0",
        )  # fmt: skip
        for signal in controller.signals:
            ET.SubElement(element, "control", signalId=str(signal), type="")
    for node in drawing.joints.junctions:
        _junction(root, drawing, node)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
