"""Scenes with rollouts as compressed numpy archives (the layout is in docs/realism.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.files import load_arrays as read_arrays
from jaywalk.metrics.realism.scene import (
    N_STEPS,
    Case,
    Lanes,
    LoggedScene,
    Polylines,
    Rollouts,
    Signals,
)

_TRACKS = ("x", "y", "z", "heading", "length", "width", "height")
_UNIT = {"heading": "heading_rad"}


def load_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """All arrays of an archive."""
    return read_arrays(path, "a numpy archive (.npz)")


class _Arrays:
    """Typed access with errors that name the file."""

    def __init__(self, arrays: Mapping[str, Any], source: str) -> None:
        self.arrays, self.source = arrays, source

    def get(self, name: str, kind: Any) -> Any:
        if name not in self.arrays:
            raise DataError(f"'{self.source}' has no array '{name}'; see docs/realism.md.")
        try:
            return np.array(self.arrays[name], dtype=kind, order="C")
        except (TypeError, ValueError) as problem:
            raise DataError(f"'{self.source}': array '{name}' is no table of numbers.") from problem

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
    """Read ``sim_x``, ``sim_y``, ``sim_z``, ``sim_heading``, and box sizes if there are any."""
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
    """Read the log, map and signals."""
    try:
        return _scene(_Arrays(arrays, source), source, name)
    except DataError as problem:
        if source in str(problem):
            raise
        raise DataError(f"'{source}': {problem}") from problem


def _track(read: _Arrays, field: str, valid: Any) -> Any:
    """A column of the log; what is not a number where nothing is valid becomes zero."""
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
        lanes=Lanes(
            lines=_polylines(read, "lane"),
            lane_id=read.ints("lane_id"),
            lane_type=read.ints("lane_type"),
        ),
        signals=Signals(
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
