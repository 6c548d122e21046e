"""Writes OpenDRIVE from a plan and the SUMO network built from it.

Lane sections of ordinary roads: widths, links by identity, markings and speeds.

Crosswalks and traffic islands as OpenDRIVE objects with outlines in a road's frame.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from town_author.curves import ReferenceLine, Vector
from town_author.junctions import ConnectingRoad, Joints, LaneEnd, build_joints
from town_author.netconvert import NetCrossing, Network
from town_author.plan import TownPlan
from town_author.roads import Lane, Road, build_roads
from town_author.signals import SPEED, Controller, Signal, SignalWriter, signal_heading

SOLID_BEFORE_JUNCTION_M = 30.0
NARROW_LANE_M = 2.9
SHORT_ROAD_M = 80.0
# Sections of an even length end exactly on the steps of a planner that walks a lane backwards;
# there the client library loses the lane by rounding and raises.
_UNEVEN_M = 0.0037


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A road mark from a station on."""

    from_m: float
    kind: str
    colour: str
    lane_change: str
    width_m: float = 0.12


def _text(value: float) -> str:
    text = format(value, ".12g")
    return "0" if text == "-0" else text


def _solid_length(road: Road) -> float:
    if road.length_m >= SHORT_ROAD_M:
        return SOLID_BEFORE_JUNCTION_M
    return road.length_m * 0.25


def _changing(road: Road, colour: str, *, solid_at_start: bool, solid_at_end: bool) -> list[Mark]:
    """Broken where lanes may be changed, solid next to the junctions."""
    solid = _solid_length(road)
    broken = Mark(from_m=0.0, kind="broken", colour=colour, lane_change="both")
    marks = [broken]
    if solid_at_start:
        marks = [
            Mark(from_m=0.0, kind="solid", colour=colour, lane_change="none"),
            Mark(from_m=solid, kind="broken", colour=colour, lane_change="both"),
        ]
    if solid_at_end:
        end = road.length_m - solid
        marks.append(Mark(from_m=end, kind="solid", colour=colour, lane_change="none"))
    return marks


def _centre_marks(road: Road) -> list[Mark]:
    driving_right = [lane for lane in road.right if lane.kind == "driving"]
    driving_left = [lane for lane in road.left if lane.kind == "driving"]
    if not driving_left:
        return [Mark(from_m=0.0, kind="solid", colour="yellow", lane_change="none")]
    if any(lane.kind == "median" for lane in (*road.right, *road.left)):
        return [Mark(from_m=0.0, kind="solid", colour="yellow", lane_change="none")]
    if len(driving_right) + len(driving_left) > 2:
        return [Mark(from_m=0.0, kind="solid solid", colour="yellow", lane_change="none")]
    if driving_right[0].width(road.length_m / 2.0)[0] < NARROW_LANE_M:
        return [Mark(from_m=0.0, kind="none", colour="standard", lane_change="none", width_m=0.0)]
    return _changing(road, "yellow", solid_at_start=True, solid_at_end=True)


def _outer_marks(road: Road, side: int, lane: Lane, outer: Lane | None) -> list[Mark]:
    """Marks on the outer edge of a lane, towards the next lane outwards."""
    if outer is None:
        plain = lane.kind in ("sidewalk", "shoulder")
        kind = "none" if plain else "solid"
        return [Mark(from_m=0.0, kind=kind, colour="white", lane_change="none")]
    if lane.kind == outer.kind == "driving":
        return _changing(road, "white", solid_at_start=side > 0, solid_at_end=side < 0)
    if outer.kind == "sidewalk":
        return [Mark(from_m=0.0, kind="curb", colour="standard", lane_change="none")]
    if {lane.kind, outer.kind} & {"parking", "stop"}:
        return [Mark(from_m=0.0, kind="broken", colour="white", lane_change="none")]
    return [Mark(from_m=0.0, kind="solid", colour="white", lane_change="none")]


