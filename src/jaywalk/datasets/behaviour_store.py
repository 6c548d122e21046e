"""Keeps the typed tables of behaviour in a folder: what an export from our own runs is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import polars as pl

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file, read_text
from jaywalk.datasets.behaviour_tables import (
    BOX_SCHEMA,
    EGO_SCHEMA,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
)

FORMAT: Final = "jaywalk-behaviour-1"
_ABOUT = "behaviour.json"
_SCHEMAS = {
    "videos": VIDEO_SCHEMA,
    "pedestrians": PEDESTRIAN_SCHEMA,
    "boxes": BOX_SCHEMA,
    "scene": SCENE_SCHEMA,
    "ego": EGO_SCHEMA,
}


def write_tables(data: BehaviourData, folder: Path, about: dict[str, Any]) -> None:
    """Write all tables; ``behaviour.json`` comes last, so that a folder is whole or no export."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _SCHEMAS:
        getattr(data, name).write_parquet(folder / f"{name}.parquet")
    kept = {"format": FORMAT, "dataset": data.dataset, "splits": data.splits} | about
    (folder / _ABOUT).write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


def read_tables(folder: Path) -> BehaviourData:
    """Read what was written."""
    file = folder / _ABOUT
    if not file.is_file():
        raise PrerequisiteError(
            f"'{folder}' is no export of behaviour (it has no {_ABOUT}). Make one: "
            "jaywalk behaviour export RUN --out DIR."
        )
    try:
        about = json.loads(read_text(file, "an export of behaviour"))
        splits = {name: tuple(videos) for name, videos in about["splits"].items()}
        found = about["format"]
    except (ValueError, KeyError, AttributeError, TypeError) as problem:
        raise DataError(f"'{file}' is broken ({problem}). Export the run again.") from problem
    if found != FORMAT:
        raise DataError(f"'{file}' is of the form {found}; expected {FORMAT}. Export it again.")
    tables = {name: _read(folder / f"{name}.parquet", schema) for name, schema in _SCHEMAS.items()}
    return BehaviourData(dataset=str(about["dataset"]), splits=splits, defects=(), **tables)


def _read(file: Path, schema: pl.Schema) -> pl.DataFrame:
    try:
        open_file(file, "a table of an export").close()
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"'{file}' cannot be read: {problem}. Export the run again.") from problem
    if dict(table.schema) != dict(schema):
        raise DataError(f"'{file}' has other columns than this version; export the run again.")
    return table
