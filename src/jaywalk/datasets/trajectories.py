"""Pedestrian tracks near a vehicle: typed tables of all readers and of the simulator.

Right-handed ground plane in metres, radians, seconds; ``k`` counts tenths of a second. ``null``
means not labelled. ``x, y`` of an ego row is the reference point of the dataset, and
``front_overhang`` the distance from there to the front bumper along the heading.

This module also resamples the frames of a video to the common grid, and checks raw tracks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import load_arrays
from jaywalk.datasets._row_checks import (
    check_angles,
    check_finite,
    check_rate,
    check_rows,
    check_vehicles,
    check_walkers,
)
from jaywalk.datasets.catalogue import trajectory_format
from jaywalk.datasets.semantic_map import SemanticMap, read_maps, write_maps

STEP_S = 0.1
SOURCES = ("sim", "dut", "citr", "av2", "waymo", "eth_ucy")

TRACKS = pl.Schema(
    {
        "scene_id": pl.String,
        "course_id": pl.String,
        "track_id": pl.String,
        "k": pl.Int64,
        "x": pl.Float64,
        "y": pl.Float64,
        "head_rad": pl.Float64,
        "body_rad": pl.Float64,
        "looks_at_ego": pl.Boolean,
        "occluded": pl.Boolean,
        "reacted": pl.Boolean,  # changed a decision because of the ego, in this tenth of a second
        "source": pl.String,
    }
)
EGO = pl.Schema(
    {
        "scene_id": pl.String,
        "ego_id": pl.String,
        "k": pl.Int64,
        "x": pl.Float64,
        "y": pl.Float64,
        "yaw": pl.Float64,
        "v": pl.Float64,
        "a": pl.Float64,
        "length": pl.Float64,
        "width": pl.Float64,
        "front_overhang": pl.Float64,
    }
)
META = pl.Schema(
    {
        "scene_id": pl.String,
        "track_id": pl.String,
        "n": pl.Int64,
        "crossing": pl.Boolean,
        "location": pl.String,
        "in_front": pl.Boolean,
        "min_distance": pl.Float64,
        "traffic_light": pl.Boolean,
        "actor": pl.Boolean,
        "split": pl.String,
        "stratum": pl.String,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """One dataset in memory.

    Attributes:
        tracks: People, see `TRACKS`; sorted by scene, track and ``k``.
        ego: Vehicles, see `EGO`; sorted likewise. A scene may have none or several.
        meta: One row per track, see `META`.
        paths: Planned path by (scene, ego, ``k`` of the plan); a missing one is the driven path.
        maps: Ground by class, by course; the frame is that of the tracks.
        stride: Distance of adjacent rows in ``k``: 1 is 10 Hz, 4 is 2.5 Hz.
        excluded: Number of excluded items, by reason.
    """

    tracks: pl.DataFrame
    ego: pl.DataFrame
    meta: pl.DataFrame
    paths: dict[tuple[str, str, int], FloatArray] = field(default_factory=dict)
    maps: dict[str, SemanticMap] = field(default_factory=dict)
    stride: int = 1
    excluded: dict[str, int] = field(default_factory=dict)

    def of_source(self, source: str) -> Trajectories:
        """Return the part that comes from one source."""
        tracks = self.tracks.filter(pl.col("source") == source)
        scenes = set(tracks["scene_id"])
        return Trajectories(
            tracks=tracks,
            ego=self.ego.filter(pl.col("scene_id").is_in(scenes)),
            meta=self.meta.filter(pl.col("scene_id").is_in(scenes)),
            paths={key: path for key, path in self.paths.items() if key[0] in scenes},
            maps=self.maps,
            stride=self.stride,
            excluded=self.excluded,
        )


def assemble(
    tracks: Iterable[pl.DataFrame],
    ego: Iterable[pl.DataFrame],
    *,
    stride: int = 1,
    excluded: Counter[str] | None = None,
) -> Trajectories:
    """Join the parts of a reader, fill absent columns with null and derive ``meta``."""
    people = pl.concat([pl.DataFrame(schema=TRACKS), *(_fitted(part, TRACKS) for part in tracks)])
    vehicles = pl.concat([pl.DataFrame(schema=EGO), *(_fitted(part, EGO) for part in ego)])
    people = people.sort("scene_id", "track_id", "k", maintain_order=True)
    vehicles = vehicles.sort("scene_id", "ego_id", "k", maintain_order=True)
    counts = people.group_by("scene_id", "track_id", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n")
    )
    data = Trajectories(
        tracks=people,
        ego=vehicles,
        meta=_fitted(counts, META),
        stride=stride,
        excluded=dict(excluded or {}),
    )
    return _checked(data, ("people", "vehicles"))


def write_trajectories(data: Trajectories, folder: Path) -> None:
    """Write ``tracks``, ``ego`` and ``meta`` as parquet, paths and maps as npz."""
    folder.mkdir(parents=True, exist_ok=True)
    data.tracks.write_parquet(folder / "tracks.parquet", metadata={"stride": str(data.stride)})
    data.ego.write_parquet(folder / "ego.parquet")
    data.meta.write_parquet(folder / "meta.parquet")
    if data.maps:
        write_maps(data.maps, folder / "maps")
    keys = list(data.paths)
    arrays = {f"path_{i}": data.paths[key] for i, key in enumerate(keys)}
    names = np.array([f"{scene}|{ego}|{k}" for scene, ego, k in keys], dtype=np.str_)
    np.savez_compressed(folder / "paths.npz", allow_pickle=False, names=names, **arrays)


def _is_export(path: Path, names: list[str]) -> bool:
    return path.is_dir() and "tracks.parquet" in names


@trajectory_format(
    "jaywalk",
    summary="folder of exported tables",
    provides=("people", "vehicles", "headings", "maps"),
    recognise=_is_export,
    rank=1,
)
def read_trajectories(folder: Path) -> Trajectories:
    """Read and check the files of `write_trajectories` or of an export."""
    tables = {}
    for name, schema in (("tracks", TRACKS), ("ego", EGO), ("meta", META)):
        file = folder / f"{name}.parquet"
        if not file.is_file():
            raise PrerequisiteError(f"'{file}' does not exist; expected an exported dataset there.")
        try:
            table = pl.read_parquet(file)
        except pl.exceptions.PolarsError as problem:
            raise DataError(f"'{file}' is not a readable parquet file: {problem}") from problem
        if name == "tracks" and "reacted" not in table.columns:  # earlier exports
            table = table.with_columns(pl.lit(None, pl.Boolean).alias("reacted"))
        missing = [column for column in schema if column not in table.columns]
        if missing:
            raise DataError(f"'{file}' lacks the columns {', '.join(missing)}.")
        tables[name] = table.select(schema.names()).cast(schema)
    stride = int(pl.read_parquet_metadata(folder / "tracks.parquet").get("stride", "1"))
    data = Trajectories(
        tracks=tables["tracks"],
        ego=tables["ego"],
        meta=tables["meta"],
        paths=_read_paths(folder / "paths.npz"),
        maps=read_maps(folder / "maps"),
        stride=stride,
    )
    _checked(data, (str(folder / "tracks.parquet"), str(folder / "ego.parquet")))
    # Other programs may sort rows by time; here the rows of a track are adjacent.
    return replace(
        data,
        tracks=data.tracks.with_columns(pl.col("source").fill_null("unknown")).sort(
            "scene_id", "track_id", "k", maintain_order=True
        ),
        ego=data.ego.sort("scene_id", "ego_id", "k", maintain_order=True),
    )


def _checked(data: Trajectories, places: tuple[str, str]) -> Trajectories:
    """Return the data unchanged, or raise an error that names the problem."""
    people, vehicles = places
    keys = ["scene_id", "track_id"]
    check_rows(data.tracks, keys, people)
    check_angles(data.tracks, ["head_rad", "body_rad"], keys, people)
    check_rate(data.tracks, keys, people, expected=data.stride)
    check_walkers(data.tracks, keys, people, STEP_S)
    keys = ["scene_id", "ego_id"]
    check_rows(data.ego, keys, vehicles)
    check_finite(data.ego, ["v", "front_overhang"], keys, vehicles)
    check_angles(data.ego, ["yaw"], keys, vehicles)
    check_rate(data.ego, keys, vehicles, expected=data.stride)
    check_vehicles(data.ego, keys, vehicles, STEP_S)
    return data


def _fitted(table: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    absent = [pl.lit(None, dtype=kind).alias(n) for n, kind in schema.items() if n not in table]
    return table.with_columns(absent).select(schema.names()).cast(schema)


def _read_paths(file: Path) -> dict[tuple[str, str, int], FloatArray]:
    if not file.is_file():
        return {}
    stored = load_arrays(file, "paths of an export (.npz)")
    paths = {}
    for i, name in enumerate(stored["names"]):
        scene, ego, k = str(name).split("|")
        paths[scene, ego, int(k)] = np.asarray(stored[f"path_{i}"], dtype=np.float64)
    return paths


LONGEST_HOLE_S = 0.2
"""Longest gap that is interpolated; a track is cut at longer gaps."""


def grid(
    frames: IntArray, columns: list[FloatArray], rate_hz: float
) -> tuple[IntArray, list[FloatArray]]:
    """Interpolate columns linearly at every tenth of a second of the clip's clock.

    The clock starts at frame 0, so that all tracks of a clip share one grid. The function does
    not extrapolate and does not fill longer gaps; the result may be empty.
    """
    cut = np.flatnonzero(np.diff(frames) / rate_hz > LONGEST_HOLE_S) + 1
    parts = [_grid_of(part, rate_hz) for part in np.split(frames, cut)]
    k = np.concatenate(parts)
    return k, [np.interp(k * STEP_S, frames / rate_hz, column) for column in columns]


def check_raw(
    table: pl.DataFrame, place: str, rate_hz: float, *, walkers: bool, step: int | None = None
) -> None:
    """Raise on duplicated, unsorted or NaN rows, on mixed rates, and on pixels given as metres.

    Args:
        table: Columns ``id``, ``frame``, ``x``, ``y``.
        place: File to name in the error.
        rate_hz: Frames per second.
        walkers: Whether the rows are people, whose speed distinguishes pixels from metres.
        step: Frames between the rows of a track; None accepts any step common to all tracks.
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
