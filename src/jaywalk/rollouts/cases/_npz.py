"""Scenes with rollouts as compressed numpy archives, and folders of them.

The layout of an archive is in docs/reference/realism.md. A folder holds the archives of one policy,
one file per scene, and a manifest of how they were made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import load_arrays as read_arrays
from jaywalk.core.files import read_text, replacing
from jaywalk.metrics.realism.scene import (
    N_STEPS,
    Case,
    LoggedScene,
    Polylines,
    Rollouts,
    SceneLanes,
    SceneSignals,
)
from jaywalk.rollouts.cases._recorded import MANIFEST

_TRACKS = ("x", "y", "z", "heading", "length", "width", "height")
_UNIT = {"heading": "heading_rad"}


def load_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Load all arrays of an archive."""
    return read_arrays(path, "a numpy archive (.npz)")


class _Arrays:
    """Typed access to arrays, with errors that name the file."""

    def __init__(self, arrays: Mapping[str, Any], source: str) -> None:
        self.arrays, self.source = arrays, source

    def get(self, name: str, kind: Any) -> Any:
        if name not in self.arrays:
            raise DataError(
                f"'{self.source}' has no array '{name}'; see docs/reference/realism.md."
            )
        try:
            return np.array(self.arrays[name], dtype=kind, order="C")
        except (TypeError, ValueError) as problem:
            raise DataError(
                f"'{self.source}': array '{name}' is not a table of numbers."
            ) from problem

    def ints(self, name: str) -> Any:
        return self.get(name, np.int64)

    def points(self, name: str) -> Any:
        values = self.get(name, np.float32)
        if values.size and (values.ndim != 2 or values.shape[1] != 3):
            raise DataError(
                f"'{self.source}': array '{name}' has shape {values.shape}, expected (n, 3)."
            )
        return values.reshape(-1, 3)

    def number(self, name: str) -> int:
        values = self.ints(name).reshape(-1)
        if len(values) != 1:
            raise DataError(
                f"'{self.source}': array '{name}' has {len(values)} values, expected one."
            )
        return int(values[0])


def rollouts_from_arrays(arrays: Mapping[str, Any], source: str) -> Rollouts:
    """Read ``sim_x``, ``sim_y``, ``sim_z``, ``sim_heading``, and box sizes if present."""
    read = _Arrays(arrays, source)
    sizes = {
        f"{name}_m": read.get(f"sim_{name}", np.float32)
        for name in ("length", "width", "height")
        if f"sim_{name}" in arrays
    }
    return Rollouts(
        **sizes,
        x_m=read.get("sim_x", np.float32),
        y_m=read.get("sim_y", np.float32),
        z_m=read.get("sim_z", np.float32),
        heading_rad=read.get("sim_heading", np.float32),
    )


def _polylines(read: _Arrays, name: str) -> Polylines:
    return Polylines(
        points_m=read.points(f"{name}_points"),
        offsets=read.ints(f"{name}_offsets"),
    )


def scene_from_arrays(arrays: Mapping[str, Any], source: str, name: str) -> LoggedScene:
    """Read log, map and signals."""
    try:
        return _scene(_Arrays(arrays, source), source, name)
    except DataError as problem:
        if source in str(problem):
            raise
        raise DataError(f"'{source}': {problem}") from problem


def _track(read: _Arrays, field: str, valid: Any) -> Any:
    """Return a column of the log; NaN at invalid steps becomes zero."""
    values = read.get(f"log_{field}", np.float32)
    if values.shape == valid.shape:
        values[~valid & ~np.isfinite(values)] = 0.0
    return values


def _scene(read: _Arrays, source: str, name: str) -> LoggedScene:
    valid = read.get("log_valid", np.bool_)
    tracks = {_UNIT.get(f, f"{f}_m"): _track(read, f, valid) for f in _TRACKS}
    step = read.ints("signal_step")
    if len(step) and not (step.min() >= 0 and step.max() < N_STEPS):
        raise DataError(f"'{source}': signal_step must be 0 to {N_STEPS - 1}, found {step.max()}.")
    return LoggedScene(
        name=name,
        object_id=read.ints("object_id"),
        object_type=read.ints("object_type"),
        valid=valid,
        sdc_index=read.number("sdc_track_index"),
        predict_index=read.ints("tracks_to_predict_index").reshape(-1),
        road_edges=_polylines(read, "road_edge"),
        lanes=SceneLanes(
            lines=_polylines(read, "lane"),
            lane_id=read.ints("lane_id"),
            lane_type=read.ints("lane_type"),
        ),
        signals=SceneSignals(
            n_steps=read.number("signal_num_steps"),
            step=step,
            lane_id=read.ints("signal_lane_id"),
            state=read.ints("signal_state"),
            stop_point_m=read.points("signal_stop_point"),
        ),
        **tracks,
    )


