"""Windows of a record as logged scenes of 9.1 s at 10 Hz.

CARLA's left-handed metres and degrees become right-handed metres and radians here.

A run of ours as something to score: scenes cut from its records, and rollouts of them.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import read_text
from jaywalk.geometry.frames import carla_to_right_handed, carla_yaw_to_rad
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    CYCLIST,
    N_FUTURE,
    N_STEPS,
    PEDESTRIAN,
    STEP_S,
    VEHICLE,
    LoggedScene,
)
from jaywalk.record.bodies import body_shapes
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.reader import Record
from jaywalk.rollouts.cases.road_map import RoadMap, road_map, signals_of
from jaywalk.town.town import town_from_opendrive

RANGE_M = 100.0
"""Who is farther from the ego at the current step takes no part."""

_MAP_MARGIN_M = 150.0  # nobody gets farther in eight seconds
_LEAST_M = 0.1  # for boxes a server does not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedScene:
    """A scene and where in which record it is; object ids are the record's numbers of actors."""

    scene: LoggedScene
    record: Record
    ticks: NDArray[np.int64]
    """Tick of each of the 91 steps."""

    @property
    def current_tick(self) -> int:
        """Tick of the current step."""
        return int(self.ticks[CURRENT_STEP])


def recorded_scenes(
    record: Record, count: int = 1, range_m: float = RANGE_M, at_s: float | None = None
) -> list[RecordedScene]:
    """Cut windows out of a record, evenly spread; none if it is shorter than a window.

    Args:
        record: An episode.
        count: How many windows; fewer where they would begin at the same time.
        range_m: How far from the ego at the current step.
        at_s: Time of the current step of a single window instead.
    """
    steps = _tenths(record)
    last = len(steps) - N_FUTURE - 1
    if last < CURRENT_STEP:
        return []
    if at_s is not None:
        currents = [round(at_s / STEP_S)]
        if not CURRENT_STEP <= currents[0] <= last:
            raise DataError(
                f"{record.folder.name} has no window at {at_s:g} s; it can be from "
                f"{CURRENT_STEP * STEP_S:g} to {last * STEP_S:.1f} s."
            )
    else:
        shares = (np.arange(count) + 0.5) / count
        currents = sorted({round(float(c)) for c in CURRENT_STEP + shares * (last - CURRENT_STEP)})
    states = _states(record, steps)
    town = _map_of(record.shared_file("opendrive"), record.episode.town)
    found = []
    for current in currents:
        ticks = steps[current - CURRENT_STEP : current + N_FUTURE + 1]
        scene = _scene(record, states, ticks, town, range_m)
        if scene is not None:
            found.append(RecordedScene(scene=scene, record=record, ticks=ticks))
    return found


@lru_cache(maxsize=4)
def _map_of(opendrive: Path, name: str) -> RoadMap:
    return road_map(town_from_opendrive(opendrive.read_text(encoding="utf-8"), name))


def _tenths(record: Record) -> NDArray[np.int64]:
    """Ticks at 0, 0.1, 0.2 s and so on, up to the first gap."""
    ticks = record.ticks.collect()
    time_s = ticks["time_s"].to_numpy()
    if not len(time_s):
        return np.zeros(0, np.int64)
    k = np.round(time_s / STEP_S)
    on = np.abs(time_s - k * STEP_S) < 1e-4
    numbers, chosen = k[on].astype(np.int64), ticks["tick"].to_numpy()[on].astype(np.int64)
    if time_s[-1] >= STEP_S and len(numbers) < 0.5 * time_s[-1] / STEP_S:
        raise DataError(
            f"{record.folder}: its {len(time_s)} ticks do not fall on tenths of a second; record "
            "with steps of 0.1, 0.05, 0.02 or 0.01 s."
        )
    gap = np.flatnonzero(numbers != np.arange(len(numbers)))
    return chosen[: int(gap[0])] if len(gap) else chosen


def _states(record: Record, ticks: NDArray[np.int64]) -> pl.DataFrame:
    actors = record.actors.filter(pl.col("kind").is_in(["vehicle", "walker"])).collect()
    bodies = (
        body_shapes(actors, record.states)
        .lazy()
        .select(
            "actor",
            "kind",
            "half_x_m",
            "half_y_m",
            "half_z_m",
            "offset_x_m",
            "offset_y_m",
            "offset_z_m",
            "attributes_json",
        )
    )
    wanted = pl.LazyFrame({"tick": ticks}, schema={"tick": pl.Int32})
    return (
        record.states.select("actor", "tick", "x_m", "y_m", "z_m", "yaw_deg")
        .join(wanted, on="tick", how="semi")
        .join(bodies, on="actor", how="inner")
        .sort("actor", "tick")
        .collect()
    )


def _kind(row: dict[str, Any]) -> int:
    if row["kind"] == "walker":
        return PEDESTRIAN
    attributes = json.loads(row["attributes_json"] or "{}")
    return CYCLIST if attributes.get("base_type") == "bicycle" else VEHICLE


