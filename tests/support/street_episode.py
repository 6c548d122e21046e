"""A small recorded episode on a straight street: the ego hits a person stepping out.

The street runs along x. The ego drives at 10 m/s from x = 10 m in the lane at y = 1.75 m (CARLA's
left-handed frame); a parked car stands in the lane at x = 110 m; a person crosses at x = 60 m.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from record_scenes import STEP_S, add_actor

from jaywalk.record import Episode, EpisodeWriter
from jaywalk.record.columns import WEATHER_FIELDS
from jaywalk.record.files import SharedFiles
from jaywalk.record.rows import KIND_VEHICLE, KIND_WALKER, NO_CLIP, STATE_DTYPE

LANE_Y_M, SPEED_MPS, START_X_M = 1.75, 10.0, 10.0
PARKED_X_M, PERSON_X_M = 110.0, 60.0
EGO, PARKED, PERSON, LIGHT = 0, 1, 2, 3
HALF_M = (2.4, 1.0)
TICKS = 160
HIT_TICK = 94  # the front, 2.4 m ahead of the middle, is at x = 59.4 m
_LANE = (
    '<lane id="{id}" type="{kind}"><width sOffset="0" a="{wide}" b="0" c="0" d="0"/>{mark}</lane>'
)
_MARK = '<roadMark sOffset="0" type="{kind}" color="{colour}" width="0.12"/>'


def street_xodr(length_m: float = 200.0) -> str:
    """OpenDRIVE text of the street: a driving lane and a sidewalk on either side."""
    solid = _MARK.format(kind="solid", colour="standard")
    lanes = {
        side: "".join(
            _LANE.format(id=sign * k, kind=kind, wide=wide, mark=solid if k == 1 else "")
            for k, kind, wide in order
        )
        for side, sign, order in (
            ("left", 1, ((2, "sidewalk", 2.5), (1, "driving", 3.5))),
            ("right", -1, ((1, "driving", 3.5), (2, "sidewalk", 2.5))),
        )
    }
    centre = f'<lane id="0" type="none">{_MARK.format(kind="broken", colour="yellow")}</lane>'
    return (
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="4" name="street"/>'
        f'<road name="street" length="{length_m}" id="1" junction="-1"><link/>'
        '<type s="0" type="town"><speed max="50" unit="km/h"/></type>'
        f'<planView><geometry s="0" x="0" y="0" hdg="0" length="{length_m}"><line/></geometry>'
        "</planView><elevationProfile/><lateralProfile/>"
        f'<lanes><laneSection s="0"><left>{lanes["left"]}</left><center>{centre}</center>'
        f"<right>{lanes['right']}</right></laneSection></lanes></road></OpenDRIVE>"
    )


def write_street(
    run: Path,
    name: str,
    *,
    with_map: bool = True,
    ticks: int = TICKS,
    clip: str = "",
    parked_m: tuple[float, float, float] = (PARKED_X_M, LANE_Y_M, 1.5),
    age: str = "",
    notes: Iterable[tuple[int, dict[str, Any]]] = (),
    reactions: Callable[[int], Mapping[str, float]] | None = None,
    **episode: Any,
) -> Path:
    """Write the episode into a run folder; returns its own folder.

    Args:
        clip: What the person is posed by, a second long and looped.
        parked_m: Place and height of the parked car.
        age: Of the person, such as ``child``.
        notes: Ticks and details of notes on the person, as posed people announce them.
        reactions: The person's perception and decision at a tick, by column.
    """
    files = {"opendrive": SharedFiles(run).add(street_xodr().encode(), ".xodr")}
    folder = run / "episodes" / name
    with EpisodeWriter(folder) as writer:
        for number in (EGO, PARKED, PERSON):
            more: dict[str, Any] = {"half_z_m": parked_m[2] / 2.0} if number == PARKED else {}
            if number == PERSON and age:
                more["attributes_json"] = json.dumps({"age": age})
            add_actor(
                writer, number, "walker" if number == PERSON else "vehicle", ticks - 1, **more
            )
        for tick in range(ticks):
            writer.add_tick(tick, tick * STEP_S, STEP_S)
            rows = _states(tick)
            rows["x_m"][PARKED], rows["y_m"][PARKED] = parked_m[:2]
            if clip:
                rows["clip"][PERSON] = writer.clip_number(clip)
                rows["clip_phase"][PERSON], rows["clip_blend"][PERSON] = tick * STEP_S % 1.0, 1.0
            for column, value in (reactions(tick) if reactions else {}).items():
                rows[column][PERSON] = value
            writer.add_states(rows)
        _add_light(writer)
        for index in range(181):
            writer.add("route", index=index, x_m=float(index), y_m=LANE_Y_M, z_m=0.0)
        writer.add("weather", tick=0, **dict.fromkeys(WEATHER_FIELDS, 1.0))
        writer.add_event(
            tick=HIT_TICK,
            end_tick=HIT_TICK + 3,
            kind="contact",
            source="geometry",
            actor=EGO,
            other=PERSON,
            other_type_id="walker.pedestrian.0001",
            x_m=59.4,
            y_m=1.5,
            z_m=1.0,
            speed_mps=SPEED_MPS,
            other_speed_mps=1.5,
            closing_mps=SPEED_MPS,
        )
        for tick, detail in notes:
            writer.add_event(
                tick=tick,
                kind="note",
                source="scenario",
                name="habit",
                actor=PERSON,
                detail_json=json.dumps(detail),
            )
        values = {"town": "street", "ego_actor": EGO, "files": files if with_map else {}}
        writer.finish(Episode(episode_id=name, **(values | episode)))
    return folder


def ego_x(tick: float) -> float:
    """Where the ego is."""
    return START_X_M + SPEED_MPS * STEP_S * tick


def person_y(tick: float) -> float:
    """Where the person is: from the right over the lane at 1.5 m/s from 3 s on."""
    return 5.0 - 1.5 * max(tick * STEP_S - 3.0, 0.0)


def _states(tick: int) -> np.ndarray:
    rows = np.zeros(3, STATE_DTYPE)
    rows["family"] = KIND_VEHICLE, KIND_VEHICLE, KIND_WALKER
    rows["actor"], rows["tick"], rows["clip"] = (EGO, PARKED, PERSON), tick, NO_CLIP
    rows["x_m"] = ego_x(tick), PARKED_X_M, PERSON_X_M
    rows["y_m"] = LANE_Y_M, LANE_Y_M, person_y(tick)
    rows["yaw_deg"] = 0.0, 0.0, -90.0
    rows["vx_mps"] = SPEED_MPS, 0.0, 0.0
    rows["vy_mps"] = 0.0, 0.0, -1.5 if tick * STEP_S > 3.0 else 0.0
    rows["throttle"], rows["brake"], rows["speed_limit_kmh"] = 0.4, 0.25, 50.0
    return rows


def _add_light(writer: EpisodeWriter) -> None:
    stop = {
        "x_m": 120.0,
        "y_m": LANE_Y_M,
        "z_m": 0.0,
        "pitch_deg": 0.0,
        "yaw_deg": 0.0,
        "roll_deg": 0.0,
        "road_id": 1,
        "section_id": 0,
        "lane_id": -1,
        "s_m": 120.0,
        "lane_width_m": 3.5,
        "is_junction": False,
    }
    writer.add(
        "landmarks",
        actor=LIGHT,
        type_id="traffic.traffic_light",
        x_m=125.0,
        y_m=6.0,
        z_m=0.0,
        pitch_deg=0.0,
        yaw_deg=180.0,
        roll_deg=0.0,
        stop_waypoints=[stop],
    )
    times = {"frozen": False, "elapsed_s": 0.0, "green_s": 10.0, "yellow_s": 3.0, "red_s": 2.0}
    for tick, state in ((0, 0), (80, 2)):
        writer.add("signals", actor=LIGHT, tick=tick, state=state, **times)
