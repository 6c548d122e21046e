"""Reader of Argoverse 2 motion-forecasting scenarios: parquet files at 10 Hz; the ego is ``AV``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file
from jaywalk.datasets.catalogue import trajectory_format
from jaywalk.datasets.trajectories import STEP_S, Trajectories, assemble, check_raw

_COLUMNS = {
    "scenario_id": pl.String,
    "track_id": pl.String,
    "object_type": pl.String,
    "timestep": pl.Int64,
    "position_x": pl.Float64,
    "position_y": pl.Float64,
    "heading": pl.Float64,
    "velocity_x": pl.Float64,
    "velocity_y": pl.Float64,
}
# The files give no box. Assumed: a mid-size saloon with its reference point at the centre.
_LENGTH_M, _WIDTH_M = 4.9, 1.9


def _is_argoverse2(path: Path, names: list[str]) -> bool:
    if any(name.startswith("scenario_") and name.endswith(".parquet") for name in names):
        return True
    return path.is_dir() and next(path.rglob("scenario_*.parquet"), None) is not None


@trajectory_format(
    "argoverse2",
    summary="Argoverse 2 scenarios",
    provides=("people", "vehicles"),
    recognise=_is_argoverse2,
    rank=2,
)
def read_argoverse2(path: Path) -> Trajectories:
    """Read one ``scenario_*.parquet`` or a folder tree of them."""
    files = sorted(path.rglob("scenario_*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise PrerequisiteError(f"'{path}' holds no Argoverse 2 'scenario_*.parquet'.")
    excluded: Counter[str] = Counter()
    people, vehicles = [], []
    for file in files:
        table = _table(file)
        people.append(_people(table, file))
        excluded["scenario without people"] += people[-1].is_empty()
        vehicles.append(_ego(table, file))
        excluded["scenario without its vehicle 'AV'"] += vehicles[-1].is_empty()
    return assemble(people, vehicles, excluded=+excluded)


def _table(file: Path) -> pl.DataFrame:
    try:
        open_file(file, "an Argoverse 2 scenario (.parquet)").close()
        table = pl.read_parquet(file, columns=list(_COLUMNS)).cast(_COLUMNS)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError as problem:
        raise DataError(
            f"'{file}': expected an Argoverse 2 scenario with the columns "
            f"{', '.join(_COLUMNS)}: {problem}"
        ) from problem
    return table.rename({"position_x": "x", "position_y": "y", "timestep": "frame"})


def _people(table: pl.DataFrame, file: Path) -> pl.DataFrame:
    people = table.filter(pl.col("object_type") == "pedestrian").rename({"track_id": "id"})
    if not people.is_empty():
        check_raw(people, f"'{file}'", 1.0 / STEP_S, walkers=True, step=1)
    scene = pl.lit("av2/") + pl.col("scenario_id")
    return people.select(
        scene.alias("scene_id"),
        (scene + "/" + pl.col("id")).alias("track_id"),
        pl.col("frame").alias("k"),
        "x",
        "y",
        pl.lit("av2").alias("source"),
    )


def _ego(table: pl.DataFrame, file: Path) -> pl.DataFrame:
    ego = table.filter(pl.col("track_id") == "AV")
    if not ego.is_empty():
        check_raw(ego.rename({"track_id": "id"}), f"'{file}'", 1.0 / STEP_S, walkers=False, step=1)
    heading = pl.col("heading")
    speed = pl.col("velocity_x") * heading.cos() + pl.col("velocity_y") * heading.sin()
    ego = ego.select(
        (pl.lit("av2/") + pl.col("scenario_id")).alias("scene_id"),
        pl.lit("AV").alias("ego_id"),
        pl.col("frame").alias("k"),
        "x",
        "y",
        heading.alias("yaw"),
        speed.alias("v"),
        pl.lit(_LENGTH_M).alias("length"),
        pl.lit(_WIDTH_M).alias("width"),
        pl.lit(_LENGTH_M / 2.0).alias("front_overhang"),
    )
    if len(ego) < 2:
        return ego
    return ego.with_columns(pl.Series("a", np.gradient(ego["v"], ego["k"] * STEP_S)))