def _scene(
    record: Record, states: pl.DataFrame, ticks: NDArray[np.int64], town: RoadMap, range_m: float
) -> LoggedScene | None:
    rows = states.filter(pl.col("tick").is_between(int(ticks[0]), int(ticks[-1])))
    now = rows.filter(pl.col("tick") == int(ticks[CURRENT_STEP]))
    ego = now.filter(pl.col("actor") == record.episode.ego_actor) if len(now) else now
    if record.episode.ego_actor is None or not len(ego):
        return None
    x, y = float(ego["x_m"][0]), float(ego["y_m"][0])
    near = now.filter((pl.col("x_m") - x) ** 2 + (pl.col("y_m") - y) ** 2 <= range_m**2)
    rows = rows.join(near.select("actor"), on="actor", how="semi")
    actors = near["actor"].to_numpy().astype(np.int64)
    tracks = _tracks(rows, actors, ticks)
    centre = np.array([x, -y])
    edges, lanes = town.around(centre, range_m + _MAP_MARGIN_M)
    return LoggedScene(
        name=f"{record.episode.episode_id}-t{int(ticks[CURRENT_STEP])}",
        object_id=actors,
        object_type=np.array([_kind(row) for row in near.iter_rows(named=True)], dtype=np.int64),
        sdc_index=int(np.flatnonzero(actors == record.episode.ego_actor)[0]),
        predict_index=np.arange(len(actors), dtype=np.int64),
        road_edges=edges,
        lanes=lanes,
        signals=signals_of(record, ticks, town, {int(k) for k in lanes.lane_id}),
        **tracks,
    )


def _tracks(
    rows: pl.DataFrame, actors: NDArray[np.int64], ticks: NDArray[np.int64]
) -> dict[str, Any]:
    """Box centres, headings and sizes [actor, 91]; zeros where an actor is not there."""
    i = np.searchsorted(actors, rows["actor"].to_numpy())
    k = np.searchsorted(ticks, rows["tick"].to_numpy())
    yaw = carla_yaw_to_rad(rows["yaw_deg"].to_numpy())
    place = carla_to_right_handed(rows.select("x_m", "y_m", "z_m").to_numpy().astype(np.float64))
    offset = carla_to_right_handed(
        rows.select("offset_x_m", "offset_y_m", "offset_z_m")
        .fill_null(0.0)
        .to_numpy()
        .astype(float)
    )
    cos, sin = np.cos(yaw), np.sin(yaw)
    half = rows.select("half_x_m", "half_y_m", "half_z_m").fill_null(_LEAST_M / 2).to_numpy()
    size = np.maximum(2.0 * half, _LEAST_M)
    values = {
        "x_m": place[:, 0] + cos * offset[:, 0] - sin * offset[:, 1],
        "y_m": place[:, 1] + sin * offset[:, 0] + cos * offset[:, 1],
        "z_m": place[:, 2] + offset[:, 2],
        "heading_rad": np.arctan2(sin, cos),
        "length_m": size[:, 0],
        "width_m": size[:, 1],
        "height_m": size[:, 2],
    }
    found: dict[str, Any] = {}
    for name, column in values.items():
        table = np.zeros((len(actors), N_STEPS), dtype=np.float32)
        table[i, k] = column
        found[name] = table
    found["valid"] = np.zeros((len(actors), N_STEPS), dtype=np.bool_)
    found["valid"][i, k] = True
    return found


FOLDER = "realism"
"""Where the rollouts of a run lie in its folder, by policy."""

MANIFEST = "rollouts.json"


def is_run(path: Path) -> bool:
    """Whether a folder is a run of ours, or one episode of it."""
    return path.is_dir() and (
        (path / "run.sqlite").is_file()
        or (path / EPISODE_FILE).is_file()
        or next(path.glob(f"episodes/*/{EPISODE_FILE}"), None) is not None
    )


def run_scenes(
    path: Path, count: int = 1, range_m: float = RANGE_M, at_s: float | None = None
) -> list[RecordedScene]:
    """Windows of all episodes of a run, ``count`` of each; see ``recorded_scenes``."""
    folders = list(jaywalk.record.find_records(path))
    if not folders:
        raise PrerequisiteError(f"Run '{path}' has no finished episode; run it first.")
    found = [
        scene
        for folder in folders
        for scene in recorded_scenes(jaywalk.record.open(folder), count, range_m, at_s)
    ]
    if not found:
        raise DataError(
            f"None of the {len(folders)} episodes of '{path}' can be scored: a scene needs an ego "
            "and 9.1 s without a gap."
        )
    doubled = [name for name, k in Counter(s.scene.name for s in found).items() if k > 1]
    if doubled:
        raise UsageError(f"'{path}' has two episodes named '{doubled[0]}'; give one run at a time.")
    return found


def rollouts_in_run(path: Path, policy: str | None) -> Path | None:
    """The folder of a run's rollouts: of a policy, or of the only one there is.

    Raises:
        UsageError: There are several and none is chosen.
        PrerequisiteError: Those of the chosen policy were not made.
    """
    made = {}
    for file in sorted(path.glob(f"{FOLDER}/*/{MANIFEST}")):
        try:
            made[str(json.loads(read_text(file, "a manifest"))["policy"])] = file.parent
        except (ValueError, KeyError, TypeError) as problem:
            raise DataError(f"'{file}' is cut off or edited; make the rollouts again.") from problem
    if policy is not None:
        if policy not in made:
            raise PrerequisiteError(
                f"'{path}' has no rollouts of '{policy}' (it has: {', '.join(made) or 'none'}). "
                f"Make them with: jaywalk realism rollout {path} --policy {policy}"
            )
        return made[policy]
    if len(made) > 1:
        raise UsageError(
            f"'{path}' has rollouts of {', '.join(made)}; choose one with --policy NAME."
        )
    return next(iter(made.values()), None)
