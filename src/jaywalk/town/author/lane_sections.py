"""Lane sections of ordinary roads: widths, links by identity, markings and speeds."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from jaywalk.town.author.junctions import Joints
from jaywalk.town.author.roads import Lane, Road

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
            element, "roadMark", sOffset=_text(max(0.0, mark.from_m - begin_m)), type=mark.kind,
            weight="standard", color=mark.colour, width=_text(mark.width_m), height="0.02",
            laneChange=mark.lane_change,
        )  # fmt: skip


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
