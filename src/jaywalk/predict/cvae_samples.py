"""What the network is trained on, as plain arrays: they travel to any machine with numpy."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.core.files import load_arrays

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CvaeSamples:
    """N windows.

    Attributes:
        steps: ``(N, 10, 8)``, columns of `feature_sets.STEP_COLUMNS`; 0 is missing.
        future: ``(N, H, 2)`` relative to the present position; NaN where nothing was seen.
        place_m: ``(N, 2)`` present position in the frame of its raster.
        raster: Index of each window's raster; -1 without map.
        track: Code of each window's track.
        rasters: ``(M, rows, columns)`` class ids, smaller ones padded with 0 (unknown).
        origins_m: ``(M, 2)`` low corner of each raster.
        cell_m: Side of a cell of every raster.
    """

    steps: FloatArray
    future: FloatArray
    place_m: NDArray[np.float64]
    raster: IntArray
    track: IntArray
    rasters: NDArray[np.uint8]
    origins_m: NDArray[np.float64]
    cell_m: float = 0.1

    def __len__(self) -> int:
        return len(self.track)

    def rows(self, index: IntArray | NDArray[np.bool_]) -> CvaeSamples:
        """Some of the windows."""
        whole = ("rasters", "origins_m", "cell_m")
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return CvaeSamples(**{n: v if n in whole else v[index] for n, v in values.items()})

    def save(self, file: Path) -> None:
        """Write one npz file."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        np.savez_compressed(file, allow_pickle=False, **values)


def load_samples(file: Path) -> CvaeSamples:
    """Read what `CvaeSamples.save` wrote."""
    try:
        values: dict[str, Any] = dict(load_arrays(file, "samples of a network (.npz)"))
        values["cell_m"] = float(values["cell_m"])
        return CvaeSamples(**values)
    except (DataError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"'{file}' holds no samples of a network: {problem}") from problem


def no_rasters() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Stand-ins of data without a map."""
    return np.zeros((1, 1, 1), dtype=np.uint8), np.zeros((1, 2))


def windows_by_track(track: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Windows sorted by track, with the first place and the number of each track's windows."""
    order = np.argsort(track, kind="stable")
    _, first, count = np.unique(track[order], return_index=True, return_counts=True)
    return order.astype(np.int64), first.astype(np.int64), count.astype(np.int64)


def write_json(value: object, file: Path) -> None:
    """Write JSON with sorted keys."""
    file.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")
