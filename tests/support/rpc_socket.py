"""The msgpack-RPC socket without the wheel: for methods Python cannot call, and for abuse."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import Any

import msgpack


class RpcError(Exception):
    """The server answered with CARLA's error response or an RPC error."""


class RpcSocket:
    """A plain, blocking RPC connection."""

    def __init__(self, port: int, host: str = "127.0.0.1", timeout_s: float = 60.0) -> None:
        self.sock = socket.create_connection((host, port), timeout_s)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=2**28)
        self._next_id = 0

    def __enter__(self) -> RpcSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.close()

    def send(self, method: str, *arguments: Any) -> int:
        """Send a request without waiting; returns its id."""
        self._next_id += 1
        request = [0, self._next_id, method, [[False], *arguments]]
        self.sock.sendall(msgpack.packb(request))
        return self._next_id

    def receive(self) -> list[Any]:
        """The next response: [1, id, error, result]."""
        while True:
            for message in self._unpacker:
                return message
            data = self.sock.recv(1 << 20)
            if not data:
                raise ConnectionError("the server closed the connection")
            self._unpacker.feed(data)

    def raw(self, method: str, *arguments: Any) -> Any:
        """Call and return the undecoded result (with CARLA's wrapper)."""
        wanted = self.send(method, *arguments)
        while True:
            _, message_id, error, result = self.receive()
            if message_id == wanted:
                if error is not None:
                    raise RpcError(str(error))
                return result

    def call(self, method: str, *arguments: Any) -> Any:
        """Call and unwrap: the value, or None of a void method; errors raise."""
        result = self.raw(method, *arguments)
        [inner] = result
        head = inner[0]
        if head is True or (head == 0 and head is not False):
            raise RpcError(inner[1][0])
        return None if head is False else inner[1]


class StreamSocket:
    """A subscription to one stream."""

    def __init__(self, token: bytes, timeout_s: float = 60.0) -> None:
        stream_id, port = struct.unpack_from("<IH", token)
        self.sock = socket.create_connection(("127.0.0.1", port), timeout_s)
        self.sock.sendall(struct.pack("<I", stream_id))

    def __enter__(self) -> StreamSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = self.sock.recv(count)
            if not part:
                raise ConnectionError("the server closed the stream")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def frame(self) -> bytes:
        """The next payload."""
        (size,) = struct.unpack("<I", self._exactly(4))
        return self._exactly(size)
