"""One hash for what happened: equal for equal episodes, whoever wrote the files and when.

It covers values, not bytes of files, so that a record rewritten by another parquet library keeps
its hash. Left out: the sections ``wall`` and ``code`` of ``episode.json`` and columns marked
as not hashed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jaywalk.record.reader import open_record
from jaywalk.record.schema import TABLES, Table


def record_hash(folder: Path | str) -> str:
    """SHA-256 (hex) of everything in a record but its wall times and code versions."""
    record = open_record(folder)
    digest = hashlib.sha256(record.episode.hashed_json().encode())
    for table in TABLES:
        digest.update(f"\0table {table.name}\0".encode())
        digest.update(hash_table(table, pq.read_table(record.folder / table.file_name)))
    return digest.hexdigest()


def hash_table(table: Table, data: pa.Table) -> bytes:
    """Digest of the hashed columns of one table."""
    digest = hashlib.sha256(f"{data.num_rows}".encode())
    for column in table.columns:
        if column.hashed:
            digest.update(f"\0{column.name}:{column.type}\0".encode())
            _feed(digest, data.column(column.name).cast(column.type).combine_chunks())
    return digest.digest()


def _feed(digest: Any, values: Any) -> None:
    """Add an array: which values are there, then the values, never what lies under a null."""
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
        words = [word.encode() for word in values.fill_null("").to_pylist()]
        digest.update(np.array([len(word) for word in words], "<i8").tobytes())
        digest.update(b"".join(words))
    elif pa.types.is_boolean(kind):
        bits = values.fill_null(False).to_numpy(zero_copy_only=False)
        digest.update(np.packbits(bits).tobytes())
    else:
        plain = values.fill_null(0).to_numpy(zero_copy_only=False)
        digest.update(plain.astype(plain.dtype.newbyteorder("<")).tobytes())
