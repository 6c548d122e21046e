"""Scenes for scoring, cut from the records of a run, and the folders of their rollouts.

A scene is a window of a record in the form of a logged scene: 9.1 s at 10 Hz. CARLA's left-handed
metres and degrees become right-handed metres and radians here.
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
from jaywalk.core.arrays import BoolArray, IntArray
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import read_text
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    CYCLIST,
    N_FUTURE,
    PEDESTRIAN,
    STEP_S,
    VEHICLE,
    LoggedScene,
)
from jaywalk.record import columns as c
from jaywalk.record.reader import Record
from jaywalk.record.run import RunFolder
from jaywalk.record.tracks import COS, SIN, EpisodeTracks, X, Y, Z, read_tracks, tenth_ticks
from jaywalk.rollouts.cases._road_map import RoadMap, road_map, signals_of
from jaywalk.town.town import town_from_opendrive

RANGE_M = 100.0
"""Largest distance from the ego at the current step of actors that take part."""

_MAP_MARGIN_M = 150.0  # no actor gets farther in eight seconds
_LEAST_M = 0.1  # for boxes whose size a server does not state


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedScene:
    """A scene and its window in a record; object ids are the record's actor numbers."""

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
    """Cut evenly spread windows out of a record; none if it is shorter than a window.

    Args:
        record: An episode.
        count: Number of windows; fewer if some would begin at the same time.
        range_m: Largest distance of actors from the ego at the current step.
        at_s: Time of the current step of a single window, instead of ``count`` windows.
    """
    steps = tenth_ticks(record).first_stretch()
    last = len(steps.tick) - N_FUTURE - 1
    if last < CURRENT_STEP:
        return []
    if at_s is not None:
        begin = int(steps.k[0])
        currents = [round(at_s / STEP_S) - begin]
        if not CURRENT_STEP <= currents[0] <= last:
            raise DataError(
                f"{record.folder.name} has no window at {at_s:g} s; it can be from "
                f"{(begin + CURRENT_STEP) * STEP_S:g} to {(begin + last) * STEP_S:.1f} s."
            )
    else:
        shares = (np.arange(count) + 0.5) / count
        spread = CURRENT_STEP + shares * (last - CURRENT_STEP)
        currents = sorted({round(float(step)) for step in spread})
    moving = pl.col(c.KIND).is_in(["vehicle", "walker"])
    tracks = read_tracks(record, only=moving, tick=steps.tick)
    town = _map_of(record.shared_file("opendrive"), record.episode.town)
    scenes = []
    for current in currents:
        window = slice(current - CURRENT_STEP, current + N_FUTURE + 1)
        scene = _scene(record, tracks, window, town, range_m)
        if scene is not None:
            scenes.append(RecordedScene(scene=scene, record=record, ticks=steps.tick[window]))
    return scenes


@lru_cache(maxsize=4)
def _map_of(opendrive: Path, name: str) -> RoadMap:
    return road_map(town_from_opendrive(read_text(opendrive, "the map of a record (.xodr)"), name))


def _kind(tracks: EpisodeTracks, body: int) -> int:
    if tracks.kind[body] == "walker":
        return PEDESTRIAN
    attributes = json.loads(tracks.bodies[c.ATTRIBUTES][int(body)] or "{}")
    return CYCLIST if attributes.get("base_type") == "bicycle" else VEHICLE


def _scene(
    record: Record, tracks: EpisodeTracks, steps: slice, town: RoadMap, range_m: float
) -> LoggedScene | None:
    """Return a window of the tracks; only actors near the ego at the current step take part."""
    has_row = tracks.states.source == np.arange(len(tracks.tick))
    current = steps.start + CURRENT_STEP
    if tracks.ego_index is None or not has_row[tracks.ego, current]:
        return None
    x_m, y_m = (tracks.dense(name)[:, current] for name in (c.X_M, c.Y_M))
    x, y = float(x_m[tracks.ego]), float(y_m[tracks.ego])
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero((x_m - x) ** 2 + (y_m - y) ** 2 <= range_m**2)
    ticks = tracks.tick[steps]
    edges, lanes = town.around(np.array([x, -y]), range_m + _MAP_MARGIN_M)
    return LoggedScene(
        name=f"{record.episode.episode_id}-t{int(ticks[CURRENT_STEP])}",
        object_id=tracks.number[near],
        object_type=np.array([_kind(tracks, k) for k in near], dtype=np.int64),
        sdc_index=int(np.flatnonzero(near == tracks.ego)[0]),
        predict_index=np.arange(len(near), dtype=np.int64),
        road_edges=edges,
        lanes=lanes,
        signals=signals_of(record, ticks, town, {int(k) for k in lanes.lane_id}),
        **_boxes(tracks, near, steps, has_row[near, steps]),
    )


def _boxes(tracks: EpisodeTracks, near: IntArray, steps: slice, valid: BoolArray) -> dict[str, Any]:
    """Return box centres, headings and sizes [actor, 91]; zeros where an actor is absent."""
    pose = tracks.pose[near, steps]
    half = tracks.bodies.select(c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M).fill_null(_LEAST_M / 2)
    size = np.maximum(2.0 * half.to_numpy()[near], _LEAST_M)[:, :, None]
    values = {
        "x_m": pose[..., X],
        "y_m": -pose[..., Y],
        "z_m": pose[..., Z],
        "heading_rad": np.arctan2(-pose[..., SIN], pose[..., COS]),
        "length_m": size[:, 0],
        "width_m": size[:, 1],
        "height_m": size[:, 2],
    }
    tables: dict[str, Any] = {
        name: np.where(valid, column, 0.0).astype(np.float32) for name, column in values.items()
    }
    return tables | {"valid": valid}


MANIFEST = "rollouts.json"


def run_scenes(
    path: Path, count: int = 1, range_m: float = RANGE_M, at_s: float | None = None
) -> list[RecordedScene]:
    """Cut ``count`` windows out of each episode of a run; see ``recorded_scenes``."""
    folders = list(jaywalk.record.find_records(path))
    if not folders:
        raise PrerequisiteError(f"Run '{path}' has no finished episode; run it first.")
    scenes = [
        scene
        for folder in folders
        for scene in recorded_scenes(jaywalk.record.open(folder), count, range_m, at_s)
    ]
    if not scenes:
        raise DataError(
            f"None of the {len(folders)} episodes of '{path}' can be scored: a scene needs an ego "
            "and 9.1 s without a gap."
        )
    doubled = [name for name, k in Counter(s.scene.name for s in scenes).items() if k > 1]
    if doubled:
        raise UsageError(f"'{path}' has two episodes named '{doubled[0]}'; give one run at a time.")
    return scenes


def rollouts_in_run(path: Path, policy: str | None) -> Path | None:
    """Return the folder of a run's rollouts by a policy, or of the only policy.

    Raises:
        UsageError: There are several policies and none is chosen.
        PrerequisiteError: There are no rollouts by the chosen policy.
    """
    made = {}
    for file in sorted(RunFolder(path).rollouts.glob(f"*/{MANIFEST}")):
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
