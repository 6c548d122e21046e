"""TFRecord files: length-prefixed records with CRC-32C sums."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.core.files import DATA_BYTES, open_file
from jaywalk.core.kernels import kernel

_LARGEST_BYTES = 2**40
_HEADER = struct.Struct("<QI")


def _table() -> NDArray[np.uint32]:
    rows = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        rows = np.where(rows & 1, (rows >> 1) ^ np.uint32(0x82F63B78), rows >> 1)
    return rows.astype(np.uint32)


_TABLE = _table()


@kernel
def _crc32c(data: NDArray[np.uint8], table: NDArray[np.uint32]) -> int:
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = np.uint32(table[(crc ^ np.uint32(byte)) & np.uint32(0xFF)] ^ (crc >> np.uint32(8)))
    return int(crc ^ np.uint32(0xFFFFFFFF))


def masked_crc(data: bytes) -> int:
    """The sum that TFRecord stores: CRC-32C, rotated and shifted."""
    crc = int(_crc32c(np.frombuffer(data, dtype=np.uint8), _TABLE)) & 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def looks_like_tfrecord(data: bytes) -> bool:
    """Whether the first header is consistent."""
    if len(data) < _HEADER.size:
        return False
    _, crc = _HEADER.unpack_from(data)
    return bool(masked_crc(data[:8]) == crc)


def read_tfrecord(path: Path) -> Iterator[bytes]:
    """Yield the records of a file, checking every sum."""
    with open_file(path, "a TFRecord file", _LARGEST_BYTES) as file:
        number = 0
        while header := file.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise DataError(f"'{path}': record {number} is cut off.")
            size, crc = _HEADER.unpack(header)
            if masked_crc(header[:8]) != crc:
                raise DataError(f"'{path}': record {number} is broken (its length fails the sum).")
            if size > DATA_BYTES:  # a sound sum, but no scenario is that large
                raise DataError(f"'{path}': record {number} announces {size} bytes.")
            data = file.read(size)
            tail = file.read(4)
            if len(data) < size or len(tail) < 4:
                raise DataError(f"'{path}': record {number} is cut off.")
            if masked_crc(data) != struct.unpack("<I", tail)[0]:
                raise DataError(f"'{path}': record {number} is broken (its data fail the sum).")
            yield data
            number += 1
