"""Says whether an OpenDRIVE file makes a usable town, what is in it and what is doubtful."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from jaywalk.core.errors import DataError
from jaywalk.town.lanes import lane_strips
from jaywalk.town.opendrive import parse_opendrive, read_opendrive, structure_errors
from jaywalk.town.probe import probe
from jaywalk.town.roads import Road, read_roads

_CONTACTS = {"start", "end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TownCheck:
    """What a check found. ``ok`` is false as soon as there is one error."""

    file: str
    ok: bool
    errors: list[str]
    warnings: list[str]
    roads: int
    road_km: float
    lanes: dict[str, int]
    junctions: int
    crosswalks: int
    signals: dict[str, int]
    controllers: int
    dead_ends: int
    links_ok: bool
    spawn_points: int
    sidewalk_km: float
    load_s: float

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values for JSON."""
        return asdict(self)


def check_opendrive(path: Path) -> TownCheck:
    """Check a file; :class:`~jaywalk.core.errors.DataError` when it is no OpenDRIVE at all."""
    text = read_opendrive(path)
    root = parse_opendrive(text, str(path))
    errors = structure_errors(root)
    roads = [] if errors else read_roads(root)
    errors += _link_errors(root, roads)
    facts: dict[str, Any] = {}
    if not errors:
        try:
            facts = probe(text)
        except DataError as error:
            errors.append(str(error))
    strips = lane_strips(roads, 5.0)
    return TownCheck(
        file=str(path),
        ok=not errors,
        errors=errors,
        warnings=_warnings(root, roads, facts),
        roads=len(root.findall("road")),
        road_km=round(sum(road.length_m for road in roads) / 1000.0, 3),
        lanes=dict(sorted(Counter(strip.kind for strip in strips).items())),
        junctions=len(root.findall("junction")),
        crosswalks=facts.get("crosswalks", 0),
        signals={
            "lights": facts.get("lights", 0),
            "stop": facts.get("stop", 0),
            "yield": facts.get("yield", 0),
            "speed": facts.get("speed", 0),
        },
        controllers=len(root.findall("controller")),
        dead_ends=facts.get("dead_ends", 0),
        links_ok=not any("link" in error or "does not exist" in error for error in errors),
        spawn_points=facts.get("spawn_points", 0),
        sidewalk_km=round(
            sum(float(s.s_m[-1] - s.s_m[0]) for s in strips if s.kind == "sidewalk") / 1000.0, 3
        ),
        load_s=facts.get("load_s", 0.0),
    )


def _link_errors(root: Element, roads: list[Road]) -> list[str]:
    """Lane links and junction connections that lead to a lane that is not there."""
    ends = {
        (road.road_id, contact): {
            lane.lane_id for lane in (*section.left, *section.right)
        }
        for road in roads
        if road.sections
        for contact, section in (("start", road.sections[0]), ("end", road.sections[-1]))
    }  # fmt: skip
    errors: list[str] = []
    for road in roads:
        for end, side in (("predecessor", "start"), ("successor", "end")):
            link = road.element.find(f"link/{end}")
            if link is None or link.get("elementType") != "road":
                continue
            errors += _lane_link_errors(road, end, side, link, ends)
    for connection in root.iterfind("junction/connection"):
        contact = connection.get("contactPoint", "")
        if roads and contact in _CONTACTS:
            there = ends.get((int(connection.get("connectingRoad", "-1")), contact), set())
            errors += [
                f"junction connection '{connection.get('id')}' links to lane {link.get('to')} "
                f"of road '{connection.get('connectingRoad')}', which has no such lane"
                for link in connection.iterfind("laneLink")
                if int(link.get("to", "0")) not in there
            ]
    return errors


def _lane_link_errors(
    road: Road, end: str, side: str, link: Element, ends: dict[tuple[int, str], set[int]]
) -> list[str]:
    contact = link.get("contactPoint", "")
    if contact not in _CONTACTS:
        return [f"road '{road.road_id}': its {end} link has no contactPoint"]
    there = ends.get((int(link.get("elementId", "-1")), contact), set())
    section = road.element.findall("lanes/laneSection")[0 if side == "start" else -1]
    errors = []
    for lane in section.iterfind("*/lane"):
        target = lane.find(f"link/{end}")
        if target is not None and int(target.get("id", "0")) not in there | {0}:
            errors.append(
                f"road '{road.road_id}' lane {lane.get('id')}: its {end} link names lane "
                f"{target.get('id')} of road '{link.get('elementId')}', which has no such lane"
            )
    return errors


def _warnings(root: Element, roads: list[Road], facts: dict[str, Any]) -> list[str]:
    warnings: list[str] = []
    if not (root.findtext("header/geoReference") or "").strip():
        warnings.append("no <geoReference>: geographic positions start at latitude 0, longitude 0")
    if roads and not any(kmh == kmh for road in roads for _, kmh in road.speeds):
        warnings.append("no road has a speed limit: vehicles keep the default of 30 km/h")
    if roads and not any(
        lane.kind == "sidewalk"
        for road in roads
        for section in road.sections
        for lane in (*section.left, *section.right)
    ):
        warnings.append("no sidewalk: there is nowhere for pedestrians to walk")
    if facts:
        if not facts["crosswalks"]:
            warnings.append("no crosswalk: pedestrians cannot cross by the pedestrian mesh")
        if not facts["spawn_points"]:
            warnings.append("no place for a vehicle to start")
        if facts["dead_ends"]:
            warnings.append(f"{facts['dead_ends']} driving lanes end with nothing behind them")
        missing = [*facts["lights_without_lane"], *facts["signs_without_lane"]]
        if missing:
            warnings.append(f"signals that stop no lane: {', '.join(missing[:10])}")
    return warnings
