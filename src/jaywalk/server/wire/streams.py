"""Streams: tokens, subscribers and frames that leave the server.

A stream never blocks the world: what a reader does not take is buffered up to a limit, and frames
beyond it are dropped and counted.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from typing import Final

from jaywalk.server.wire.dialect import Dialect

WORLD_STREAM: Final = 1
_TOKEN = struct.Struct("<IHBB16s")
_SIZE = struct.Struct("<I")
_TCP, _ADDRESS_UNSET = 1, 0
_BUFFER_LIMIT_BYTES: Final = 64 * 1024 * 1024


def token_bytes(stream_id: int, port: int) -> bytes:
    """The 24 bytes that tell a client where a stream is; an unset address means the RPC host."""
    return _TOKEN.pack(stream_id, port, _TCP, _ADDRESS_UNSET, b"")


class Subscriber:
    """One stream connection: what it reads, in which dialect, and what it has not taken yet."""

    __slots__ = (
        "buffered_bytes", "dialect", "dropped", "greeting", "pending", "sock", "stream_id",
    )  # fmt: skip

    def __init__(self, sock: socket.socket, dialect: Dialect) -> None:
        self.sock = sock
        self.dialect = dialect
        self.greeting = b""  # the four bytes that name the stream, as far as they have come
        self.stream_id = 0
        self.pending: deque[memoryview] = deque()
        self.buffered_bytes = 0
        self.dropped = 0

    def push(self, payload: bytes) -> bool:
        """Send one frame or buffer it. Returns False when the connection is broken."""
        if self.buffered_bytes + len(payload) > _BUFFER_LIMIT_BYTES:
            self.dropped += 1
            return True
        frame = memoryview(_SIZE.pack(len(payload)) + payload)
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
        self.buffered_bytes += len(frame)
        return True

    def flush(self) -> bool:
        """Send what is buffered, as far as the reader takes it. False when it is gone."""
        while self.pending:
            try:
                sent = self.sock.send(self.pending[0])
            except BlockingIOError:
                return True
            except OSError:
                return False
            self.buffered_bytes -= sent
            if sent < len(self.pending[0]):
                self.pending[0] = self.pending[0][sent:]
                return True
            self.pending.popleft()
        return True