def _write_marks(element: ET.Element, marks: list[Mark], begin_m: float, end_m: float) -> None:
    """Marks of one section: the last one before its start, and those inside."""
    current = [mark for mark in marks if mark.from_m <= begin_m + 1e-6][-1]
    inside = [mark for mark in marks if begin_m + 1e-6 < mark.from_m < end_m - 1e-6]
    for mark in (current, *inside):
        ET.SubElement(
            element,
            "roadMark",
            sOffset=_text(max(0.0, mark.from_m - begin_m)),
            type=mark.kind,
            weight="standard",
            color=mark.colour,
            width=_text(mark.width_m),
            height="0.02",
            laneChange=mark.lane_change,
        )


def _write_widths(element: ET.Element, lane: Lane, begin_m: float, end_m: float) -> None:
    for piece in lane.widths:
        if piece.end_m <= begin_m + 1e-6 or piece.begin_m >= end_m - 1e-6:
            continue
        start = max(piece.begin_m, begin_m)
        values = map(_text, piece.from_station(start))
        record = {"sOffset": _text(start - begin_m)} | dict(zip("abcd", values, strict=True))
        ET.SubElement(element, "width", record)


def _direct_number(joints: Joints, road: Road, lane: Lane, contact: str) -> int | None:
    direct = joints.direct.get((road.number, contact))
    if direct is None:
        return None
    for end, other in direct[1]:
        if end.edge == lane.edge and end.index == lane.index and end.road is road:
            return other.lane_number
    return None


def _number_in(road: Road, side: int, lane: Lane, middle_m: float) -> int | None:
    for place, other in enumerate(road.present(side, middle_m)):
        if other.key == lane.key:
            return side * (place + 1)
    return None


def _write_link(
    element: ET.Element, road: Road, joints: Joints, lane: Lane, side: int, section: int
) -> None:
    cuts = road.cuts()
    link = ET.SubElement(element, "link")
    if section > 0:
        before = _number_in(road, side, lane, (cuts[section - 1] + cuts[section]) / 2.0)
    else:
        before = _direct_number(joints, road, lane, "start")
    if section + 2 < len(cuts):
        after = _number_in(road, side, lane, (cuts[section + 1] + cuts[section + 2]) / 2.0)
    else:
        after = _direct_number(joints, road, lane, "end")
    if before is not None:
        ET.SubElement(link, "predecessor", id=str(before))
    if after is not None:
        ET.SubElement(link, "successor", id=str(after))


def _write_side(element: ET.Element, road: Road, joints: Joints, side: int, section: int) -> None:
    cuts = road.cuts()
    begin, end = cuts[section], cuts[section + 1]
    lanes = road.present(side, (begin + end) / 2.0)
    if not lanes:
        return
    group = ET.SubElement(element, "right" if side < 0 else "left")
    order = list(enumerate(lanes))
    # OpenDRIVE lists lanes from left to right.
    for place, lane in order if side < 0 else reversed(order):
        record = ET.SubElement(
            group, "lane", id=str(side * (place + 1)), type=lane.kind, level="false"
        )
        _write_link(record, road, joints, lane, side, section)
        _write_widths(record, lane, begin, end)
        outer = lanes[place + 1] if place + 1 < len(lanes) else None
        _write_marks(record, _outer_marks(road, side, lane, outer), begin, end)
        if lane.speed_kmh:
            ET.SubElement(record, "speed", sOffset="0", max=str(lane.speed_kmh), unit="km/h")


def write_lanes(element: ET.Element, road: Road, joints: Joints) -> None:
    """Add the ``lanes`` element of an ordinary road."""
    lanes = ET.SubElement(element, "lanes")
    cuts = road.cuts()
    for section in range(len(cuts) - 1):
        begin = cuts[section] + section * _UNEVEN_M
        record = ET.SubElement(lanes, "laneSection", s=_text(begin))
        _write_side(record, road, joints, 1, section)
        centre = ET.SubElement(
            ET.SubElement(record, "center"), "lane", id="0", type="none", level="false"
        )
        _write_marks(centre, _centre_marks(road), cuts[section], cuts[section + 1])
        _write_side(record, road, joints, -1, section)


