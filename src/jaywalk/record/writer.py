"""Writer of one episode, and the record hash.

The writer collects rows by tick and creates the complete folder at the end, or no folder at all.

The record hash is equal for equal episodes, independent of the program and time of writing. It
covers values, not bytes of files, so that a record rewritten by another parquet library keeps its
hash. It omits the sections ``wall`` and ``code`` of ``episode.json`` and columns marked as not
hashed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import sync_file
from jaywalk.record import columns as c
from jaywalk.record._schema import BY_NAME, STATES, TABLES, TableSchema
from jaywalk.record.episode import EPISODE_FILE, Episode
from jaywalk.record.files import open_table, rows_to_table, write_table
from jaywalk.record.reader import first_line, open_record
from jaywalk.record.rows import Rows, StateSpool, states_to_table


def record_hash(folder: Path | str) -> str:
    """SHA-256 (hex) of everything in a record but its wall times and code versions.

    Raises:
        DataError: The record is not complete or cannot be read.
    """
    record = open_record(folder)
    digest = hashlib.sha256(record.episode.hashed_json().encode())
    for table in TABLES:
        digest.update(f"\0table {table.name}\0".encode())
        # Without read-ahead, which costs more than it saves for files of this size.
        path = record.folder / table.file_name
        try:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                digest.update(hash_table(table, file.read(use_threads=False)))
        except (OSError, pa.ArrowException) as problem:
            raise DataError(f"{path} is damaged: {first_line(problem)}.") from problem
    return digest.hexdigest()


def hash_table(table: TableSchema, data: pa.Table) -> bytes:
    """Digest of the hashed columns of one table."""
    digest = hashlib.sha256(f"{data.num_rows}".encode())
    for column in table.columns:
        if column.hashed and not (column.later and _is_empty(data, column.name)):
            digest.update(f"\0{column.name}:{column.type}\0".encode())
            _feed(digest, data.column(column.name).cast(column.type).combine_chunks())
    return digest.digest()


def _is_empty(data: pa.Table, name: str) -> bool:
    """Return True if a column is missing or null in all rows."""
    return name not in data.column_names or data.column(name).null_count == data.num_rows


def _feed(digest: Any, values: Any) -> None:
    """Add an array: the validity mask, then the values, never the content under a null."""
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    digest.update(np.packbits(values.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    kind = values.type
    if pa.types.is_list(kind):
        lengths = pc.list_value_length(values).fill_null(0)
        digest.update(lengths.to_numpy(zero_copy_only=False).astype("<i4").tobytes())
        _feed(digest, values.flatten())
    elif pa.types.is_struct(kind):
        for field in values.flatten():
            _feed(digest, field)
    elif pa.types.is_string(kind):
        if len(values):
            filled = values.fill_null("")
            _, offsets, text = filled.buffers()
            ends = np.frombuffer(offsets, "<i4")[filled.offset : filled.offset + len(filled) + 1]
            digest.update(np.diff(ends).astype("<i8").tobytes())
            digest.update(memoryview(text or b"")[ends[0] : ends[-1]])
    elif pa.types.is_boolean(kind):
        bits = values.fill_null(False).to_numpy(zero_copy_only=False)
        digest.update(np.packbits(bits).tobytes())
    else:
        plain = values.fill_null(0).to_numpy(zero_copy_only=False)
        digest.update(plain.astype(plain.dtype.newbyteorder("<")).tobytes())


_TEMPORARY: Final = ".unfinished-"


class EpisodeWriter:
    """Writer that collects an episode and writes its folder atomically.

    Nothing is at ``folder`` until :meth:`finish` returns; a process that dies leaves a hidden
    folder next to it, which :func:`remove_unfinished` deletes.

    Example:
        >>> with EpisodeWriter(run / "episodes" / "smoke-01") as writer:  # doctest: +SKIP
        ...     writer.add_tick(0, 0.0, 0.05)
        ...     writer.add("weather", tick=0, cloudiness=10.0)
        ...     writer.finish(Episode(episode_id="smoke-01", end_reason="route completed"))
    """

    def __init__(self, folder: Path, *, chunk_rows: int = 200_000) -> None:
        """Begin an episode.

        Args:
            folder: Folder of the record; it must not exist yet.
            chunk_rows: State rows kept in memory before they are spilled.
        """
        if folder.exists():
            raise UsageError(f"{folder} exists already. Remove it or choose another place.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._temporary = Path(
            tempfile.mkdtemp(prefix=f"{_TEMPORARY}{folder.name}-", dir=folder.parent)
        )
        self._rows: dict[str, list[dict[str, Any]]] = {t.name: [] for t in TABLES if t != STATES}
        self._states = StateSpool(self._temporary, chunk_rows)
        self._clips: dict[str, int] = {}
        self._last_tick = -1
        self._states_file: Path | None = None

    @property
    def ticks(self) -> int:
        """Ticks added so far."""
        return len(self._rows["ticks"])

    def add_tick(self, tick: int, time_s: float, delta_s: float) -> None:
        """Begin a tick; ticks must come in order."""
        if tick <= self._last_tick:
            raise ValueError(f"tick {tick} after tick {self._last_tick}, expected a later one")
        self._last_tick = tick
        # A nanosecond grid: the same step gives the same number for any start of the clock.
        self.add("ticks", tick=tick, time_s=round(time_s, 9), delta_s=delta_s)

    def add(self, table: str, **row: Any) -> None:
        """Add a row to any table but the states; columns left out are null."""
        self._rows[table].append(row)

    def add_event(self, *, tick: int, kind: str, source: str, **row: Any) -> None:
        """Add an event; it is a moment unless ``end_tick`` is given."""
        rows = self._rows["events"]
        row = {c.END_TICK: tick} | row
        rows.append({c.EVENT: len(rows), c.TICK: tick, c.KIND: kind, c.SOURCE: source} | row)

    def add_states(self, rows: Rows) -> None:
        """Add the states of one tick (``STATE_DTYPE``); the array is kept, not copied."""
        self._states.add(rows)

    def clip_number(self, name: str) -> int:
        """Return the number of a motion clip in state rows."""
        return self._clips.setdefault(name, len(self._clips))

    def table(self, name: str) -> pa.Table:
        """Return the rows of a small table collected so far."""
        return rows_to_table(BY_NAME[name], self._rows[name])

    def finish(self, episode: Episode) -> Path:
        """Write everything and put the folder in place; returns it."""
        sync_file(self.write_states())
        counts = {STATES.name: self._states.rows}
        for name in self._rows:
            path = self._temporary / BY_NAME[name].file_name
            data = self.table(name)
            write_table(path, BY_NAME[name], data)
            sync_file(path)
            counts[name] = int(data.num_rows)
        text = episode.model_copy(update={"rows": counts}).to_json()
        with (self._temporary / EPISODE_FILE).open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(self._temporary, 0o755)
        sync_file(self._temporary)
        try:
            os.rename(self._temporary, self.folder)
        except OSError as problem:
            raise UsageError(
                f"{self.folder} appeared meanwhile; the episode was not written over it."
            ) from problem
        sync_file(self.folder.parent)
        return self.folder

    def write_states(self) -> Path:
        """Write the states now, so that they can be read; none may be added afterwards."""
        if self._states_file is None:
            path = self._temporary / STATES.file_name
            clips = list(self._clips)
            with open_table(path, STATES) as file:
                for rows in self._states.batches(len(self._rows["actors"])):
                    file.write_table(states_to_table(rows, clips))
            self._states.discard_parts()
            self._states_file = path
        return self._states_file

    def discard(self) -> None:
        """Throw the episode away."""
        shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def remove_unfinished(folder: Path) -> int:
    """Remove unfinished episodes of dead writers; call it when no writer works in the folder."""
    left = [path for path in folder.glob(f"{_TEMPORARY}*") if path.is_dir()]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return len(left)
