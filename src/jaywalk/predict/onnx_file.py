"""Writes ONNX models: the few messages of the format that our networks need.

The format is protocol buffers; field numbers are those of the public ``onnx.proto``. Writing them
directly needs neither torch nor the onnx package, and gives equal bytes for equal networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError

IR_VERSION: Final = 8
OPSET: Final = 17
_TYPES: Final = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9}
_ATTRIBUTE_TYPES: Final = {"f": 1, "i": 2, "s": 3, "ints": 7, "strings": 8}


@dataclass(slots=True, kw_only=True)
class Graph:
    """Collects nodes and weights; `model` gives the bytes of the file.

    A dimension of an input or output is a number, or a name where the caller chooses it.
    """

    name: str
    _nodes: list[bytes] = field(default_factory=list)
    _weights: list[bytes] = field(default_factory=list)
    _inputs: list[bytes] = field(default_factory=list)
    _outputs: list[bytes] = field(default_factory=list)

    def add_input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """Declare an input; returns its name."""
        self._inputs.append(_bytes(11, _value_info(name, dtype, shape)))
        return name

    def add_output(self, name: str, dtype: str, shape: Sequence[int | str]) -> None:
        """Declare an output."""
        self._outputs.append(_bytes(12, _value_info(name, dtype, shape)))

    def weight(self, name: str, value: NDArray[Any]) -> str:
        """Store a constant; returns its name."""
        array = np.ascontiguousarray(value)
        if array.dtype.name not in _TYPES:
            raise UsageError(f"constant '{name}' is of type {array.dtype}; ONNX files here hold "
                             f"{', '.join(_TYPES)}")  # fmt: skip
        dims = b"".join(_int(1, size) for size in array.shape)
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
        body = dims + _int(2, _TYPES[array.dtype.name]) + _text(8, name) + _bytes(9, raw)
        self._weights.append(_bytes(5, body))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str | Sequence[str], **at: Any) -> str:
        """Add an operation; returns the name of its last output."""
        outputs = [output] if isinstance(output, str) else list(output)
        body = b"".join(_text(1, name) for name in inputs)
        body += b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[-1]) + _text(4, kind)
        body += b"".join(_bytes(5, _attribute(name, value)) for name, value in at.items())
        self._nodes.append(_bytes(1, body))
        return outputs[-1]

    def model(self, metadata: Mapping[str, str]) -> bytes:
        """The whole file."""
        parts = [*self._nodes, _text(2, self.name), *self._weights, *self._inputs, *self._outputs]
        about = b"".join(_bytes(14, _text(1, k) + _text(2, v)) for k, v in metadata.items())
        head = _int(1, IR_VERSION) + _text(2, "jaywalk")
        return head + _bytes(7, b"".join(parts)) + _bytes(8, _text(1, "") + _int(2, OPSET)) + about


def _value_info(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _int(1, size)) for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _int(1, _TYPES[dtype]) + _bytes(2, dims)))


def _attribute(name: str, value: Any) -> bytes:
    head = _text(1, name)
    if isinstance(value, bool | int):
        return head + _int(3, int(value)) + _int(20, _ATTRIBUTE_TYPES["i"])
    if isinstance(value, float):
        raw = np.float32(value).tobytes()
        return head + _varint(2 << 3 | 5) + raw + _int(20, _ATTRIBUTE_TYPES["f"])
    if isinstance(value, str):
        return head + _text(4, value) + _int(20, _ATTRIBUTE_TYPES["s"])
    if all(isinstance(one, int) for one in value):
        return head + b"".join(_int(8, one) for one in value) + _int(20, _ATTRIBUTE_TYPES["ints"])
    raise UsageError(f"attribute '{name}' of type {type(value).__name__} cannot be written")


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())
