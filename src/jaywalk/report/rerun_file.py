"""Rerun recording (.rrd) of an episode: all bodies in three dimensions, lights, events, series.

Rerun is right-handed; this module mirrors the logged values once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.spatial.transform import Rotation

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError
from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows
from jaywalk.record.reader import Record
from jaywalk.report._moment_picture import BODY_FILLS, LIGHT_FILLS
from jaywalk.report._scene import Scene, read_scene
from jaywalk.report._series import ego_series
from jaywalk.report.ground_plan import SURFACES, ground_plan, rings_of, town_of
from jaywalk.report.svg import claim

TIMELINE: Final = "game_time"
_LINE_COLOURS: Final = {
    "verge": 0x9DB985FF,
    "walk": 0xB8AFA0FF,
    "road": 0x7A828CFF,
    "parking": 0x8A93A5FF,
    "cycle": 0xB98A7AFF,
}
_SERIES: Final = ("speed_mps", "brake", "throttle", "gap_m", "ttc_s", "person_m")


def import_rerun() -> Any:
    """Import the ``rerun`` package, or explain how to install it."""
    try:
        rerun: Any = import_module("rerun")
    except ImportError as problem:
        raise PrerequisiteError(
            "Writing a Rerun recording needs the package 'rerun-sdk'. Install the extra: "
            "pip install 'jaywalk[viz]'."
        ) from problem
    if not hasattr(rerun, "TimeColumn"):
        found = getattr(rerun, "__version__", "?")
        raise PrerequisiteError(
            f"rerun-sdk {found} is too old, expected 0.23 or newer: pip install -U rerun-sdk."
        )
    return rerun


def write_rerun(record: Record, path: Path) -> int:
    """Write the recording; returns the number of bodies in it."""
    rerun = import_rerun()
    scene = read_scene(record)
    stream = rerun.RecordingStream("jaywalk", recording_id=record.episode.episode_id)
    stream.save(str(claim(path)))
    stream.log("world", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    _log_ground(rerun, stream, record)
    bodies = 0
    for name, life in _lives(record, scene):
        _log_body(rerun, stream, name, life, scene)
        bodies += 1
    _log_lights(rerun, stream, scene)
    _log_hits(rerun, stream, scene)
    _log_series(rerun, stream, scene)
    stream.flush()
    stream.disconnect()
    return bodies


def right_handed_quaternions(rows: pl.DataFrame) -> FloatArray:
    """Rotations of CARLA's rotators in the mirrored frame, (n, 4) as x, y, z, w."""
    angles = np.column_stack([-rows[c.YAW_DEG], -rows[c.PITCH_DEG], rows[c.ROLL_DEG]])
    return np.asarray(Rotation.from_euler("ZYX", angles, degrees=True).as_quat(), np.float64)


_POSE: Final = (c.X_M, c.Y_M, c.Z_M, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)