FIRST_OBJECT = 60001
INSIDE_M = 0.02  # text rounding must not push an object past the end of its road
ZEBRA_LENGTH_M = 4.0
ISLAND_GAP_M = 4.4
ISLAND_LENGTH_M = 7.0
ISLAND_HALF_WIDTH_M = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineObject:
    """A crosswalk or an island; corners (u, v) in the road's frame at ``s_m``."""

    number: int
    road: int
    kind: str
    name: str
    s_m: float
    corners: tuple[tuple[float, float], ...]
    height_m: float = 0.0


def _in_frame(road: Road, s_m: float, points: Vector) -> tuple[tuple[float, float], ...]:
    pose = road.line.pose(s_m)
    along = pose.direction
    left = np.array([-along[1], along[0]])
    delta = points - np.array([pose.x, pose.y])
    return tuple((float(d @ along), float(d @ left)) for d in delta)


def _crossing_corners(crossing: NetCrossing) -> Vector:
    a, b = crossing.shape[0, :2], crossing.shape[-1, :2]
    along = (b - a) / np.hypot(*(b - a))
    aside = np.array([-along[1], along[0]]) * (crossing.width_m / 2.0)
    return np.array([a - aside, b - aside, b + aside, a + aside])


def _at_junctions(network: Network, by_edge: dict[str, Road]) -> list[tuple[Road, float, Vector]]:
    outlines = []
    for crossing in network.crossings:
        corners = _crossing_corners(crossing)
        middle = corners.mean(axis=0)
        road = by_edge[crossing.edges[0]]
        first, last = road.line.pose(0.0), road.line.pose(road.length_m)
        at_start = np.hypot(first.x - middle[0], first.y - middle[1]) < np.hypot(
            last.x - middle[0], last.y - middle[1]
        )
        outlines.append((road, INSIDE_M if at_start else road.length_m - INSIDE_M, corners))
    return outlines


def _strip_corners(road: Road, s_m: float, half_length_m: float) -> Vector:
    """Across the carriageway from kerb to kerb, following the road."""
    corners = []
    for side, ends in ((-1, (-half_length_m, half_length_m)), (1, (half_length_m, -half_length_m))):
        for step in ends:
            pose = road.line.pose(s_m + step)
            corners.append(pose.moved(side * road.half_width(side, s_m + step, to_kerb=True)))
    return np.array(corners)


def _island_corners(road: Road, begin_m: float, end_m: float) -> Vector:
    corners = []
    for station, half in (
        (begin_m, -ISLAND_HALF_WIDTH_M),
        (end_m, -ISLAND_HALF_WIDTH_M),
        (end_m, ISLAND_HALF_WIDTH_M),
        (begin_m, ISLAND_HALF_WIDTH_M),
    ):
        corners.append(road.line.pose(station).moved(half))
    return np.array(corners)


