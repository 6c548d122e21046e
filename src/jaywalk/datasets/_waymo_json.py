"""Reader of Waymo Open Motion scenarios as JSON (the proto's JSON form, both spellings of keys)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import DATA_BYTES, read_text
from jaywalk.datasets.catalogue import trajectory_format
from jaywalk.datasets.trajectories import STEP_S, Trajectories, assemble, check_raw

_PEDESTRIAN = ("TYPE_PEDESTRIAN", 2)
_TIMING_SLACK_S = 0.02


@trajectory_format(
    "waymo-json",
    summary="Waymo scenarios as JSON",
    provides=("people", "vehicles"),
    recognise=lambda path, names: any(name.endswith(".json") for name in names),
    rank=3,
)
def read_waymo_json(path: Path) -> Trajectories:
    """Read one scenario, or a folder of ``*.json``; positions are box centres."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise PrerequisiteError(f"'{path}' is neither a JSON file nor a folder of them.")
    excluded: Counter[str] = Counter()
    people, vehicles = [], []
    for file in files:
        scene, walkers, ego = _scenario(file)
        people.append(_people(scene, walkers, file))
        excluded["scenario without people"] += people[-1].is_empty()
        vehicles.append(_ego(scene, ego, file))
        excluded["scenario without its own vehicle"] += vehicles[-1].is_empty()
    return assemble(people, vehicles, excluded=+excluded)


def _scenario(file: Path) -> tuple[str, pl.DataFrame, pl.DataFrame]:
    try:
        scenario = json.loads(read_text(file, "a scenario (.json)", DATA_BYTES))
        tracks = scenario["tracks"]
        times = np.asarray(_field(scenario, "timestampsSeconds"), dtype=np.float64)
        name = str(_field(scenario, "scenarioId"))
        driver = int(_field(scenario, "sdcTrackIndex", 0))
        if not 0 <= driver < len(tracks):
            raise DataError(
                f"'{file}': sdcTrackIndex {driver}, but there are {len(tracks)} tracks."
            )
        if not np.abs(np.diff(times) - STEP_S).max(initial=0.0) <= _TIMING_SLACK_S:
            raise DataError(f"'{file}': mixed rates: time stamps are not {STEP_S} s apart.")
        walkers = [t for t in tracks if _field(t, "objectType", None) in _PEDESTRIAN]
        people = pl.concat([_EMPTY, *(_rows(t, times.size, file) for t in walkers)])
        return f"waymo/{name}", people, _rows(tracks[driver], times.size, file)
    except (KeyError, IndexError, TypeError, ValueError, UnicodeDecodeError) as problem:
        raise DataError(
            f"'{file}': expected a Waymo scenario with 'tracks', 'timestampsSeconds', 'scenarioId' "
            f"and 'sdcTrackIndex': {problem!r}"
        ) from problem


def _rows(track: dict[str, Any], n: int, file: Path) -> pl.DataFrame:
    states = track["states"]
    if len(states) != n:
        raise DataError(
            f"'{file}': track {track['id']} has {len(states)} states for {n} time stamps."
        )
    # The proto omits fields that are zero or false.
    rows = [
        {
            "id": str(track["id"]),
            "frame": k,
            "x": float(_field(state, "centerX", 0.0)),
            "y": float(_field(state, "centerY", 0.0)),
            "yaw": float(_field(state, "heading", 0.0)),
            "vx": float(_field(state, "velocityX", 0.0)),
            "vy": float(_field(state, "velocityY", 0.0)),
            "length": float(_field(state, "length", 0.0)),
            "width": float(_field(state, "width", 0.0)),
        }
        for k, state in enumerate(states)
        if _field(state, "valid", False)
    ]
    return pl.DataFrame(rows, schema=_EMPTY.schema)


_EMPTY = pl.DataFrame(
    schema={
        "id": pl.String,
        "frame": pl.Int64,
        **dict.fromkeys(("x", "y", "yaw", "vx", "vy", "length", "width"), pl.Float64),
    }
)


def _people(scene: str, people: pl.DataFrame, file: Path) -> pl.DataFrame:
    if not people.is_empty():
        check_raw(people, f"'{file}'", 1.0 / STEP_S, walkers=True, step=1)
    return people.select(
        pl.lit(scene).alias("scene_id"),
        (pl.lit(f"{scene}/") + pl.col("id")).alias("track_id"),
        pl.col("frame").alias("k"),
        "x",
        "y",
        pl.col("yaw").alias("body_rad"),
        pl.lit("waymo").alias("source"),
    )


def _ego(scene: str, ego: pl.DataFrame, file: Path) -> pl.DataFrame:
    if not ego.is_empty():
        check_raw(ego, f"'{file}'", 1.0 / STEP_S, walkers=False, step=1)
    yaw = pl.col("yaw")
    table = ego.select(
        pl.lit(scene).alias("scene_id"),
        pl.lit("sdc").alias("ego_id"),
        pl.col("frame").alias("k"),
        "x",
        "y",
        "yaw",
        (pl.col("vx") * yaw.cos() + pl.col("vy") * yaw.sin()).alias("v"),
        "length",
        "width",
        (pl.col("length") / 2.0).alias("front_overhang"),
    )
    if len(table) < 2:
        return table
    return table.with_columns(pl.Series("a", np.gradient(table["v"], table["k"] * STEP_S)))


def _field(value: dict[str, Any], name: str, *default: Any) -> Any:
    """Return a field by its JSON name or its proto name."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    for key in (name, snake):
        if key in value:
            return value[key]
    if default:
        return default[0]
    raise KeyError(name)
