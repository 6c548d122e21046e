"""OpenDRIVE text in, ``carla.Map`` out: the one place that hands a file to CARLA's native parser.

The native parser may abort the process on a broken file, so the XML and its structure are checked
here first and told in plain words.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from jaywalk.core.errors import DataError, PrerequisiteError

if TYPE_CHECKING:
    import carla

MAX_TEXT_BYTES = 64 * 1024 * 1024  # the largest CARLA town has 10 MB


def read_opendrive(path: Path) -> str:
    """Read the text of a ``.xodr`` or ``.xodr.gz`` file."""
    if not path.is_file():
        raise DataError(f"No such file: '{path}'. Give an OpenDRIVE file (.xodr or .xodr.gz).")
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            raw = stream.read(MAX_TEXT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error
    if len(raw) > MAX_TEXT_BYTES:
        raise DataError(f"'{path}' has more than {MAX_TEXT_BYTES} bytes of text; that is no town.")
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


def structure_errors(root: Element) -> list[str]:
    """Everything that would make the native parser fail, one line each; empty when sound."""
    roads = root.findall("road")
    if not roads:
        return ["the file has no <road>"]
    errors: list[str] = []
    ids = [road.get("id", "") for road in roads]
    junctions = [junction.get("id", "") for junction in root.findall("junction")]
    errors += [f"{kind} id '{twice}' is used more than once"
               for kind, names in (("road", ids), ("junction", junctions))
               for twice in sorted({name for name in names if names.count(name) > 1})]  # fmt: skip
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
    if not _number(road.get("length")) > 0.0:
        errors.append(f"{name}: length is '{road.get('length')}', expected more than 0")
    geometries = road.findall("planView/geometry")
    if not geometries:
        errors.append(f"{name}: no <planView> geometry")
    for geometry in geometries:
        values = [_number(geometry.get(key)) for key in ("s", "x", "y", "hdg", "length")]
        if any(value != value for value in values) or not len(geometry):
            errors.append(f"{name}: geometry at s={geometry.get('s')} is incomplete")
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
    """Build CARLA's own map of the text; :class:`DataError` when it cannot be one."""
    errors = structure_errors(parse_opendrive(text, name))
    if errors:
        more = f" (and {len(errors) - 1} more; see `jaywalk town check`)" if errors[1:] else ""
        raise DataError(f"'{name}' is not a usable OpenDRIVE file: {errors[0]}{more}.")
    return native_map(name, text)


def native_map(name: str, text: str) -> carla.Map:
    """Call the native parser without looking at the text first."""
    carla = import_carla()
    try:
        return carla.Map(name, text)
    except RuntimeError as error:
        raise DataError(f"CARLA's parser refuses '{name}': {error}.") from error


def import_carla() -> Any:
    """Import the CARLA client library, or say how to get it."""
    try:
        import carla
    except ImportError as error:
        raise PrerequisiteError(
            "The Python package 'carla' is missing; install it with `pip install carla==0.9.16`."
        ) from error
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
