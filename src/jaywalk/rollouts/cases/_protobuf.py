"""Small readers of protocol-buffer messages and TFRecord files.

Schemas of messages are tables, and unknown fields are skipped. The same tables read the JSON form
of the messages. TFRecord files hold length-prefixed records with CRC-32C sums.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """Return the checksum that TFRecord stores: CRC-32C, rotated and shifted."""
    crc = int(_crc32c(np.frombuffer(data, dtype=np.uint8), _TABLE)) & 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def looks_like_tfrecord(data: bytes) -> bool:
    """Return True if the checksum of the first header is correct."""
    if len(data) < _HEADER.size:
        return False
    _, crc = _HEADER.unpack_from(data)
    return bool(masked_crc(data[:8]) == crc)


def read_tfrecord(path: Path) -> Iterator[bytes]:
    """Yield the records of a file and check every sum."""
    with open_file(path, "a TFRecord file", _LARGEST_BYTES) as file:
        number = 0
        while header := file.read(_HEADER.size):
            if len(header) < _HEADER.size:
                raise DataError(f"'{path}': record {number} is cut off.")
            size, crc = _HEADER.unpack(header)
            if masked_crc(header[:8]) != crc:
                raise DataError(f"'{path}': record {number} is broken (its length fails the sum).")
            if size > DATA_BYTES:  # the sum is correct, but no scenario is that large
                raise DataError(f"'{path}': record {number} announces {size} bytes.")
            data = file.read(size)
            tail = file.read(4)
            if len(data) < size or len(tail) < 4:
                raise DataError(f"'{path}': record {number} is cut off.")
            if masked_crc(data) != struct.unpack("<I", tail)[0]:
                raise DataError(f"'{path}': record {number} is broken (its data fail the sum).")
            yield data
            number += 1


_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message.

    Attributes:
        name: Name in the schema, in snake case.
        kind: ``int``, ``bool``, ``double``, ``float``, ``string``, or the name of a message.
        repeated: True for a list.
        enum: Names of the values, for the JSON form.
    """

    name: str
    kind: str
    repeated: bool = False
    enum: tuple[str, ...] = ()


Schema = Mapping[str, Mapping[int, Field]]
_EMPTY: dict[str, Any] = {"int": 0, "bool": False, "double": 0.0, "float": 0.0, "string": ""}


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 63:
            raise DataError("a varint is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def wire_fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield field number, wire type and raw value of a message's fields."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise DataError(f"wire type {wire} of field {number} is not known")
        if at + size > len(data):
            raise DataError(f"field {number} is cut off")
        yield number, wire, data[at : at + size]
        at += size


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _packed(kind: str, raw: memoryview) -> list[Any]:
    if kind in ("float", "double"):
        code = "<f4" if kind == "float" else "<f8"
        if len(raw) % np.dtype(code).itemsize:
            raise DataError("a packed list is cut off")
        return list(np.frombuffer(raw, dtype=code).tolist())
    values, at = [], 0
    while at < len(raw):
        value, at = _varint(raw, at)
        values.append(_signed(value))
    return values


def _scalar(kind: str, wire: int, raw: Any) -> Any:
    if kind in ("int", "bool") and wire == _VARINT:
        return bool(raw) if kind == "bool" else _signed(raw)
    if kind == "double" and wire == _FIXED64:
        return struct.unpack("<d", raw)[0]
    if kind == "float" and wire == _FIXED32:
        return struct.unpack("<f", raw)[0]
    if kind == "string" and wire == _BYTES:
        return bytes(raw).decode("utf-8", errors="replace")
    raise DataError(f"a field of kind {kind} has wire type {wire}")


def empty(schema: Schema, message: str) -> dict[str, Any]:
    """Return a message without values: lists empty, numbers zero, messages None."""
    return {
        field.name: [] if field.repeated else _EMPTY.get(field.kind)
        for field in schema[message].values()
    }


def decode(schema: Schema, message: str, data: memoryview) -> dict[str, Any]:
    """Read a message into a dictionary by field name."""
    out = empty(schema, message)
    fields = schema[message]
    for number, wire, raw in wire_fields(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.kind in schema:
            value = decode(schema, field.kind, raw)
        elif field.repeated and wire == _BYTES and field.kind != "string":
            out[field.name].extend(_packed(field.kind, raw))
            continue
        else:
            value = _scalar(field.kind, wire, raw)
        if field.repeated:
            out[field.name].append(value)
        else:
            out[field.name] = value
    return out


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _json_scalar(field: Field, value: Any) -> Any:
    try:
        if field.kind == "int":
            if isinstance(value, str) and value in field.enum:
                return field.enum.index(value)
            return int(value)
        if field.kind in ("double", "float"):
            return float(value)
        if field.kind == "bool" and isinstance(value, bool):
            return value
        if field.kind == "string" and isinstance(value, str):
            return value
    except (TypeError, ValueError):
        pass
    raise DataError(f"'{field.name}' is {value!r}, expected a value of kind {field.kind}")


def from_json(schema: Schema, message: str, value: Any) -> dict[str, Any]:
    """Read the JSON form of a message, with names in camel case or snake case."""
    if not isinstance(value, dict):
        raise DataError(f"expected an object for {message}, found {type(value).__name__}")
    out = empty(schema, message)
    by_name = {field.name: field for field in schema[message].values()}
    for key, item in value.items():
        field = by_name.get(_snake(key))
        if field is None or item is None:
            continue
        if field.repeated != isinstance(item, list):
            raise DataError(
                f"'{key}' of {message} should {'' if field.repeated else 'not '}be a list"
            )
        items = item if field.repeated else [item]
        read = [
            from_json(schema, field.kind, one) if field.kind in schema else _json_scalar(field, one)
            for one in items
        ]
        out[field.name] = read if field.repeated else read[0]
    return out
