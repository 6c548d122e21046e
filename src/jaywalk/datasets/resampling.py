"""From the frames of a video to the common grid, and the checks that belong to raw tracks."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.datasets.trajectories import STEP_S, check_rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FASTEST_WALK_MPS = 5.0
"""Nobody's typical walking speed; a median above it means pixels, feet or a wrong rate."""


def grid(
    frames: IntArray, columns: list[FloatArray], rate_hz: float
) -> tuple[IntArray, list[FloatArray]]:
    """Interpolate columns linearly at every tenth of a second of the clip's own clock.

    The clock starts at frame 0, so that all tracks of a clip share one grid. Nothing is
    extrapolated; the result may be empty.
    """
    times = frames / rate_hz
    first = int(np.ceil(times[0] / STEP_S - 1e-9))
    last = int(np.floor(times[-1] / STEP_S + 1e-9))
    k = np.arange(first, last + 1)
    return k, [np.interp(k * STEP_S, times, column) for column in columns]


def check_raw(table: pl.DataFrame, place: str, rate_hz: float, *, walkers: bool) -> None:
    """Raise on doubled, unsorted or NaN rows, on mixed rates, and on pixels given as metres.

    Args:
        table: Columns ``id``, ``frame``, ``x``, ``y``.
        place: File to name in the error.
        rate_hz: Frames per second.
        walkers: Whether the rows are people, whose speed tells pixels from metres.
    """
    if table.is_empty():
        raise DataError(f"{place}: holds no rows.")
    check_rows(table, ["id"], place, time="frame")
    step = pl.col("frame").diff().over("id")
    steps = table.select("id", step.alias("step")).drop_nulls()
    usual = steps.group_by("id").agg(pl.col("step").median()).sort("step", "id")
    if len(usual) and usual["step"][0] != usual["step"][-1]:
        raise DataError(
            f"{place}: mixed rates: id '{usual['id'][0]}' has a row every {usual['step'][0]:g} "
            f"frames, id '{usual['id'][-1]}' every {usual['step'][-1]:g}. Split the file by rate."
        )
    if walkers:
        _check_metres(table, place, rate_hz)


def _check_metres(table: pl.DataFrame, place: str, rate_hz: float) -> None:
    moves = table.select(
        "id",
        *(pl.col(c).diff().over("id").alias(f"d{c}") for c in ("x", "y")),
        (pl.col("frame").diff().over("id") / rate_hz).alias("dt"),
    ).drop_nulls()
    if moves.is_empty():
        return
    speed = float(np.median(np.hypot(moves["dx"], moves["dy"]) / moves["dt"]))
    if speed > FASTEST_WALK_MPS:
        raise DataError(
            f"{place}: the median walking speed would be {speed:.1f} m/s at {rate_hz:g} rows a "
            "second; expected metres, these look like pixels (or the rate is wrong). Divide by "
            "the pixels per metre first."
        )