def build_objects(plan: TownPlan, network: Network, roads: list[Road]) -> list[OutlineObject]:
    """Crosswalks at junctions and between them, and the islands of the refuges."""
    by_edge = {edge: road for road in roads for edge in (road.forward, road.backward) if edge}
    shapes = [
        (road, s_m, corners, "crosswalk", "Crosswalk", 0.0)
        for road, s_m, corners in _at_junctions(network, by_edge)
    ]
    for zebra in plan.zebras:
        road = by_edge[zebra.edge]
        s_m = road.station(zebra.edge, zebra.at * road.length_m)
        corners = _strip_corners(road, s_m, ZEBRA_LENGTH_M / 2.0)
        shapes.append((road, s_m, corners, "crosswalk", "Crosswalk", 0.0))
        if zebra.refuge:
            for sign in (-1.0, 1.0):
                ends = sorted(
                    s_m + sign * reach
                    for reach in (ISLAND_GAP_M / 2.0, ISLAND_GAP_M / 2.0 + ISLAND_LENGTH_M)
                )
                corners = _island_corners(road, *ends)
                shapes.append((road, sum(ends) / 2.0, corners, "trafficIsland", "Island", 0.18))
    return [
        OutlineObject(
            number=FIRST_OBJECT + place,
            road=road.number,
            kind=kind,
            name=name,
            s_m=s_m,
            corners=_in_frame(road, s_m, corners),
            height_m=height,
        )
        for place, (road, s_m, corners, kind, name, height) in enumerate(shapes)
    ]


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
        root,
        "header",
        revMajor="1",
        revMinor="4",
        name=plan.name,
        version="1",
        date="2025-01-01",
        north="0",
        south="0",
        east="0",
        west="0",
    )
    reference = ET.SubElement(header, "geoReference")
    reference.text = (
        f"+proj=tmerc +lat_0={plan.latitude_deg} +lon_0={plan.longitude_deg} +k=1 +x_0=0 +y_0=0 "
        "+datum=WGS84 +units=m +vunits=m +no_defs"
    )


def _geometry(element: ET.Element, line: ReferenceLine) -> None:
    view = ET.SubElement(element, "planView")
    for start, piece in zip(line.starts_m, line.pieces, strict=True):
        geometry = ET.SubElement(
            view,
            "geometry",
            s=number_text(start),
            x=number_text(piece.x),
            y=number_text(piece.y),
            hdg=number_text(piece.heading_rad),
            length=number_text(piece.length_m),
        )
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
        root,
        "road",
        name=name,
        length=number_text(line.length_m),
        id=str(number),
        junction=str(junction),
    )


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
                link,
                tag,
                elementType="road",
                elementId=str(other.road.number),
                contactPoint=other.contact,
            )
        elif node in joints.junctions:
            number = joints.junctions[node].number
            ET.SubElement(link, tag, elementType="junction", elementId=str(number))


def _objects(element: ET.Element, objects: list[OutlineObject]) -> None:
    group = ET.SubElement(element, "objects")
    for item in objects:
        record = ET.SubElement(
            group,
            "object",
            id=str(item.number),
            name=item.name,
            type=item.kind,
            s=number_text(round(item.s_m, 4)),
            t="0",
            zOffset="0",
            hdg="0",
            orientation="none",
            width="0",
            length="0",
        )
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
            group,
            "signal",
            id=str(item.number),
            name=item.name,
            s=number_text(round(item.s_m, 3)),
            t=number_text(round(item.t_m, 3)),
            zOffset=number_text(item.z_m),
            hOffset=number_text(signal_heading(item.side)),
            pitch="0",
            roll="0",
            orientation="-" if item.side < 0 else "+",
            dynamic="yes" if light else "no",
            country="OpenDRIVE",
            type=item.kind,
            subtype=value if item.kind == SPEED else "-1",
            value=value,
            text="",
            height="0.9",
            width="0.3" if light else "0.7",
        )
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
        lane,
        "roadMark",
        sOffset="0",
        type="none",
        weight="standard",
        color="standard",
        width="0",
        laneChange="none",
    )


def _junction(root: ET.Element, drawing: Drawing, node: str) -> None:
    junction = drawing.joints.junctions[node]
    element = ET.SubElement(root, "junction", id=str(junction.number), name=node)
    for place, road in enumerate(junction.connecting):
        connection = ET.SubElement(
            element,
            "connection",
            id=str(place),
            incomingRoad=str(road.source.road.number),
            connectingRoad=str(road.number),
            contactPoint="start",
        )
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
            root,
            "controller",
            id=str(controller.number),
            name=f"ctrl{controller.number}",
            sequence="0",
        )
        for signal in controller.signals:
            ET.SubElement(element, "control", signalId=str(signal), type="")
    for node in drawing.joints.junctions:
        _junction(root, drawing, node)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
