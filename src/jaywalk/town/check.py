"""Checks of OpenDRIVE files, and the speed-limit tables that public drivers read.

:func:`check_opendrive` reports the content, errors and warnings of a file. CARLA's native parser
can abort on a broken file, so :func:`probe` runs this module in a separate process: started as
``python -m jaywalk.town.check`` with the text on standard input, it prints one JSON object, and an
abort ends that process only.

:func:`limit_table` gives the speed limits of a town in the form that PDM-Lite and the traffic of
Fail2Drive read. Both look the limits up in a file of the town's lane points, which public
repositories have for CARLA's towns only. The steps of the limits and the radius of five metres are
those of the published tables.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.core.errors import DataError, JaywalkError
from jaywalk.town.lanes import lane_strips
from jaywalk.town.opendrive import parse_opendrive, read_opendrive, structure_errors
from jaywalk.town.roads import Road, read_roads
from jaywalk.town.town import Town

STEPS_KMH: Final = (50.0, 80.0, 100.0, 120.0)  # a limit is rounded up to one of these
UNSAID_KMH: Final = 50.0  # for a road without a limit
_SPACING_M: Final = 1.0
_AROUND_M: Final = 5.0  # the highest limit in this radius counts, so that limits do not flicker


def limit_table(town: Town) -> dict[str, NDArray[np.float64]]:
    """Return ``locations`` (n, 3) of lane points (CARLA's frame) and ``speed_limits`` in km/h."""
    places = []
    said = []
    for waypoint in town.carla_map.generate_waypoints(_SPACING_M):
        at, yaw_deg = waypoint.transform.location, waypoint.transform.rotation.yaw
        places.append((at.x, at.y, at.z))
        said.append(town.speed_limit_kmh(at.x, at.y, at.z, yaw_deg))
    locations = np.array(places, np.float64).reshape(-1, 3)
    limits = np.nan_to_num(np.array(said, np.float64), nan=UNSAID_KMH)
    if not len(limits):
        return {"speed_limits": limits, "locations": locations}
    near = cKDTree(locations[:, :2]).query_ball_point(locations[:, :2], _AROUND_M, p=np.inf)
    highest = np.array([limits[some].max() for some in near])
    step = np.searchsorted(STEPS_KMH, highest).clip(max=len(STEPS_KMH) - 1)
    return {"speed_limits": np.array(STEPS_KMH)[step], "locations": locations}


def write_limit_table(town: Town, folder: Path) -> Path:
    """Write ``<town>_speed_limits.npy`` into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{town.name}_speed_limits.npy"
    # A pickled dict is the format that these programs load.
    np.save(path, np.array(limit_table(town), dtype=object), allow_pickle=True)
    return path


_TIMEOUT_S = 120.0


def probe(text: str) -> dict[str, Any]:
    """Return the facts that need CARLA's parser; :class:`DataError` if it refuses or aborts."""
    command = [sys.executable, "-m", "jaywalk.town.check"]
    try:
        done = subprocess.run(  # our own module, no shell
            command, input=text.encode(), capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"CARLA's parser did not finish within {_TIMEOUT_S:.0f} s.") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "no message"
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
        raise DataError(f"CARLA's parser died on this file ({how}): {reason}")
    answer: dict[str, Any] = json.loads(done.stdout.decode().splitlines()[-1])
    if "error" in answer:
        raise DataError(str(answer["error"]))
    return answer


def _facts(text: str) -> dict[str, Any]:
    from jaywalk.town.opendrive import native_map
    from jaywalk.town.town import Town

    start = time.perf_counter()  # reported as the load time; decides nothing
    native_map("check", text)
    load_s = time.perf_counter() - start
    town = Town(name="check", opendrive=text)
    kinds = [sign.type_id for sign in town.signs]
    return {
        "load_s": round(load_s, 3),
        "crosswalks": len(town.crosswalks),
        "spawn_points": len(town.spawn_points),
        "lights": len(town.lights),
        "lights_without_lane": [x.signal_id for x in town.lights if not len(x.stops)],
        "signs_without_lane": [x.signal_id for x in town.signs if not len(x.stops)],
        "stop": kinds.count("traffic.stop"),
        "yield": kinds.count("traffic.yield"),
        "speed": sum(kind.startswith("traffic.speed") for kind in kinds),
        "dead_ends": _dead_ends(town),
    }


def _dead_ends(town: Any) -> int:
    """Count the driving lanes outside junctions that have no lane after their end."""
    ends = 0
    for strip in town.strips:
        if strip.kind != "driving" or strip.in_junction:
            continue
        forward = strip.lane.lane_id < 0
        section = strip.road.sections[-1 if forward else 0]
        if strip.section is not section:
            continue
        s_m = strip.s_m[-1] - 0.05 if forward else strip.s_m[0] + 0.05
        waypoint = town.carla_map.get_waypoint_xodr(strip.road.road_id, strip.lane.lane_id, s_m)
        if waypoint is None or strip.width_m.max() < 1.0:
            continue
        ends += not waypoint.next(0.5)
    return ends


def _main() -> None:
    text = sys.stdin.buffer.read().decode()
    try:
        answer = _facts(text)
    except (JaywalkError, RuntimeError) as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")


_CONTACTS = {"start", "end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TownCheck:
    """Result of a check. ``ok`` is false if there is at least one error."""

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
        """Return the fields as plain values for JSON."""
        return asdict(self)


def check_opendrive(path: Path) -> TownCheck:
    """Check a file; :class:`~jaywalk.core.errors.DataError` if it is not OpenDRIVE."""
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
    """Errors of lane links and junction connections that lead to a missing lane."""
    ends = {
        (road.road_id, contact): {lane.lane_id for lane in (*section.left, *section.right)}
        for road in roads
        if road.sections
        for contact, section in (("start", road.sections[0]), ("end", road.sections[-1]))
    }
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


if __name__ == "__main__":
    _main()
