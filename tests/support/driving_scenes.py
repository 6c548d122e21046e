"""Hand-made drives: small records of an ego on a straight road with one junction.

The road runs along x: lane -1 (driving, centre y = 1.75, heading 0) with parking beside it
(centre y = 4.75), lane 1 (driving the other way, centre y = -1.75). x from 200 to 220 is a
junction. Frame: CARLA's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import jaywalk.record
from jaywalk.record import Episode, EpisodeWriter, Record, SharedFiles
from jaywalk.record.episode import Agent, RecordedRoute
from jaywalk.record.rows import KIND_VEHICLE, NO_CLIP, STATE_DTYPE

LANE_Y = 1.75
HALF_LENGTH_M = 2.4

_LANES = """
<lanes><laneSection s="0">
<left><lane id="1" type="driving" level="false">{left}<width sOffset="0" a="3.5" b="0" c="0" d="0"/>
</lane></left>
<center><lane id="0" type="none" level="false"/></center>
<right><lane id="-1" type="driving" level="false">{right}
<width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>{more}</right>
</laneSection></lanes>"""
_PARKING = (
    '<lane id="-2" type="parking" level="false">'
    '<width sOffset="0" a="2.5" b="0" c="0" d="0"/></lane>'
)


def _road(number: int, x: float, length: float, junction: int, link: str, lanes: str) -> str:
    return (
        f'<road name="" length="{length}" id="{number}" junction="{junction}"><link>{link}</link>'
        f'<planView><geometry s="0" x="{x}" y="0" hdg="0" length="{length}"><line/></geometry>'
        f"</planView>{lanes}</road>"
    )


def town_text() -> str:
    """The OpenDRIVE text of the town."""
    open_lanes = _LANES.format(left="", right="", more=_PARKING)
    tied = '<link><predecessor id="{0}"/><successor id="{0}"/></link>'
    inner = _LANES.format(left=tied.format(1), right=tied.format(-1), more="")
    ends = (
        '<predecessor elementType="road" elementId="1" contactPoint="end"/>'
        '<successor elementType="road" elementId="3" contactPoint="start"/>'
    )
    roads = [
        _road(1, 0, 200, -1, '<successor elementType="junction" elementId="10"/>', open_lanes),
        _road(2, 200, 20, 10, ends, inner),
        _road(3, 220, 200, -1, '<predecessor elementType="junction" elementId="10"/>', open_lanes),
    ]
    links = (
        '<connection id="0" incomingRoad="1" connectingRoad="2" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection>'
        '<connection id="1" incomingRoad="3" connectingRoad="2" contactPoint="end">'
        '<laneLink from="1" to="1"/></connection>'
    )
    return (
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="4" name="" version="1"/>'
        f'{"".join(roads)}<junction id="10" name="">{links}</junction></OpenDRIVE>'
    )


def cruise(first_x: float, last_x: float, speed: float, step_s: float = 0.05) -> np.ndarray:
    """Places (n, 3) of an ego that drives along its lane."""
    x = np.arange(first_x, last_x, speed * step_s)
    return np.column_stack([x, np.full(len(x), LANE_Y), np.zeros(len(x))])


def stand(place: ArrayLike, seconds: float, step_s: float = 0.05) -> np.ndarray:
    """Places of an ego that does not move."""
    return np.tile(np.asarray(place, float), (round(seconds / step_s), 1))


def light(x: float, states: list[tuple[int, int]], **more: Any) -> dict[str, Any]:
    """A traffic light over lane -1; ``states`` are (tick, state), 0 is red, 2 green."""
    return {"x": x, "states": states, "half": (1.5, 0.5, 1.0), **more}


def write_drive(
    folder: Path,
    places: ArrayLike,
    *,
    yaw_deg: float | ArrayLike = 0.0,
    speed_mps: ArrayLike | None = None,
    step_s: float = 0.05,
    line: ArrayLike | None = None,
    limit_kmh: float = 30.0,
    traffic_mps: ArrayLike | None = None,
    contacts: list[dict[str, Any]] | None = None,
    others: list[dict[str, Any]] | None = None,
    lights: list[dict[str, Any]] | None = None,
    stops: list[dict[str, Any]] | None = None,
    events: list[dict[str, Any]] | None = None,
    scenarios: list[dict[str, Any]] | None = None,
    **episode: Any,
) -> Record:
    """Write a record with the ego at ``places`` (n, 3), one a tick, and open it.

    Args:
        folder: Folder of the run.
        places: The ego's places.
        yaw_deg: Its heading.
        speed_mps: Its speed along the heading; by default that of its places.
        step_s: Length of a tick.
        line: Points (m, 3) of the dense route; by default the lane from x = 0 to 100.
        limit_kmh: Speed limit that holds for it.
        traffic_mps: Speeds of one background vehicle; none without it.
        contacts: Contacts of the ego: tick, end_tick, other, other_type_id.
        others: Further actors from number 10 on: type_id, kind, attributes, places, yaw.
        lights: From :func:`light`.
        stops: Stop signs: x, and optionally y and half.
        events: Further events: tick, kind, name, detail.
        scenarios: Scenarios of the route.
        episode: Fields of episode.json.
    """
    at = np.asarray(places, float)
    n = len(at)
    name = episode.pop("episode_id", "drive-s1")
    shared = SharedFiles(folder).add(town_text().encode(), ".xodr")
    with EpisodeWriter(folder / "episodes" / name) as writer:
        for tick in range(n):
            writer.add_tick(tick, tick * step_s, step_s)
        _add_route(writer, line)
        _add_actor(writer, 0, "vehicle.lincoln.mkz_2020", "hero", n)
        writer.add_states(_states(0, at, yaw_deg, speed_mps, step_s, limit_kmh))
        if traffic_mps is not None:
            _add_actor(writer, 1, "vehicle.mini.cooper", "background", n)
            speeds = np.broadcast_to(np.asarray(traffic_mps, float), n)
            writer.add_states(_states(1, np.tile([0.0, 500.0, 0.0], (n, 1)), 0.0, speeds, step_s))
        for k, other in enumerate(others or []):
            _add_other(writer, 10 + k, other, n, step_s)
        for k, one in enumerate(lights or []):
            _add_landmark(writer, 100 + k, "traffic.traffic_light", one, n)
            for tick, state in one["states"]:
                _add_signal(writer, 100 + k, tick, state)
        for k, one in enumerate(stops or []):
            _add_landmark(writer, 200 + k, "traffic.stop", one, n)
        for contact in contacts or []:
            row = {"actor": 0, "other_type_id": "vehicle.mini.cooper"} | contact
            writer.add_event(kind="contact", source="geometry", **row)
        for event in events or []:
            detail = json.dumps(event.get("detail", {}))
            known = {k: v for k, v in event.items() if k != "detail"}
            writer.add_event(source="scenario", detail_json=detail, **known)
        about = {
            "ego_actor": 0,
            "agent": Agent(name="cruise"),
            "suite": "jaywalk/hand-v1",
            "scenario": "drive",
            "seed": 1,
            "route": RecordedRoute(route_id="1", dense=True, scenarios=scenarios or []),
            "step_s": step_s,
            "end_reason": "stopped",
        }
        made = Episode(episode_id=name, files={"opendrive": shared}, **(about | episode))
        return jaywalk.record.open(writer.finish(made))


def _add_route(writer: EpisodeWriter, route: ArrayLike | None) -> None:
    if route is None:
        x = np.arange(0.0, 101.0)
        route = np.column_stack([x, np.full(len(x), LANE_Y), np.zeros(len(x))])
    for k, (x, y, z) in enumerate(np.asarray(route, float).tolist()):
        turn = {"pitch_deg": 0.0, "yaw_deg": 0.0, "roll_deg": 0.0}
        writer.add("route", index=k, x_m=x, y_m=y, z_m=z, road_option="LANEFOLLOW", **turn)


def _add_actor(
    writer: EpisodeWriter, number: int, type_id: str, role: str, ticks: int, **more: Any
) -> None:
    row = {
        "actor": number,
        "server_id": 1000 + number,
        "kind": type_id.split(".", maxsplit=1)[0],
        "type_id": type_id,
        "role_name": role,
        "first_tick": 0,
        "last_tick": ticks - 1,
        "half_x_m": HALF_LENGTH_M,
        "half_y_m": 1.0,
        "half_z_m": 0.75,
        "attributes_json": "{}",
    }
    writer.add("actors", **(row | more))


def _add_other(
    writer: EpisodeWriter, number: int, other: dict[str, Any], ticks: int, step_s: float
) -> None:
    attributes = json.dumps(other.get("attributes", {}))
    more = other.get("row", {})
    type_id = other.get("type_id", "vehicle.mini.cooper")
    _add_actor(writer, number, type_id, "scenario", ticks, attributes_json=attributes, **more)
    if "places" in other:
        at = np.asarray(other["places"], float)
        writer.add_states(_states(number, at, other.get("yaw_deg", 0.0), None, step_s))


def _add_landmark(
    writer: EpisodeWriter, number: int, type_id: str, one: dict[str, Any], ticks: int
) -> None:
    kind = "light" if "light" in type_id else "sign"
    _add_actor(writer, number, type_id, "", ticks, kind=kind)
    half = one.get("half", (1.0, 1.0, 1.0))
    y = one.get("y", 6.0)
    writer.add(
        "landmarks",
        actor=number,
        type_id=type_id,
        x_m=one["x"],
        y_m=y,
        z_m=0.0,
        # As CARLA's lights: their x axis runs across the lane they face.
        pitch_deg=0.0,
        yaw_deg=90.0,
        roll_deg=0.0,
        trigger_x_m=LANE_Y - y,
        trigger_y_m=0.0,
        trigger_z_m=0.0,
        trigger_half_x_m=half[0],
        trigger_half_y_m=half[1],
        trigger_half_z_m=half[2],
    )


def _add_signal(writer: EpisodeWriter, number: int, tick: int, state: int) -> None:
    writer.add(
        "signals",
        actor=number,
        tick=tick,
        state=state,
        frozen=False,
        elapsed_s=0.0,
        green_s=10.0,
        yellow_s=3.0,
        red_s=2.0,
    )


def _states(
    number: int,
    at: np.ndarray,
    yaw_deg: float | ArrayLike,
    speed_mps: ArrayLike | None,
    step_s: float,
    limit_kmh: float = 30.0,
) -> np.ndarray:
    n = len(at)
    rows = np.zeros(n, STATE_DTYPE)
    rows["family"], rows["actor"], rows["clip"] = KIND_VEHICLE, number, NO_CLIP
    rows["tick"] = np.arange(n)
    rows["x_m"], rows["y_m"], rows["z_m"] = at.T
    rows["yaw_deg"] = yaw_deg
    if speed_mps is None:
        velocity = np.diff(at, axis=0, prepend=at[:1]) / step_s
        if n > 1:
            velocity[0] = velocity[1]
    else:
        yaw = np.radians(np.broadcast_to(np.asarray(yaw_deg, float), n))
        speed = np.broadcast_to(np.asarray(speed_mps, float), n)
        velocity = np.column_stack([speed * np.cos(yaw), speed * np.sin(yaw), np.zeros(n)])
    rows["vx_mps"], rows["vy_mps"], rows["vz_mps"] = velocity.T
    rows["speed_limit_kmh"] = limit_kmh
    return rows
