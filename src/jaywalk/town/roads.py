"""Roads of an OpenDRIVE file as plain values: geometry, lanes, markings, speeds, objects.

Frame here: OpenDRIVE's own (right-handed, metres, radians). Polynomials are rows (s, a, b, c, d).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from xml.etree.ElementTree import Element

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.units import MPH_TO_KMH, MPS_TO_KMH

_KMH_PER_UNIT = {"km/h": 1.0, "kmh": 1.0, "mph": MPH_TO_KMH, "m/s": MPS_TO_KMH, "": MPS_TO_KMH}


class GeometryKind(IntEnum):
    """Shape of one piece of a reference line."""

    LINE = 0
    ARC = 1  # curvature
    SPIRAL = 2  # curvature at start and end
    POLY3 = 3  # v(u) = a..d
    PARAM_POLY3 = 4  # u(p) = a..d, v(p) = a..d, range of p


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadMark:
    """Marking on the outer edge of a lane, from ``s_m`` (from the road's start) on."""

    s_m: float
    kind: str  # OpenDRIVE's word: "solid", "broken", "solid solid", "curb", "none", ...
    colour: str
    width_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One lane of one lane section; ids are positive left of the reference line."""

    lane_id: int
    kind: str  # "driving", "sidewalk", "shoulder", "parking", ...
    widths: FloatArray  # (k, 5), s from the road's start
    marks: tuple[RoadMark, ...]
    speeds: tuple[tuple[float, float], ...]  # (s, km/h)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneSection:
    """Stretch of a road with constant lanes; left and right go outwards from the middle."""

    start_m: float
    end_m: float
    centre_marks: tuple[RoadMark, ...]
    left: tuple[Lane, ...]
    right: tuple[Lane, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """One road: reference line, profile, lanes, and the raw elements of signals and objects."""

    road_id: int
    junction_id: int  # -1 outside junctions
    length_m: float
    geometry: FloatArray  # (k, 14): s, x, y, heading, length, kind, eight parameters
    elevation: FloatArray
    lane_offset: FloatArray
    sections: tuple[LaneSection, ...]
    speeds: tuple[tuple[float, float], ...]  # (s, km/h)
    element: Element

    def speed_kmh(self, s_m: float) -> float:
        """Speed limit of the road's type record at ``s_m``; NaN if it gives none."""
        return _value_at(self.speeds, s_m)


def lane_speed_kmh(road: Road, lane: Lane, s_m: float) -> float:
    """Speed limit of a lane: its own record, else the road's."""
    own = _value_at(lane.speeds, s_m)
    return own if own == own else road.speed_kmh(s_m)


def read_roads(root: Element) -> list[Road]:
    """Read all roads of a structurally sound OpenDRIVE document, in file order."""
    return [_read_road(element) for element in root.iterfind("road")]


def _read_road(element: Element) -> Road:
    length_m = float(element.get("length", "nan"))
    lanes = element.find("lanes")
    sections = [] if lanes is None else lanes.findall("laneSection")
    starts = [_float(section, "s") for section in sections]
    ends = [*starts[1:], length_m]
    return Road(
        road_id=int(element.get("id", "-1")),
        junction_id=int(element.get("junction", "-1")),
        length_m=length_m,
        geometry=np.array([_geometry(g) for g in element.iterfind("planView/geometry")]),
        elevation=_polynomials(element.iterfind("elevationProfile/elevation"), "s", 0.0),
        lane_offset=_polynomials(element.iterfind("lanes/laneOffset"), "s", 0.0),
        sections=tuple(
            _section(section, start, max(end, start))
            for section, start, end in zip(sections, starts, ends, strict=True)
        ),
        speeds=tuple(
            (_float(record, "s"), _speed_kmh(record.find("speed")))
            for record in element.iterfind("type")
        ),
        element=element,
    )


def _geometry(element: Element) -> list[float]:
    head = [_float(element, key) for key in ("s", "x", "y", "hdg", "length")]
    shape = element[0]
    kind, keys = {
        "line": (GeometryKind.LINE, ()),
        "arc": (GeometryKind.ARC, ("curvature",)),
        "spiral": (GeometryKind.SPIRAL, ("curvStart", "curvEnd")),
        "poly3": (GeometryKind.POLY3, ("a", "b", "c", "d")),
        "paramPoly3": (
            GeometryKind.PARAM_POLY3,
            ("aU", "bU", "cU", "dU", "aV", "bV", "cV", "dV"),
        ),
    }.get(shape.tag, (GeometryKind.LINE, ()))
    values = [_float(shape, key) for key in keys]
    if kind is GeometryKind.PARAM_POLY3 and shape.get("pRange", "arcLength") == "arcLength":
        # Written over 0..length; stored over 0..1 like the normalised form.
        values = [value * head[4] ** (k % 4) for k, value in enumerate(values)]
    return [*head, float(kind), *values, *([0.0] * (8 - len(values)))]


def _section(element: Element, start_m: float, end_m: float) -> LaneSection:
    centre = element.find("center/lane")
    left = [_lane(lane, start_m) for lane in element.iterfind("left/lane")]
    right = [_lane(lane, start_m) for lane in element.iterfind("right/lane")]
    return LaneSection(
        start_m=start_m,
        end_m=end_m,
        centre_marks=() if centre is None else _marks(centre, start_m),
        left=tuple(sorted(left, key=lambda lane: lane.lane_id)),
        right=tuple(sorted(right, key=lambda lane: -lane.lane_id)),
    )


def _lane(element: Element, start_m: float) -> Lane:
    return Lane(
        lane_id=int(element.get("id", "0")),
        kind=element.get("type", "none"),
        widths=_polynomials(element.iterfind("width"), "sOffset", start_m),
        marks=_marks(element, start_m),
        speeds=tuple(
            (start_m + _float(record, "sOffset"), _speed_kmh(record))
            for record in element.iterfind("speed")
        ),
    )


def _marks(lane: Element, start_m: float) -> tuple[RoadMark, ...]:
    return tuple(
        RoadMark(
            s_m=start_m + _float(mark, "sOffset"),
            kind=mark.get("type", "none"),
            colour=mark.get("color", "standard"),
            width_m=_float(mark, "width") or 0.12,
        )
        for mark in lane.iterfind("roadMark")
    )


def _polynomials(elements: Iterator[Element], s_key: str, start_m: float) -> FloatArray:
    rows = [
        [start_m + _float(e, s_key), *(_float(e, key) for key in ("a", "b", "c", "d"))]
        for e in elements
    ]
    return np.array(rows or [[start_m, 0.0, 0.0, 0.0, 0.0]])


def _speed_kmh(element: Element | None) -> float:
    if element is None:
        return float("nan")
    try:
        value = float(element.get("max", "nan"))
    except ValueError:  # "no limit", "undefined"
        return float("nan")
    return value * _KMH_PER_UNIT.get(element.get("unit", ""), float("nan"))


def _value_at(records: tuple[tuple[float, float], ...], s_m: float) -> float:
    value = float("nan")
    for start_m, record in records:
        if start_m > s_m + 1e-6:
            break
        value = record
    return value


def _float(element: Element, key: str) -> float:
    try:
        return float(element.get(key, "0"))
    except ValueError:
        return 0.0
