"""Streams: tokens, subscribers and frames that leave the server.

A stream never blocks the world: what a reader does not take is buffered up to a limit, and frames
beyond it are dropped and counted.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from typing import Final

from jaywalk.server.encoding.codec import Dialect

WORLD_STREAM: Final = 1
_TOKEN = struct.Struct("<IHBB16s")
_SIZE = struct.Struct("<I")
_TCP, _ADDRESS_UNSET = 1, 0
BUFFER_LIMIT_BYTES: Final = 64 * 1024 * 1024  # of one reader
TOTAL_LIMIT_BYTES: Final = 192 * 1024 * 1024  # of all connections together


def token_bytes(stream_id: int, port: int) -> bytes:
    """The 24 bytes that tell a client where a stream is; an unset address means the RPC host."""
    return _TOKEN.pack(stream_id, port, _TCP, _ADDRESS_UNSET, b"")


class Ledger:
    """Bytes that wait on all connections together; each connection keeps its entry up to date."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0


def framed(payload: bytes) -> memoryview:
    """A payload behind its size, as it travels; readers of one frame share its memory."""
    return memoryview(_SIZE.pack(len(payload)) + payload)


class Subscriber:
    """One stream connection: what it reads, in which dialect, and what it has not taken yet."""

    __slots__ = (
        "_ledger",
        "buffered_bytes",
        "dialect",
        "dropped",
        "greeting",
        "pending",
        "sock",
        "stream_id",
    )

    def __init__(self, sock: socket.socket, dialect: Dialect, ledger: Ledger) -> None:
        self._ledger = ledger
        self.sock = sock
        self.dialect = dialect
        self.greeting = b""  # the four bytes that name the stream, as far as they have come
        self.stream_id = 0
        self.pending: deque[memoryview] = deque()
        self.buffered_bytes = 0
        self.dropped = 0

    def push(self, frame: memoryview) -> bool:
        """Send one frame or buffer it. Returns False when the connection is broken."""
        # A single frame is sent whatever its size: what is refused is a queue.
        if self.pending and self.buffered_bytes + len(frame) > BUFFER_LIMIT_BYTES:
            self.dropped += 1
            return True
        if not self.pending:
            try:
                sent = self.sock.send(frame)
            except BlockingIOError:
                sent = 0
            except OSError:
                return False
            if sent == len(frame):
                return True
            frame = frame[sent:]
        self.pending.append(frame)
        self._count(len(frame))
        return True

    def _count(self, change: int) -> None:
        self.buffered_bytes += change
        self._ledger.total += change

    def forget(self) -> None:
        """Throw away what is buffered."""
        self.pending.clear()
        self._count(-self.buffered_bytes)

    def flush(self) -> bool:
        """Send what is buffered, as far as the reader takes it. False when it is gone."""
        while self.pending:
            try:
                sent = self.sock.send(self.pending[0])
            except BlockingIOError:
                return True
            except OSError:
                return False
            self._count(-sent)
            if sent < len(self.pending[0]):
                self.pending[0] = self.pending[0][sent:]
                return True
            self.pending.popleft()
        return True
