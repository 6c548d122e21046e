"""Reads records: checked when opened, tables as lazy polars frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text
from jaywalk.record import columns as c
from jaywalk.record._schema import BY_NAME, SCHEMA_VERSION, TABLES, TableSchema
from jaywalk.record.episode import EPISODE_FILE, FORMAT, Episode
from jaywalk.record.files import find_shared_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One recorded episode; every table is an attribute and a lazy polars frame."""

    folder: Path
    episode: Episode

    def table(self, name: str) -> pl.LazyFrame:
        """A table by name."""
        table = BY_NAME[name]
        path = self.folder / table.file_name
        if not any(column.later for column in table.columns):
            return pl.scan_parquet(path, glob=False)
        schema = pl.DataFrame(table.arrow.empty_table()).schema
        return pl.scan_parquet(path, glob=False, schema=schema, missing_columns="insert")

    @property
    def ticks(self) -> pl.LazyFrame:
        """Tick and game time."""
        return self.table("ticks")

    @property
    def route(self) -> pl.LazyFrame:
        """The route to drive."""
        return self.table("route")

    @property
    def actors(self) -> pl.LazyFrame:
        """Table of the actors in the episode."""
        return self.table("actors")

    @property
    def landmarks(self) -> pl.LazyFrame:
        """Traffic lights and signs."""
        return self.table("landmarks")

    @property
    def states(self) -> pl.LazyFrame:
        """Actor and tick: motion, control, pose state."""
        return self.table("states")

    @property
    def signals(self) -> pl.LazyFrame:
        """Changes of traffic lights."""
        return self.table("signals")

    @property
    def ego(self) -> pl.LazyFrame:
        """Table of the driver's inputs and commands."""
        return self.table("ego")

    @property
    def events(self) -> pl.LazyFrame:
        """Contacts and scripted facts."""
        return self.table("events")

    @property
    def weather(self) -> pl.LazyFrame:
        """Weather at the start and at changes."""
        return self.table("weather")

    @property
    def forecasts(self) -> pl.LazyFrame:
        """Predictions of people."""
        return self.table("forecasts")

    @property
    def debug(self) -> pl.LazyFrame:
        """Table of the agent's debug values."""
        return self.table("debug")

    def ego_states(self) -> pl.LazyFrame:
        """States of the ego with game time; empty when the episode has no ego."""
        ego = self.episode.ego_actor
        wanted = self.states.filter(pl.col(c.ACTOR) == (-1 if ego is None else ego))
        return wanted.join(self.ticks, on=c.TICK, how="left", maintain_order="left")

    def shared_file(self, role: str) -> Path:
        """Path of a file kept for the whole run, such as ``opendrive``; checked by its hash."""
        if role not in self.episode.files:
            known = ", ".join(sorted(self.episode.files)) or "none"
            raise DataError(f"{self.folder} has no shared file '{role}'. It has: {known}.")
        return find_shared_file(self.folder, self.episode.files[role])


def open_record(path: Path | str) -> Record:
    """Open one episode and check that it is whole.

    Args:
        path: Folder of the episode.

    Raises:
        DataError: The folder is not a record, the schema version differs, or a table is missing,
            cut off or has other columns; the message names the file.
    """
    folder = Path(path)
    episode = _read_episode(folder)
    for table in TABLES:
        _check_table(folder, table, episode)
    return Record(folder=folder, episode=episode)


def find_records(path: Path | str) -> Iterator[Path]:
    """Folders of all episodes at or below a path, sorted; unfinished ones are not among them."""
    root = Path(path)
    if (root / EPISODE_FILE).is_file():
        yield root
        return
    for file in sorted(root.rglob(EPISODE_FILE)):
        inner = file.relative_to(root).parts[:-1]
        if not any(part.startswith(".") for part in inner):
            yield file.parent


def _read_episode(folder: Path) -> Episode:
    path = folder / EPISODE_FILE
    if not path.is_file():
        raise DataError(
            f"{folder} holds no {EPISODE_FILE}. Expected the folder of one recorded episode, "
            "as 'jaywalk run' and 'jaywalk record' write it."
        )
    try:
        text = read_text(path, "a record")
        loose = Episode.model_validate_json(text)
    except (ValidationError, UnicodeDecodeError) as problem:
        raise DataError(f"{path} is cut off or edited: {first_line(problem)}.") from problem
    if loose.format != FORMAT:
        raise DataError(f"{path} has format '{loose.format}', expected '{FORMAT}'.")
    if loose.schema_version != SCHEMA_VERSION:
        newer = loose.schema_version > SCHEMA_VERSION
        fix = "Upgrade jaywalk." if newer else "Read it with the version that wrote it."
        raise DataError(
            f"{path} has schema version {loose.schema_version}, this is a reader of version "
            f"{SCHEMA_VERSION}. {fix}"
        )
    return loose


def first_line(problem: Exception) -> str:
    """Return what went wrong in one short line."""
    return " ".join(str(problem).split())[:200]


def _check_table(folder: Path, table: TableSchema, episode: Episode) -> None:
    path = folder / table.file_name
    if not path.is_file():
        raise DataError(f"{path} is missing. A record has all of its tables; copy it again whole.")
    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError) as problem:
        raise DataError(
            f"{path} is cut off or damaged: {first_line(problem)}. Copy it again, or run the "
            "episode again."
        ) from problem
    for column in table.columns:
        where = schema.get_field_index(column.name)
        if where < 0 and column.later:
            continue
        if where < 0:
            raise DataError(f"{path} lacks the column '{column.name}' of schema {SCHEMA_VERSION}.")
        if not schema.field(where).type.equals(column.type):
            found = schema.field(where).type
            raise DataError(f"{path}: '{column.name}' is {found}, expected {column.type}.")
    expected = episode.rows.get(table.name)
    if expected != rows:
        raise DataError(
            f"{path} has {rows} rows, {EPISODE_FILE} says {expected}: the files are of different "
            "episodes. Copy the record again whole."
        )
