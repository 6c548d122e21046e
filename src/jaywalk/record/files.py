"""Files of a record: parquet tables, atomic writes and files that episodes of a run share.

Shared files are stored once, under the hash of their content. Files are written completely or not
at all. Tables are lossless: floats are byte-stream-split and integers delta-packed before zstd.
With rows sorted by actor and then tick, this is two to three times smaller than plain columns, and
every parquet reader supports both encodings.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from jaywalk.core.errors import DataError
from jaywalk.core.files import sync_file
from jaywalk.record._schema import F32_LIST, TEXT, TableSchema
from jaywalk.record.episode import SharedFile

_ZSTD_LEVEL: Final = 6
_SPLIT: Final = "BYTE_STREAM_SPLIT"
_DELTA: Final = "DELTA_BINARY_PACKED"


def open_table(path: Path, table: TableSchema) -> pq.ParquetWriter:
    """Open a writer with the encodings of a table; it expects batches in the table's order."""
    encodings: dict[str, str] = {}
    words: list[str] = []
    for column in table.columns:
        if pa.types.is_floating(column.type):
            encodings[column.name] = _SPLIT
        elif pa.types.is_integer(column.type):
            encodings[column.name] = _DELTA
        elif column.type == F32_LIST:
            encodings[f"{column.name}.list.element"] = _SPLIT
        elif column.type == TEXT:
            words.append(column.name)
    return pq.ParquetWriter(
        path,
        table.arrow,
        version="2.6",
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=words,
        column_encoding=encodings,
        data_page_version="1.0",
        data_page_size=1 << 20,
    )


def write_table(path: Path, table: TableSchema, data: pa.Table) -> None:
    """Write a whole table."""
    with open_table(path, table) as writer:
        writer.write_table(data)


def rows_to_table(table: TableSchema, rows: list[dict[str, Any]]) -> pa.Table:
    """Convert rows with some of a table's columns to a sorted table; missing columns are null."""
    keys = table.order
    ordered = sorted(rows, key=lambda row: tuple(row[key] for key in keys))
    known = {column.name for column in table.columns}
    for row in ordered:
        if not known.issuperset(row):
            raise KeyError(f"{sorted(set(row) - known)} is not a column of {table.name}")
    return pa.table(
        {k.name: pa.array([row.get(k.name) for row in ordered], k.type) for k in table.columns},
        schema=table.arrow,
    )


FILES_FOLDER: Final = "files"


class SharedFiles:
    """The ``files`` folder of a run: town, scenery, motion clips, route files."""

    def __init__(self, run_folder: Path) -> None:
        self.folder = run_folder / FILES_FOLDER

    def add(self, content: bytes, suffix: str) -> SharedFile:
        """Store a content once and return the reference that an episode keeps.

        Args:
            content: Bytes of the file.
            suffix: Suffix of its name with the dot: ``.xodr``.
        """
        digest = hashlib.sha256(content).hexdigest()
        name = digest + suffix
        target = self.folder / name
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            # Two workers may come here together: both rename the same content to the same name.
            os.replace(temporary, target)
            sync_file(self.folder)
        return SharedFile(sha256=digest, name=name)


def find_shared_file(episode_folder: Path, file: SharedFile) -> Path:
    """Return the path of an episode's shared file after a check of its content.

    Raises:
        DataError: The file is missing, or its content differs from the recorded content.
    """
    for above in (episode_folder, *episode_folder.resolve().parents[:2]):
        path = above / FILES_FOLDER / file.name
        if path.is_file():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != file.sha256:
                raise DataError(
                    f"{path} has SHA-256 {found[:12]}..., expected {file.sha256[:12]}...: it was "
                    "changed after the recording. Restore it from a copy of the run."
                )
            return path
    raise DataError(
        f"{episode_folder} needs the shared file {file.name}, which is in no 'files' folder beside "
        "or above it. Copy the run's 'files' folder along with its episodes."
    )
