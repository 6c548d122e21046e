"""Cut a byte stream into msgpack messages and limit their size before decoding.

A decoded object can take a hundred times as many bytes as its encoding. A compiled scanner
therefore reads the bytes as they arrive and counts objects and nesting levels. Only a complete
message within the limits reaches the decoder. No byte is scanned twice.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel

MESSAGE_LIMIT_BYTES: Final = 64 * 1024 * 1024
# Of one message. A texture of 1024 x 1024 pixels has 6.3 million (each pixel is an array of four).
VALUE_LIMIT: Final = 8_000_000
DEPTH_LIMIT: Final = 64
NOTHING: Final = object()  # no whole message is there

_LITTLE_BYTES: Final = 32 * 1024

_INCOMPLETE, _COMPLETE, _TOO_MANY, _TOO_DEEP, _TOO_LONG, _UNKNOWN = range(6)
_PROBLEMS: Final = {
    _TOO_MANY: f"a message has more than {VALUE_LIMIT} values",
    _TOO_DEEP: f"a message is nested deeper than {DEPTH_LIMIT} levels",
    _TOO_LONG: f"a message has more than {MESSAGE_LIMIT_BYTES} bytes",
    _UNKNOWN: "a byte begins no msgpack value",
}
_PLAIN, _SIZED, _ARRAY, _MAP = range(4)
# A container takes more memory than a number; so it counts as several values.
_MAP_WEIGHT, _ARRAY_WEIGHT = 8, 2
# Places in the state: next byte to look at, open containers, values so far.
_AT, _DEPTH, _VALUES, _STATE = 0, 1, 2, 3


class FramingError(Exception):
    """Raised for bytes that are not an acceptable message; the connection must be closed."""


def _heads() -> NDArray[np.int64]:
    """Return (256, 3): head size in bytes, width of the length field and kind, by first byte."""
    heads = np.zeros((256, 3), np.int64)
    heads[:, 0] = 1  # small integers, nil, false, true
    for first in range(0xA0, 0xC0):  # short text: the length is in the first byte
        heads[first, 0] = 1 + (first & 0x1F)
    heads[0x80:0x90, 2], heads[0x90:0xA0, 2] = _MAP, _ARRAY
    for first, size in zip(range(0xCA, 0xD4), (5, 9, 2, 3, 5, 9, 2, 3, 5, 9), strict=True):
        heads[first, 0] = size  # floats and integers
    for first in range(0xD4, 0xD9):  # extensions of fixed size
        heads[first, 0] = 2 + (1 << (first - 0xD4))
    for begin, more in ((0xC4, 0), (0xC7, 1), (0xD9, 0)):  # bytes, extensions, text
        for k in range(3):
            heads[begin + k] = 1 + (1 << k) + more, 1 << k, _SIZED
    for first, kind in ((0xDC, _ARRAY), (0xDE, _MAP)):
        for k in range(2):
            heads[first + k] = 3 + 2 * k, 2 + 2 * k, kind
    heads[0xC1, 0] = -1
    return heads


_HEADS: Final = _heads()


@kernel
def _value_at(data: NDArray[np.uint8], at: int, end: int) -> tuple[int, int, int]:
    """Bytes of the value at a place (without its elements), its elements and its weight.

    Zero bytes: its head is not all there yet. Negative: no value begins so.
    """
    first = int(data[at])
    size, wide, kind = _HEADS[first, 0], _HEADS[first, 1], _HEADS[first, 2]
    if at + 1 + wide > end:
        return 0, 0, 0
    length = first & 0x0F
    if wide:
        length = 0
        for k in range(at + 1, at + 1 + wide):
            length = (length << 8) | int(data[k])
    if kind == _SIZED:
        return size + length, 0, 1
    if kind == _ARRAY:
        return size, length, _ARRAY_WEIGHT
    if kind == _MAP:
        return size, 2 * length, _MAP_WEIGHT
    return size, 0, 1


@kernel
def _scan(
    data: NDArray[np.uint8], end: int, state: NDArray[np.int64], most: int, most_bytes: int
) -> int:
    """Walk on to the end of the message; the state remembers where and how deep we are."""
    depth_limit = len(state) - _STATE
    while True:
        at = state[_AT]
        if at >= end:
            return _TOO_LONG if at > most_bytes else _INCOMPLETE
        size, elements, weight = _value_at(data, at, end)
        if size < 0:
            return _UNKNOWN
        if size == 0:
            return _INCOMPLETE
        state[_VALUES] += weight
        # Elements count when they are announced: a lying head is refused at once.
        if state[_VALUES] + elements > most:
            return _TOO_MANY
        state[_AT] = at + size
        if elements:
            if state[_DEPTH] >= depth_limit:
                return _TOO_DEEP
            state[_STATE + state[_DEPTH]] = elements
            state[_DEPTH] += 1
            continue
        while state[_DEPTH] > 0:
            state[_STATE + state[_DEPTH] - 1] -= 1
            if state[_STATE + state[_DEPTH] - 1] > 0:
                break
            state[_DEPTH] -= 1
        if state[_DEPTH] == 0:
            if state[_AT] > most_bytes:
                return _TOO_LONG
            return _COMPLETE if state[_AT] <= end else _INCOMPLETE


class Inbox:
    """Buffer of the received bytes of one connection that have not been decoded.

    While the buffer is small, msgpack's streaming decoder reads it: a few kilobytes cannot hold
    many objects. Longer input, and input that this decoder rejects, goes through the scanner.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._begin = 0  # of the message that is being read
        self._state = np.zeros(_STATE + DEPTH_LIMIT, np.int64)
        self._ended = False  # scanned to its end, which has not come yet
        self._trimmed = 0  # bytes taken off the front since the quick decoder began
        self._quick: Any = None  # made for the first bytes: it takes 40 kB

    def __len__(self) -> int:
        return len(self._data) - self._begin

    def feed(self, data: bytes) -> None:
        """Append received bytes."""
        if self._begin:
            del self._data[: self._begin]
            self._trimmed += self._begin
            self._begin = 0
        if self._quick is None and not self._data:
            self._quick, self._trimmed = _quick_decoder(), 0
        self._data += data
        if self._quick is not None:
            if len(self._data) <= _LITTLE_BYTES:
                self._quick.feed(data)
            else:
                self._quick = None

    def next(self) -> Any:
        """Return the next message, or :data:`NOTHING` if it is not complete yet.

        Raises:
            FramingError: The bytes are not msgpack, or exceed a limit.
        """
        if self._quick is not None:
            try:
                message = next(self._quick, NOTHING)
            except Exception:  # the scanner finds out what is wrong, if anything is
                self._quick = None
            else:
                if message is not NOTHING:
                    self._begin = self._quick.tell() - self._trimmed
                return message
        return self._scanned()

    def _scanned(self) -> Any:
        if not len(self) or (self._ended and self._state[_AT] > len(self)):
            return NOTHING
        if not self._ended:
            view = np.frombuffer(self._data, np.uint8)[self._begin :]
            scanned = _scan(view, len(view), self._state, VALUE_LIMIT, MESSAGE_LIMIT_BYTES)
            del view  # a bytearray in use cannot grow
            if scanned in _PROBLEMS:
                raise FramingError(_PROBLEMS[scanned])
            self._ended = not self._state[_DEPTH] and self._state[_VALUES] > 0
            if scanned == _INCOMPLETE:
                return NOTHING
        end = self._begin + int(self._state[_AT])
        with memoryview(self._data) as whole, whole[self._begin : end] as part:
            message = _decoded(part)
        if end > _LITTLE_BYTES:  # release the memory now: it is no longer counted
            del self._data[:end]
            self._begin = 0
        else:
            self._begin = end
        self._state[:] = 0
        self._ended = False
        return message


def _quick_decoder() -> Any:
    return msgpack.Unpacker(
        raw=False,
        strict_map_key=False,
        unicode_errors="replace",
        max_array_len=_LITTLE_BYTES,
        max_map_len=_LITTLE_BYTES,
    )


def _decoded(part: memoryview) -> Any:
    try:
        return msgpack.unpackb(part, raw=False, strict_map_key=False, unicode_errors="replace")
    except Exception as problem:
        # Whatever bytes do to the decoder (a list as a key raises TypeError, say).
        raise FramingError(f"{type(problem).__name__}: {problem}") from problem


def warm_up() -> None:
    """Compile the scanner, so that no client waits for it."""
    inbox = Inbox()
    inbox.feed(msgpack.packb([0, 1, "version", [[False], b"\0" * _LITTLE_BYTES]]))
    inbox.next()
