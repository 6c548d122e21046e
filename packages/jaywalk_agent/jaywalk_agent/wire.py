"""Messages as bytes: msgpack, with arrays as extension type 1. Reals travel as float64, exactly.

An array is ``ext(1, msgpack([dtype, shape, data]))``: dtype as numpy writes it (``"<f8"``), data in
C order. Nothing is ever unpickled.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Dict, TypeVar

import msgpack
import numpy as np

from jaywalk_agent.agent import Answer, Control, Forecast, Plan
from jaywalk_agent.errors import ProtocolError
from jaywalk_agent.sight import (
    Actors,
    Briefing,
    EgoState,
    Lights,
    Moment,
    Route,
    StopLines,
    Vehicle,
)

PROTOCOL = 1
ARRAY = 1  # number of the extension type
DTYPES = ("|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
_MOST_AXES = 8
_BIN_32 = b"\xc6"
_HEAD = 128  # dtype, shape and length of an array are within so many bytes

Message = Dict[str, Any]
T = TypeVar("T")


def pack(message: Message) -> bytes:
    """A message as bytes.

    Raises:
        TypeError: Something in it has no form on the wire.
    """
    data: bytes = msgpack.packb(message, default=_plain, use_bin_type=True)
    return data


def unpack(data: bytes | bytearray) -> Message:
    """A message from bytes.

    Raises:
        ProtocolError: The bytes are not a message.
    """
    try:
        message = msgpack.unpackb(data, ext_hook=_extension, raw=False, strict_map_key=True)
    except ProtocolError:
        raise
    except Exception as problem:  # msgpack raises many kinds for broken bytes
        raise ProtocolError(f"{len(data)} bytes that are not msgpack: {problem}.") from problem
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError("A message without a 'type'; expected a map with one.")
    return message


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        order = value.dtype.newbyteorder("<") if value.dtype.itemsize > 1 else value.dtype
        if order.str not in DTYPES:
            raise TypeError(f"An array of {value.dtype} cannot be sent; use one of {DTYPES}.")
        data = np.ascontiguousarray(value, order).tobytes()
        # As packing [dtype, shape, data] does, but a picture is copied only once.
        head = msgpack.packb([order.str, list(value.shape), b""], use_bin_type=True)[:-2]
        return msgpack.ExtType(ARRAY, b"".join([head, _BIN_32, len(data).to_bytes(4, "big"), data]))
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"A {type(value).__name__} cannot be sent.")


def _extension(code: int, data: bytes) -> Any:
    if code != ARRAY:
        raise ProtocolError(f"Extension type {code} is unknown, expected {ARRAY} (array).")
    kind, shape, raw = _array_parts(data)
    if kind not in DTYPES or not isinstance(shape, list):
        raise ProtocolError(f"An array of '{kind}', expected one of {DTYPES}.")
    if len(shape) > _MOST_AXES or any(not isinstance(n, int) or n < 0 for n in shape):
        raise ProtocolError(f"An array of shape {shape}, expected at most {_MOST_AXES} lengths.")
    count = 1
    for length in shape:
        count *= length
    if count * np.dtype(kind).itemsize != len(raw):
        raise ProtocolError(f"An array of shape {shape} and type {kind} in {len(raw)} bytes.")
    # A copy, so that an agent may write into it as it may in process.
    return np.frombuffer(raw, np.dtype(kind)).reshape(shape).copy()


def _array_parts(data: bytes) -> tuple[Any, Any, memoryview]:
    """Dtype, shape and bytes of an array, without copying the bytes."""
    head = msgpack.Unpacker(raw=False)
    head.feed(data[:_HEAD])
    if head.read_array_header() != 3:
        raise ProtocolError("An array that is not [dtype, shape, data].")
    kind, shape, start = head.unpack(), head.unpack(), head.tell()
    width = {0xC4: 1, 0xC5: 2, 0xC6: 4}.get(data[start])
    if width is None:
        raise ProtocolError("An array whose data are not bytes.")
    first = start + 1 + width
    raw = memoryview(data)[first:]
    if int.from_bytes(data[start + 1 : first], "big") != len(raw):
        raise ProtocolError("An array that is cut off.")
    return kind, shape, raw


def build(kind: type[T], parts: Any, where: str) -> T:
    """A value from its map; keys that a later version added are left out.

    Raises:
        ProtocolError: Something is missing.
    """
    if not isinstance(parts, dict):
        raise ProtocolError(f"'{where}' is a {type(parts).__name__}, expected a map.")
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(**{name: value for name, value in parts.items() if name in names})
    except TypeError as problem:
        said = str(problem).replace("__init__() ", "")
        raise ProtocolError(f"'{where}' is incomplete: {said}.") from problem


def briefing_from(parts: Message) -> Briefing:
    """The briefing in a ``setup`` message."""
    fields = dict(parts)
    fields["ego"] = build(Vehicle, fields.get("ego"), "ego")
    fields["route"] = build(Route, fields.get("route"), "route")
    fields["stop_lines"] = build(StopLines, fields.get("stop_lines"), "stop_lines")
    fields["gps_reference_deg"] = tuple(fields.get("gps_reference_deg", (0.0, 0.0)))
    return build(Briefing, fields, "setup")


def moment_from(parts: Message) -> Moment:
    """The moment in a ``step`` message."""
    fields = dict(parts)
    fields["ego"] = build(EgoState, fields.get("ego"), "ego")
    fields["actors"] = build(Actors, fields.get("actors"), "actors")
    fields["lights"] = build(Lights, fields.get("lights"), "lights")
    fields["sensors"] = {tag: tuple(item) for tag, item in (fields.get("sensors") or {}).items()}
    return build(Moment, fields, "step")


def answer_from(parts: Message) -> Answer:
    """The answer in an ``act`` message."""
    plan = parts.get("plan")
    forecasts = parts.get("forecasts") or ()
    if not isinstance(forecasts, (list, tuple)):
        raise ProtocolError(f"'forecasts' is a {type(forecasts).__name__}, expected a list.")
    return Answer(
        control=build(Control, parts.get("control"), "control"),
        forecasts=tuple(build(Forecast, item, "forecasts") for item in forecasts),
        plan=None if plan is None else build(Plan, plan, "plan"),
        debug=parts.get("debug") or {},
    )


def as_map(value: Any) -> Message:
    """A dataclass as the map that goes on the wire, one level deep."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
