"""From the frames of a video to the common grid, and the checks that belong to raw tracks."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.datasets.row_checks import check_rate, check_rows, check_walkers
from jaywalk.datasets.trajectories import STEP_S

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LONGEST_HOLE_S = 0.2
"""Longer than this nobody knows where a track went: it is cut, not bridged."""


def grid(
    frames: IntArray, columns: list[FloatArray], rate_hz: float
) -> tuple[IntArray, list[FloatArray]]:
    """Interpolate columns linearly at every tenth of a second of the clip's own clock.

    The clock starts at frame 0, so that all tracks of a clip share one grid. Nothing is
    extrapolated and no hole is bridged; the result may be empty.
    """
    cut = np.flatnonzero(np.diff(frames) / rate_hz > LONGEST_HOLE_S) + 1
    parts = [_grid_of(part, rate_hz) for part in np.split(frames, cut)]
    k = np.concatenate(parts)
    return k, [np.interp(k * STEP_S, frames / rate_hz, column) for column in columns]


def check_raw(
    table: pl.DataFrame, place: str, rate_hz: float, *, walkers: bool, step: int | None = None
) -> None:
    """Raise on doubled, unsorted or NaN rows, on mixed rates, and on pixels given as metres.

    Args:
        table: Columns ``id``, ``frame``, ``x``, ``y``.
        place: File to name in the error.
        rate_hz: Frames per second.
        walkers: Whether the rows are people, whose speed tells pixels from metres.
        step: Frames between the rows of a track; None takes any that is common to all.
    """
    if table.is_empty():
        raise DataError(f"{place}: holds no rows.")
    check_rows(table, ["id"], place, time="frame")
    check_rate(table, ["id"], place, time="frame", expected=step)
    if walkers:
        check_walkers(table, ["id"], place, 1.0 / rate_hz, time="frame")


def _grid_of(frames: IntArray, rate_hz: float) -> IntArray:
    first = int(np.ceil(frames[0] / rate_hz / STEP_S - 1e-9))
    last = int(np.floor(frames[-1] / rate_hz / STEP_S + 1e-9))
    return np.arange(first, last + 1)
