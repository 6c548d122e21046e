"""Reader of ETH and UCY text files: rows ``frame id x y`` in metres at 2.5 Hz, without vehicles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file
from jaywalk.datasets.catalogue import trajectory_format
from jaywalk.datasets.trajectories import STEP_S, Trajectories, assemble, check_raw

RATE_HZ = 2.5


@trajectory_format(
    "eth-ucy",
    summary="ETH and UCY text files, people only",
    provides=("people",),
    recognise=lambda path, names: any(name.endswith(".txt") for name in names),
    rank=5,
)
def read_eth_ucy(path: Path, *, rate_hz: float = RATE_HZ) -> Trajectories:
    """Read one file or a folder of them; each file is a scene.

    Nothing is interpolated: consecutive rows are ``1 / rate_hz`` apart (``stride`` in the result).
    """
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise PrerequisiteError(f"'{path}' is neither a text file nor a folder of text files.")
    stride = 1.0 / (rate_hz * STEP_S)
    if abs(stride - round(stride)) > 1e-9:
        raise DataError(f"{rate_hz} rows per second do not fit the grid of 10 Hz; resample first.")
    return assemble([_scene(f, rate_hz, round(stride)) for f in files], [], stride=round(stride))


def _scene(file: Path, rate_hz: float, stride: int) -> pl.DataFrame:
    try:
        with open_file(file, "a text file of tracks") as stream:
            rows = np.loadtxt(stream, dtype=np.float64, ndmin=2, encoding="utf-8")
    except ValueError as problem:
        raise DataError(f"'{file}': expected rows 'frame id x y': {problem}") from problem
    if rows.shape[0] == 0 or rows.shape[1] != 4:
        raise DataError(f"'{file}': expected rows 'frame id x y', got shape {rows.shape}.")
    if not np.isfinite(rows[:, :2]).all() or (rows[:, :2] % 1.0 != 0.0).any():
        raise DataError(f"'{file}': frame and id must be whole numbers.")
    frames = rows[:, 0].astype(np.int64)
    steps = np.diff(np.unique(frames))
    step = int(np.median(steps)) if steps.size else 1
    if (frames - frames.min()).max() and ((frames - frames.min()) % step).any():
        raise DataError(f"'{file}': mixed rates: frames are not all multiples of {step} apart.")
    table = pl.DataFrame(
        {
            "id": rows[:, 1].astype(np.int64),
            "frame": (frames - frames.min()) // step,
            "x": rows[:, 2],
            "y": rows[:, 3],
        }
    )
    check_raw(table, str(file), rate_hz, walkers=True)
    return table.select(
        (pl.col("frame") * stride).alias("k"),
        "x",
        "y",
        pl.lit(f"eth_ucy/{file.stem}").alias("scene_id"),
        (pl.lit(f"eth_ucy/{file.stem}/") + pl.col("id").cast(pl.String)).alias("track_id"),
        pl.lit("eth_ucy").alias("source"),
    )