def _lives(record: Record, scene: Scene) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every drawn body: its actor row and its states."""
    kinds = {body.actor: body.kind for body in scene.bodies}
    actors = actor_rows(record)
    states = state_rows(record, _POSE, actors=kinds)
    by_actor = {key: rows for (key,), rows in states.group_by(c.ACTOR, maintain_order=True)}
    for actor in actors.iter_rows(named=True):
        number = actor[c.ACTOR]
        if number in kinds and number in by_actor:
            kind = kinds[number]
            name = "world/ego" if kind == "ego" else f"world/{kind}/{number}"
            yield name, {"actor": actor, "states": by_actor[number], "kind": kind}


def _log_body(rerun: Any, stream: Any, name: str, life: dict[str, Any], scene: Scene) -> None:
    actor, rows, kind = life["actor"], life["states"], life["kind"]
    half = [actor[k] or 0.3 for k in (c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M)]
    offset = [actor[k] or 0.0 for k in (c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M)]
    box = rerun.Boxes3D(
        half_sizes=[half],
        centers=[carla_to_right_handed(np.array(offset))],
        colors=[_rgba(BODY_FILLS[kind])],
        labels=[actor[c.TYPE_ID] if kind != "ego" else "ego"],
        show_labels=False,
    )
    at = np.searchsorted(scene.ticks, rows[c.TICK].to_numpy())
    stream.set_time(TIMELINE, duration=float(scene.time_s[at[0]]))
    stream.log(name, box)
    places = carla_to_right_handed(rows.select(c.X_M, c.Y_M, c.Z_M).to_numpy())
    columns = rerun.Transform3D.columns(
        translation=places, quaternion=right_handed_quaternions(rows)
    )
    stream.send_columns(name, [rerun.TimeColumn(TIMELINE, duration=scene.time_s[at])], columns)
    last = int(np.searchsorted(scene.ticks, actor[c.LAST_TICK], side="right"))
    if last < len(scene.time_s):  # it went before the end
        stream.set_time(TIMELINE, duration=float(scene.time_s[last]))
        stream.log(name, rerun.Clear(recursive=False))


def _log_ground(rerun: Any, stream: Any, record: Record) -> None:
    town = town_of(record)
    if town is None:
        return
    plan = ground_plan(town)
    for name in SURFACES:
        if name in plan.surfaces:
            rings = [_flat(np.vstack([ring, ring[:1]])) for ring in rings_of(plan.surfaces[name])]
            strips = rerun.LineStrips3D(rings, colors=[_LINE_COLOURS[name]], radii=[0.06])
            stream.log(f"world/ground/{name}", strips, static=True)
    lines = [_flat(line) for line, _ in plan.lines]
    if lines:
        paint = rerun.LineStrips3D(lines, colors=[0xDDDDDDFF], radii=[0.05])
        stream.log("world/ground/lines", paint, static=True)


def _log_lights(rerun: Any, stream: Any, scene: Scene) -> None:
    for number, light in enumerate(scene.lights):
        bars = []
        for x, y, yaw, half in light.stops:
            across = half * np.array([-np.sin(yaw), np.cos(yaw)])
            bars.append(_flat(np.array([x, y]) + np.array([-across, across])))
        for row, state in zip(light.rows, light.states, strict=True):
            if bars:
                stream.set_time(TIMELINE, duration=float(scene.time_s[row]))
                colour = _rgba(LIGHT_FILLS[int(state)])
                strips = rerun.LineStrips3D(bars, colors=[colour], radii=[0.15])
                stream.log(f"world/lights/{number}", strips)


def _log_hits(rerun: Any, stream: Any, scene: Scene) -> None:
    for hit in scene.hits:
        stream.set_time(TIMELINE, duration=float(scene.time_s[hit.row]))
        place = _flat(np.array([hit.place_m]), 1.0)
        stream.log("world/contacts", rerun.Points3D(place, radii=[0.4], colors=[0xFFD43BFF]))
        contact = hit.contact
        words = f"contact with {contact.other_type_id or 'scenery'}"
        if not math.isnan(contact.closing_mps):
            words += f" at {contact.closing_mps:.1f} m/s"
        stream.log("events", rerun.TextLog(words, level="WARN"))


def _log_series(rerun: Any, stream: Any, scene: Scene) -> None:
    series = ego_series(scene)
    if series is None:
        return
    for name in _SERIES:
        values = getattr(series, name)
        there = np.isfinite(values)
        if there.any():
            times = rerun.TimeColumn(TIMELINE, duration=series.time_s[there])
            columns = rerun.Scalars.columns(scalars=values[there])
            stream.send_columns(f"series/{name}", [times], columns)


def _flat(points: FloatArray, z_m: float = 0.02) -> FloatArray:
    whole = np.column_stack([points[:, :2], np.full(len(points), z_m)])
    return carla_to_right_handed(whole)


def _rgba(colour: str) -> int:
    return (int(colour.removeprefix("#"), 16) << 8) | 0xFF
