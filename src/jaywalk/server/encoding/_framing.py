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
NOTHING: Final = object()  # no message is complete

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


class PackedList:
    """A list that was received and is decoded only when it is needed.

    Bones of a person are 700 values, and most of them are replaced before a sensor looks.
    """

    __slots__ = ("_count", "_data")

    def __init__(self, data: bytes, count: int) -> None:
        """Keep a list.

        Args:
            data: Its encoding.
            count: Its number of elements.
        """
        self._data, self._count = data, count

    def __len__(self) -> int:
        return self._count

    def decoded(self) -> list[Any]:
        """Return the list.

        Raises:
            FramingError: Its bytes cannot be decoded.
        """
        values: list[Any] = _decoded(memoryview(self._data))
        return values


#: Encoded name of the method whose last argument stays packed: a list of one list.
_LATE: Final = msgpack.packb("set_bones_transform")
_ID_BYTES: Final = {0xCC: 2, 0xCD: 3, 0xCE: 5}


def _late_name_at(data: bytearray, begin: int) -> int:
    """Place behind the name if a request to the late method begins at a place; else 0."""
    if len(data) < begin + 4 or data[begin] != 0x94 or data[begin + 1] != 0:
        return 0
    name = begin + 2 + (1 if data[begin + 2] < 0x80 else _ID_BYTES.get(data[begin + 2], 99))
    end = name + len(_LATE)
    return end if data[name:end] == _LATE else 0


@kernel
def _late_places(data: NDArray[np.uint8], at: int) -> tuple[int, int, int]:
    """Places behind metadata and actor id of plain arguments, and elements of the bones; 0: others.

    The arguments are an array of metadata (one plain value in an array), an id, and a list in a
    list.
    """
    end = len(data)
    if at + 3 >= end or data[at] != 0x93 or data[at + 1] != 0x91:
        return 0, 0, 0
    size, elements, _ = _value_at(data, at + 2, end)
    actor = at + 2 + size
    if size <= 0 or elements or actor >= end:
        return 0, 0, 0
    size, elements, _ = _value_at(data, actor, end)
    bones = actor + size
    if size <= 0 or elements or bones + 1 >= end or data[bones] != 0x91:
        return 0, 0, 0
    first = data[bones + 1]
    if not (0x90 <= first <= 0x9F or first == 0xDC or first == 0xDD):
        return 0, 0, 0
    _, elements, _ = _value_at(data, bones + 1, end)
    return actor, bones + 1, elements


def _late_message(part: bytes, name_end: int) -> Any:
    """A request to the late method with its list packed, or decoded if it is of another form."""
    actor, bones, count = _late_places(np.frombuffer(part, np.uint8), name_end)
    if not actor:
        return _decoded(memoryview(part))
    head = msgpack.unpackb(b"\x92" + part[1 : name_end - len(_LATE)])
    meta, actor_id = msgpack.unpackb(b"\x92" + part[name_end + 1 : bones - 1], raw=False)
    packed = PackedList(part[bones:], count)
    return [head[0], head[1], "set_bones_transform", [meta, actor_id, [packed]]]


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
        self._late_end = 0  # behind the name in a late message that is being skipped
        self._is_partial = False  # the quick decoder has begun to decode a message

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
            self._late_end, self._is_partial = 0, False
        self._data += data
        if self._quick is not None:
            if len(self._data) <= _LITTLE_BYTES:
                self._quick.feed(data)
            else:
                self._quick, self._late_end = None, 0

    def next(self) -> Any:
        """Return the next message, or :data:`NOTHING` if it is not complete yet.

        Raises:
            FramingError: The bytes are not msgpack, or exceed a limit.
        """
        if self._quick is not None:
            try:
                if not self._late_end and not self._is_partial:
                    end = _late_name_at(self._data, self._begin)
                    self._late_end = end - self._begin if end else 0
                message = self._skipped() if self._late_end else next(self._quick, NOTHING)
            except Exception:  # the scanner finds out what is wrong, if anything is
                self._quick, self._late_end = None, 0
            else:
                self._is_partial = message is NOTHING and not self._late_end and len(self) > 0
                if message is not NOTHING:
                    self._begin = self._quick.tell() - self._trimmed
                return message
        return self._scanned()

    def _skipped(self) -> Any:
        """Return the next message, one to the late method, without decoding its list."""
        try:
            self._quick.skip()
        except msgpack.OutOfData:
            return NOTHING
        end = self._quick.tell() - self._trimmed
        part, name_end = bytes(self._data[self._begin : end]), self._late_end
        self._late_end = 0
        return _late_message(part, name_end)

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
        name_end = _late_name_at(self._data, self._begin)
        with memoryview(self._data) as whole, whole[self._begin : end] as part:
            if name_end:
                message = _late_message(bytes(part), name_end - self._begin)
            else:
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
    inbox.feed(msgpack.packb([0, 1, "set_bones_transform", [[False], 1, [[]]]]))
    inbox.next()
    inbox.feed(msgpack.packb([0, 1, "version", [[False], b"\0" * _LITTLE_BYTES]]))
    inbox.next()
