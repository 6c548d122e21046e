"""Checks of tables of positions; errors name the file, the track and the frame."""

from __future__ import annotations

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError

FASTEST_WALK_MPS = 5.0
"""Above any typical walking speed; a higher median means pixels, feet or a wrong rate."""
FASTEST_DRIVE_MPS = 60.0
"""Above the speed of any vehicle among people; a higher median means the same."""

_RATE_STEPS = 4
"""Tracks with fewer steps do not determine their rate: one gap would change it."""


def check_rows(table: pl.DataFrame, keys: list[str], place: str, time: str = "k") -> None:
    """Raise if rows are duplicated, out of order, unnamed, or hold NaN."""
    for column in (*keys, time):
        if missing := table[column].null_count():
            raise DataError(f"{place}: {missing} rows have no {column}. Every row needs one.")
    check_finite(table, ["x", "y"], keys, place, time)
    doubled = table.filter(table.select(*keys, time).is_duplicated())
    if len(doubled):
        raise DataError(
            f"{place}: {_name(doubled, keys)} has more than one row at {time} "
            f"{doubled[time][0]}. Ids must be unique within a scene."
        )
    falling = table.filter(pl.col(time).diff().over(keys) < 0)
    if len(falling):
        raise DataError(
            f"{place}: rows of {_name(falling, keys)} are not in time order at {time} "
            f"{falling[time][0]}. Sort them; a shuffled track often means mixed-up ids."
        )


def check_finite(
    table: pl.DataFrame, columns: list[str], keys: list[str], place: str, time: str = "k"
) -> None:
    """Raise if one of the columns is null, NaN or infinite."""
    for column in columns:
        bad = table.filter(pl.col(column).is_null() | ~pl.col(column).is_finite())
        if len(bad):
            raise DataError(
                f"{place}: {len(bad)} rows have no finite {column}, the first of "
                f"{_name(bad, keys)} at {time} {bad[time][0]}. Drop those rows."
            )


def check_angles(table: pl.DataFrame, columns: list[str], keys: list[str], place: str) -> None:
    """Raise if an angle is NaN or infinite; null (not labelled) is allowed."""
    for column in columns:
        check_finite(table.filter(pl.col(column).is_not_null()), [column], keys, place)


def check_rate(
    table: pl.DataFrame, keys: list[str], place: str, time: str = "k", expected: int | None = None
) -> None:
    """Raise if the usual step differs between tracks or from the expected one."""
    steps = table.select(*keys, pl.col(time).diff().over(keys).alias("step")).drop_nulls()
    usual = (
        steps.group_by(keys)
        .agg(pl.col("step").median(), pl.len().alias("n"))
        .filter(pl.col("n") >= _RATE_STEPS)
        .sort("step", *keys)
    )
    if usual.is_empty():
        return
    first, last = usual["step"][0], usual["step"][-1]
    if first != last:
        raise DataError(
            f"{place}: mixed rates: {_name(usual, keys)} has a row every {first:g} of {time}, "
            f"{_name(usual[-1:], keys)} every {last:g}. Split the data by rate."
        )
    if expected is not None and first != expected:
        raise DataError(
            f"{place}: the rows of {_name(usual, keys)} are {first:g} of {time} apart, expected "
            f"{expected}. Resample the data, or say their rate."
        )


def check_walkers(
    table: pl.DataFrame, keys: list[str], place: str, step_s: float, time: str = "k"
) -> None:
    """Raise if people would run all the time; ``step_s`` is the length of one ``time`` unit."""
    speed = _median_speed(table, keys, step_s, time)
    if speed > FASTEST_WALK_MPS:
        raise DataError(
            f"{place}: the median walking speed would be {speed:.1f} m/s at {1.0 / step_s:g} "
            f"{time}s a second; expected metres, these look like pixels (or the rate is wrong). "
            "Divide by the pixels per metre first."
        )


def check_vehicles(
    table: pl.DataFrame, keys: list[str], place: str, step_s: float, time: str = "k"
) -> None:
    """Raise if vehicles are impossibly fast, or much faster than their column ``v``."""
    speed = _median_speed(table, keys, step_s, time)
    said = float(np.median(np.abs(table["v"].to_numpy()))) if len(table) else 0.0
    if max(speed, said) > FASTEST_DRIVE_MPS or speed > 3.0 * (said + 1.0):
        raise DataError(
            f"{place}: vehicles would move {speed:.1f} m/s by their places and {said:.1f} m/s by "
            "their speed (medians); expected metres and m/s, these look like pixels (or the rate "
            "is wrong). Divide by the pixels per metre first."
        )


def _median_speed(table: pl.DataFrame, keys: list[str], step_s: float, time: str) -> float:
    moves = table.select(
        *(pl.col(c).diff().over(keys).alias(f"d{c}") for c in ("x", "y")),
        (pl.col(time).diff().over(keys) * step_s).alias("dt"),
    ).drop_nulls()
    if moves.is_empty():
        return 0.0
    return float(np.median(np.hypot(moves["dx"], moves["dy"]) / moves["dt"]))


def _name(rows: pl.DataFrame, keys: list[str]) -> str:
    return f"{keys[-1]} '{rows[keys[-1]][0]}'"
