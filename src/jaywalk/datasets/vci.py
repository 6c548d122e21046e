"""Reader of DUT and CITR: people and vehicles from above (Yang et al., Vehicle-Crowd Interaction).

Reads the filtered trajectories from a folder or archive of either repository, or of both. The rate
is not in the files: 23.98 Hz (DUT) and 29.97 Hz (CITR). Vehicle sizes are assumed; positions are
those of the box centre. Clips without a pedestrian file are counted and left out.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.datasets._annotation_files import read_members
from jaywalk.datasets._row_checks import check_finite, check_vehicles
from jaywalk.datasets.catalogue import trajectory_format
from jaywalk.datasets.trajectories import STEP_S, Trajectories, assemble, check_raw, grid

_FOLDER = "trajectories_filtered"
_PED, _VEH = "_traj_ped_filtered.csv", "_traj_veh_filtered.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    name: str
    rate_hz: float
    length_m: float
    width_m: float


_DUT = _Kind(name="dut", rate_hz=23.98, length_m=4.6, width_m=1.8)
_CITR = _Kind(name="citr", rate_hz=29.97, length_m=2.4, width_m=1.2)


def _is_vci(path: Path, names: list[str]) -> bool:
    if path.is_dir() and next(path.rglob(_FOLDER), None) is not None:
        return True
    return any(name.endswith((".tar", ".tar.xz", ".tar.gz", ".zip")) for name in names)


@trajectory_format(
    "vci",
    summary="DUT and CITR, people and vehicles from above",
    provides=("people", "vehicles"),
    recognise=_is_vci,
    rank=4,
)
def read_vci(path: Path) -> Trajectories:
    """Read DUT, CITR or both into the common tables, distinguished by ``source``."""
    files = dict(read_members(path, frozenset({_FOLDER}), lambda name: name.endswith((_PED, _VEH))))
    clips = sorted({name.removesuffix(_PED).removesuffix(_VEH) for name in files})
    if not clips:
        raise PrerequisiteError(
            f"'{path}' holds no '{_FOLDER}/*{_PED}'. Give the folder or archive of "
            "vci-dataset-dut or vci-dataset-citr."
        )
    excluded: Counter[str] = Counter()
    people, vehicles = [], []
    for clip in clips:
        # CITR sorts its clips into folders by scenario, DUT does not.
        kind = _CITR if len(PurePosixPath(clip).parts) > 2 else _DUT
        scene = f"{kind.name}/{PurePosixPath(clip).relative_to(_FOLDER)}"
        if clip + _PED not in files:
            excluded["clip without pedestrian file"] += 1
            continue
        people += _people(files[clip + _PED], clip + _PED, scene, kind, excluded)
        if clip + _VEH in files:
            vehicles += _vehicles(files[clip + _VEH], clip + _VEH, scene, kind, excluded)
    return assemble(people, vehicles, excluded=excluded)


def _people(
    data: bytes, place: str, scene: str, kind: _Kind, excluded: Counter[str]
) -> list[pl.DataFrame]:
    table = _table(data, place, {})
    check_raw(table, place, kind.rate_hz, walkers=True)
    parts = []
    for (track,), rows in table.group_by("id", maintain_order=True):
        k, (x, y) = grid(
            rows["frame"].to_numpy(), [rows[c].to_numpy() for c in ("x", "y")], kind.rate_hz
        )
        if k.size < 2:
            excluded["track shorter than two steps"] += 1
            continue
        parts.append(
            pl.DataFrame({"k": k, "x": x, "y": y}).with_columns(
                pl.lit(scene).alias("scene_id"),
                pl.lit(scene.split("/")[1].split("_")[0]).alias("course_id"),
                pl.lit(f"{scene}/{track}").alias("track_id"),
                pl.lit(kind.name).alias("source"),
            )
        )
    return parts


def _vehicles(
    data: bytes, place: str, scene: str, kind: _Kind, excluded: Counter[str]
) -> list[pl.DataFrame]:
    table = _table(data, place, {"psi_est": "yaw", "vel_est": "v"})
    check_raw(table, place, kind.rate_hz, walkers=False)
    check_finite(table, ["yaw", "v"], ["id"], place, time="frame")
    check_vehicles(table, ["id"], place, 1.0 / kind.rate_hz, time="frame")
    parts = []
    for (vehicle,), rows in table.group_by("id", maintain_order=True):
        columns = [rows[c].to_numpy() for c in ("x", "y", "v")] + [np.unwrap(rows["yaw"])]
        k, (x, y, v, yaw) = grid(rows["frame"].to_numpy(), columns, kind.rate_hz)
        if k.size < 2:
            excluded["vehicle shorter than two steps"] += 1
            continue
        parts.append(
            pl.DataFrame(
                {"k": k, "x": x, "y": y, "yaw": yaw, "v": v, "a": np.gradient(v, STEP_S)}
            ).with_columns(
                pl.lit(scene).alias("scene_id"),
                pl.lit(str(vehicle)).alias("ego_id"),
                pl.lit(kind.length_m).alias("length"),
                pl.lit(kind.width_m).alias("width"),
                pl.lit(kind.length_m / 2.0).alias("front_overhang"),
            )
        )
    return parts


def _table(data: bytes, place: str, extra: dict[str, str]) -> pl.DataFrame:
    names = {"id": "id", "frame": "frame", "x_est": "x", "y_est": "y", **extra}
    kinds = {n: pl.Int64 if n in ("id", "frame") else pl.Float64 for n in names.values()}
    try:
        table = pl.read_csv(io.BytesIO(data), columns=list(names)).rename(names)
        # A frame of 3.5 must not become frame 3.
        if any(table[name].dtype.is_float() for name in ("id", "frame")):
            raise DataError(f"{place}: id and frame must be whole numbers.")
        return table.cast(kinds)  # type: ignore[arg-type]
    except pl.exceptions.PolarsError as problem:
        raise DataError(
            f"{place}: expected a table with the columns {', '.join(names)}: {problem}"
        ) from problem
