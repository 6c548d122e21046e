"""Conversion of OpenDRIVE text to ``carla.Map``; all calls of CARLA's native parser are here.

The native parser can abort the process on a broken file. The XML and its structure are therefore
checked first, with clear error messages.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from jaywalk.core.errors import DataError
from jaywalk.core.extras import missing_extra
from jaywalk.core.files import gunzip, read_bytes

if TYPE_CHECKING:
    import carla

MAX_TEXT_BYTES = 64 * 1024 * 1024  # the largest CARLA town has 10 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLimits:
    """Largest accepted size of a map; checked before any slow step."""

    characters: int
    tags: int  # opening and closing ones together
    roads: int
    road_km: float  # total length of the roads
    lane_km: float  # total length of the lanes; every metre is a sample
    area_km2: float  # of the box around all lanes and crosswalks
    reach_km: float  # largest coordinate


# CARLA's largest towns are 10 km wide; a user's file may be a few times larger.
FILE_LIMITS: Final = MapLimits(
    characters=MAX_TEXT_BYTES,
    tags=4_000_000,
    roads=50_000,
    road_km=2000.0,
    lane_km=10_000.0,
    area_km2=400.0,
    reach_km=1000.0,
)
# A client's map is built while others drive: at most a town of usual size, ten times Town04.
CLIENT_LIMITS: Final = MapLimits(
    characters=16_000_000,
    tags=1_000_000,
    roads=5_000,
    road_km=150.0,
    lane_km=600.0,
    area_km2=16.0,
    reach_km=100.0,
)
_METRES: Final = frozenset(
    {"s", "t", "x", "y", "z", "u", "v", "length", "width", "height", "radius", "sOffset", "zOffset"}
)
MAP_TEXT_LIMIT: Final = CLIENT_LIMITS.characters


def read_opendrive(path: Path) -> str:
    """Read the text of a ``.xodr`` or ``.xodr.gz`` file."""
    raw = read_bytes(path, "an OpenDRIVE file (.xodr or .xodr.gz)", MAX_TEXT_BYTES)
    if path.suffix == ".gz":
        raw = gunzip(raw, str(path), MAX_TEXT_BYTES)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"'{path}' is not UTF-8 text (byte {error.start}).") from error


def parse_opendrive(text: str, name: str) -> Element:
    """Parse OpenDRIVE text without resolving entities; the root must be ``OpenDRIVE``."""
    if not text.strip():
        raise DataError(f"'{name}' is empty; expected an OpenDRIVE document.")
    try:
        # Fed as bytes: ElementTree rejects a str whose declaration names another encoding.
        root: Element = defusedxml.ElementTree.fromstring(text.encode())
    except ParseError as error:
        raise DataError(f"'{name}' is not well-formed XML: {error}.") from error
    except DefusedXmlException as error:
        raise DataError(
            f"'{name}' declares entities or a DTD, which we refuse: {error}."
        ) from error
    if root.tag != "OpenDRIVE":
        raise DataError(f"'{name}' has the root <{root.tag}>; expected <OpenDRIVE>.")
    return root


def check_size(text: str, name: str, limits: MapLimits) -> None:
    """Refuse a text that is too large; counts characters, tags and roads before it parses.

    Raises:
        DataError: The text has too many characters or tags, or its roads exceed ``limits``.
    """
    if len(text) > limits.characters:
        raise DataError(
            f"'{name}' has {len(text)} characters; expected at most {limits.characters}."
        )
    tags = text.count("<")
    if tags > limits.tags:
        raise DataError(f"'{name}' has {tags} XML tags; expected at most {limits.tags}.")
    roads = text.count("<road ")
    if roads > limits.roads:
        raise DataError(f"'{name}' has {roads} roads; expected at most {limits.roads}.")
    if errors := size_errors(parse_opendrive(text, name), limits):
        raise DataError(f"'{name}' is too large a map: {errors[0]}.")


def size_errors(root: Element, limits: MapLimits) -> list[str]:
    """Return the exceeded limits of a map and its infinite values, one line each."""
    roads = root.findall("road")
    errors = _wild_values(root, 1000.0 * limits.reach_km)
    road_km = sum(abs(_number(road.get("length"))) for road in roads) / 1000.0
    lane_km = sum(map(_lane_metres, roads)) / 1000.0
    errors += _too_much("number of roads", float(len(roads)), limits.roads, "")
    errors += _too_much("total length of the roads", road_km, limits.road_km, " km")
    errors += _too_much("total length of the lanes", lane_km, limits.lane_km, " km")
    return errors


def _lane_metres(road: Element) -> float:
    """Total length of the sampled lanes of a road."""
    sections = road.findall("lanes/laneSection")
    starts = [_number(section.get("s", "0")) for section in sections]
    ends = [*starts[1:], _number(road.get("length"))][: len(starts)]
    return sum(
        max(end - start, 0.0) * len(section.findall("*/lane"))
        for section, start, end in zip(sections, starts, ends, strict=True)
    )


def _wild_values(root: Element, reach_m: float) -> list[str]:
    """Report the first coordinate or length that is infinite or above ``reach_m``."""
    for element in root.iter():
        for key, text in element.items():
            if key in _METRES:
                value = _number(text)
                # Text that is not a number is read as 0 or reported with the road's other errors.
                if abs(value) > reach_m or (value != value and text.strip(" +-").lower() == "nan"):
                    return [f"<{element.tag}> has {key}='{text}', expected at most {reach_m:g} m"]
    return []


def _too_much(what: str, value: float, most: float, unit: str) -> list[str]:
    if not math.isfinite(value):
        return [f"the {what} is {value:g}{unit}, expected a finite number"]
    return [f"the {what} is {value:g}{unit}, at most {most:g}{unit} are taken"] * (value > most)


def structure_errors(root: Element) -> list[str]:
    """Return all errors that would make the native parser fail, one line each, or no line."""
    roads = root.findall("road")
    if not roads:
        return ["the file has no <road>"]
    errors: list[str] = size_errors(root, FILE_LIMITS)
    ids = [road.get("id", "") for road in roads]
    junctions = [junction.get("id", "") for junction in root.findall("junction")]
    errors += [
        f"{kind} id '{twice}' is used more than once"
        for kind, names in (("road", ids), ("junction", junctions))
        for twice in sorted(n for n, k in Counter(names).items() if k > 1)
    ]
    known = {"road": set(ids), "junction": set(junctions)}
    for road in roads:
        errors += _road_errors(road, known)
    for connection in root.iterfind("junction/connection"):
        for attribute in ("incomingRoad", "connectingRoad"):
            if connection.get(attribute) not in known["road"]:
                errors.append(
                    f"junction connection '{connection.get('id')}' names the {attribute} "
                    f"'{connection.get(attribute)}', which does not exist"
                )
    return errors


def _road_errors(road: Element, known: dict[str, set[str]]) -> list[str]:
    name = f"road '{road.get('id', '')}'"
    errors: list[str] = []
    if not _is_integer(road.get("id")):
        errors.append(f"{name}: the id is not an integer")
    if not 0.0 < _number(road.get("length")) < math.inf:
        errors.append(f"{name}: length is '{road.get('length')}', expected a finite number above 0")
    geometries = road.findall("planView/geometry")
    if not geometries:
        errors.append(f"{name}: no <planView> geometry")
    for geometry in geometries:
        values = [_number(geometry.get(key)) for key in ("s", "x", "y", "hdg", "length")]
        if any(value != value for value in values) or not len(geometry):
            errors.append(f"{name}: geometry at s={geometry.get('s')} is incomplete")
        elif not all(map(math.isfinite, values)):
            errors.append(f"{name}: geometry at s={geometry.get('s')} has an infinite value")
    if not road.findall("lanes/laneSection"):
        errors.append(f"{name}: no <laneSection>")
    errors += [
        f"{name}: lane id '{lane.get('id')}' is not an integer"
        for lane in road.iterfind("lanes/laneSection/*/lane")
        if not _is_integer(lane.get("id"))
    ]
    if (junction := road.get("junction", "-1")) != "-1" and junction not in known["junction"]:
        errors.append(f"{name}: lies in junction '{junction}', which does not exist")
    for end in ("predecessor", "successor"):
        link = road.find(f"link/{end}")
        if link is not None and link.get("elementId") not in known.get(
            link.get("elementType", ""), set()
        ):
            errors.append(
                f"{name}: its {end} is {link.get('elementType')} '{link.get('elementId')}', "
                "which does not exist"
            )
    return errors


def carla_map(name: str, text: str) -> carla.Map:
    """Build CARLA's map from the text; :class:`DataError` if that is not possible."""
    errors = structure_errors(parse_opendrive(text, name))
    if errors:
        more = f" (and {len(errors) - 1} more; see `jaywalk town check`)" if errors[1:] else ""
        raise DataError(f"'{name}' is not a usable OpenDRIVE file: {errors[0]}{more}.")
    return native_map(name, text)


def native_map(name: str, text: str) -> carla.Map:
    """Call the native parser without checking the text first."""
    wheel = import_carla()
    try:
        parsed: carla.Map = wheel.Map(name, text)
        return parsed
    except RuntimeError as error:
        raise DataError(f"CARLA's parser refuses '{name}': {error}.") from error


def import_carla() -> Any:
    """Import the CARLA client library, or raise an error that says how to install it."""
    try:
        import carla
    except ImportError as error:
        raise missing_extra(error) or error from error
    return carla


def _is_integer(text: str | None) -> bool:
    try:
        int(text or "")
    except ValueError:
        return False
    return True


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")