def read_npz_case(path: Path) -> Case:
    """Read a scene with its rollouts."""
    arrays = load_arrays(path)
    return Case(
        scene=scene_from_arrays(arrays, str(path), path.stem),
        rollouts=rollouts_from_arrays(arrays, str(path)),
    )


_NPZ_WRITER_TRACKS = ("x_m", "y_m", "z_m", "heading_rad", "length_m", "width_m", "height_m")


def case_arrays(case: Case) -> dict[str, Any]:
    """Return the arrays of an archive, by name."""
    scene, rollouts = case.scene, case.rollouts
    arrays: dict[str, Any] = {
        "object_id": scene.object_id,
        "object_type": scene.object_type,
        "log_valid": scene.valid,
        "sdc_track_index": np.array([scene.sdc_index]),
        "tracks_to_predict_index": scene.predict_index,
        "road_edge_points": scene.road_edges.points_m,
        "road_edge_offsets": scene.road_edges.offsets,
        "lane_points": scene.lanes.lines.points_m,
        "lane_offsets": scene.lanes.lines.offsets,
        "lane_id": scene.lanes.lane_id,
        "lane_type": scene.lanes.lane_type,
        "signal_num_steps": np.array([scene.signals.n_steps]),
        "signal_step": scene.signals.step,
        "signal_lane_id": scene.signals.lane_id,
        "signal_state": scene.signals.state,
        "signal_stop_point": scene.signals.stop_point_m,
    }
    for name in _NPZ_WRITER_TRACKS:
        arrays[f"log_{name.rsplit('_', 1)[0]}"] = getattr(scene, name)
    for name in _NPZ_WRITER_TRACKS:
        values = getattr(rollouts, name)
        if values is not None:
            arrays[f"sim_{name.rsplit('_', 1)[0]}"] = values
    return arrays


def write_npz_case(path: Path, case: Case) -> None:
    """Write an archive, completely or not at all."""
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **case_arrays(case))


_FORMAT = "jaywalk-rollouts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Settings that decide the rollouts of a folder."""

    policy: str
    n: int
    seed: int
    source: str
    scenes_per_episode: int | None = None
    range_m: float | None = None
    at_s: float | None = None


class RolloutFolder:
    """Folder of rollouts with the settings of one maker; existing archives are kept.

    Raises:
        UsageError: The folder was made with another policy, number or seed.
    """

    def __init__(self, path: Path, maker: Maker) -> None:
        self.path = path
        file = path / MANIFEST
        wanted = {"format": _FORMAT, **asdict(maker)}
        if file.is_file():
            try:
                manifest = json.loads(read_text(file, "a manifest of rollouts"))
            except ValueError as problem:
                raise DataError(f"'{file}' is cut off or edited; remove it.") from problem
            other = [k for k in wanted if manifest.get(k) != wanted[k]]
            if other:
                raise UsageError(
                    f"'{path}' holds rollouts with {other[0]} {manifest.get(other[0])!r}, not "
                    f"{wanted[other[0]]!r}; give another --out."
                )
        elif path.exists() and any(path.glob("*.npz")):
            raise UsageError(
                f"'{path}' holds archives that were not made here; give another --out."
            )
        path.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")

    def file(self, scene: str) -> Path:
        """Path of the archive of a scene."""
        return self.path / f"{re.sub(r'[^A-Za-z0-9._-]', '_', scene)}.npz"

    def has(self, scene: str) -> bool:
        """Return True if a scene is done; a damaged archive does not count."""
        try:
            return self.file(scene).is_file() and bool(read_npz_case(self.file(scene)))
        except DataError:
            return False

    def add(self, case: Case) -> None:
        """Write the archive of a scene."""
        write_npz_case(self.file(case.scene.name), case)
