"""Training samples of the network: windows as plain arrays that need only numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import Float32Array, IntArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import load_arrays
from jaywalk.datasets.semantic_map import SemanticMap, network_labels
from jaywalk.forecasting.cvae.config import STEPS
from jaywalk.forecasting.windows import Windows


@dataclass(frozen=True, slots=True, kw_only=True)
class CvaeSamples:
    """N windows.

    Attributes:
        steps: ``(N, 10, 8)``, columns of `feature_sets.STEP_COLUMNS`; 0 is missing.
        future: ``(N, H, 2)`` relative to the present position; NaN where not observed.
        place_m: ``(N, 2)`` present position in the frame of its raster.
        raster: Index of each window's raster; -1 without map.
        track: Code of each window's track.
        rasters: ``(M, rows, columns)`` class ids, smaller ones padded with 0 (unknown).
        origins_m: ``(M, 2)`` low corner of each raster.
        cell_m: Side of a cell of every raster.
    """

    steps: Float32Array
    future: Float32Array
    place_m: NDArray[np.float64]
    raster: IntArray
    track: IntArray
    rasters: NDArray[np.uint8]
    origins_m: NDArray[np.float64]
    cell_m: float = 0.1

    def __len__(self) -> int:
        return len(self.track)

    def rows(self, index: IntArray | NDArray[np.bool_]) -> CvaeSamples:
        """Return the selected windows."""
        whole = ("rasters", "origins_m", "cell_m")
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return CvaeSamples(**{n: v if n in whole else v[index] for n, v in values.items()})

    def save(self, file: Path) -> None:
        """Write one npz file."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        np.savez_compressed(file, allow_pickle=False, **values)


def load_samples(file: Path) -> CvaeSamples:
    """Read a file of `CvaeSamples.save`."""
    try:
        values: dict[str, Any] = dict(load_arrays(file, "samples of a network (.npz)"))
        values["cell_m"] = float(values["cell_m"])
        return CvaeSamples(**values)
    except (DataError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{file}' holds no samples of a network: {problem}") from problem


def no_rasters() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return empty rasters for data without a map."""
    return np.zeros((1, 1, 1), dtype=np.uint8), np.zeros((1, 2))


def windows_by_track(track: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return windows sorted by track, with the start and the count of each track's windows."""
    order = np.argsort(track, kind="stable")
    _, first, count = np.unique(track[order], return_index=True, return_counts=True)
    return order.astype(np.int64), first.astype(np.int64), count.astype(np.int64)


def write_json(value: object, file: Path) -> None:
    """Write JSON with sorted keys."""
    file.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def samples_of(windows: Windows) -> CvaeSamples:
    """Return steps, futures and maps of windows; missing values are 0."""
    rasters, origins = no_rasters()
    cell_m, raster = 0.1, np.full(len(windows), -1, dtype=np.int64)
    if windows.context is not None and windows.context.maps:
        maps = windows.context.maps
        cell_m, raster = maps[0].cell_m, windows.context.map_index
        rasters, origins = _stacked(maps)
    now = windows.history_m[:, -1]
    return CvaeSamples(
        steps=history_steps(windows),
        future=(windows.truth_m - now[:, None]).astype(np.float32),
        place_m=now,
        raster=raster,
        track=windows.track,
        rasters=rasters,
        origins_m=origins,
        cell_m=cell_m,
    )


def history_steps(windows: Windows) -> NDArray[np.float32]:
    """Return the columns of `feature_sets.STEP_COLUMNS` at the last ten steps, ``(N, 10, 8)``."""
    if windows.history_m.shape[1] != STEPS + 1 or abs(windows.step_s - 0.1) > 1e-9:
        raise UsageError(
            f"the network reads {STEPS} steps of 0.1 s; these windows have "
            f"{windows.history_m.shape[1] - 1} steps of {windows.step_s:g} s"
        )
    steps = np.zeros((len(windows), STEPS, 8), dtype=np.float32)
    steps[:, :, :2] = np.diff(windows.history_m, axis=1)
    context = windows.context
    if context is not None:
        steps[:, :, 2:4] = context.ego_m[:, 1:] - windows.history_m[:, 1:]
        for column, angle in ((4, context.head_rad[:, 1:]), (6, context.body_rad[:, 1:])):
            steps[:, :, column] = np.cos(angle)
            steps[:, :, column + 1] = np.sin(angle)
    return np.nan_to_num(steps)


def _stacked(
    maps: tuple[SemanticMap, ...],
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    if len({one.cell_m for one in maps}) > 1:
        raise UsageError("the maps have cells of different size; export them with one size")
    rows = max(one.labels.shape[0] for one in maps)
    columns = max(one.labels.shape[1] for one in maps)
    rasters = np.zeros((len(maps), rows, columns), dtype=np.uint8)
    for i, one in enumerate(maps):
        rasters[i, : one.labels.shape[0], : one.labels.shape[1]] = network_labels(one.labels)
    return rasters, np.array([one.origin_m for one in maps])
