"""The part of RFC 6455 that two programs need: binary messages over TCP. Standard library alone."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import struct
from urllib.parse import urlsplit

import numpy as np

from jaywalk_agent.errors import ConnectionLost, NoListener, ProtocolError

SUBPROTOCOL = "jaywalk-agent"
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MOST_HEAD = 16384
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_HANDSHAKE_S = 10.0
_LARGE = 65536


class Websocket:
    """An open connection. One thread at a time."""

    def __init__(self, link: socket.socket, *, masks: bool, max_bytes: int) -> None:
        """Take over a socket after the handshake.

        Args:
            link: The socket.
            masks: Whether this side is the client, which masks what it sends.
            max_bytes: Largest message that is taken.
        """
        self._link, self._masks, self._max_bytes = link, masks, max_bytes
        self._closed = False

    def set_timeout(self, seconds: float | None) -> None:
        """How long to wait for the other side; None: for ever."""
        self._link.settimeout(seconds)

    def send(self, payload: bytes) -> None:
        """Send one binary message.

        Raises:
            ConnectionLost: The other side is gone.
        """
        self._send_frame(_BINARY, payload)

    def receive(self) -> bytearray:
        """The next binary message.

        Raises:
            ConnectionLost: The other side closed, or is gone.
            ProtocolError: It breaks the rules, or sends more than is allowed.
            socket.timeout: It stayed silent.
        """
        parts = bytearray()
        begun = False
        while True:
            last, code, payload = self._read_frame(self._max_bytes - len(parts))
            if code == _PING:
                self._send_frame(_PONG, bytes(payload))
            elif code == _CLOSE:
                self._answer_close(payload)
            elif code in (_BINARY, _CONTINUATION):
                if begun is (code == _BINARY):
                    self._refuse(1002, "a message was cut up against the rules")
                if last and not begun:
                    return payload
                begun = True
                parts += payload
                if last:
                    return parts
            elif code == _TEXT:
                self._refuse(1003, "text was sent; messages are binary (msgpack)")
            elif code != _PONG:
                self._refuse(1002, f"an unknown frame ({code})")

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Say goodbye, without waiting for an answer."""
        if self._closed:
            return
        self._closed = True
        try:
            self._link.settimeout(1.0)
            self._write(_CLOSE, struct.pack("!H", code) + reason.encode()[:120])
            self._link.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self._link.close()

    # -- frames ----------------------------------------------------------------------------------

    def _read_frame(self, room: int) -> tuple[bool, int, bytearray]:
        first, second = self._read(2)
        last, code, length = bool(first & 0x80), first & 0x0F, second & 0x7F
        if first & 0x70:
            self._refuse(1002, "an extension that was not agreed on")
        if bool(second & 0x80) is self._masks:
            self._refuse(1002, "a client must mask its frames, a server must not")
        if length == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        if code >= _CLOSE and (length > 125 or not last):
            self._refuse(1002, "a control frame that is too long")
        if length > room:
            self._refuse(1009, f"a message of more than {self._max_bytes} bytes")
        mask = bytes(self._read(4)) if second & 0x80 else b""
        payload = self._read(length)
        if mask:
            _flip(payload, mask)
        return last, code, payload

    def _read(self, count: int) -> bytearray:
        data = bytearray(count)
        view, filled = memoryview(data), 0
        while filled < count:
            try:
                got = self._link.recv_into(view[filled:])
            except socket.timeout:
                raise
            except OSError as problem:
                raise ConnectionLost(f"the connection broke: {problem}") from problem
            if not got:
                raise ConnectionLost("the other side ended without a word")
            filled += got
        return data

    def _send_frame(self, code: int, payload: bytes) -> None:
        try:
            self._write(code, payload)
        except socket.timeout:
            raise
        except OSError as problem:
            raise ConnectionLost(f"the connection broke: {problem}") from problem

    def _write(self, code: int, payload: bytes) -> None:
        length, flag = len(payload), 0x80 if self._masks else 0
        if length < 126:
            head = struct.pack("!BB", 0x80 | code, flag | length)
        elif length < 65536:
            head = struct.pack("!BBH", 0x80 | code, flag | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | code, flag | 127, length)
        if self._masks:
            mask = os.urandom(4)
            body = bytearray(payload)
            _flip(body, mask)
            self._put(head + mask, body)
        else:
            self._put(head, payload)

    def _put(self, head: bytes, body: bytes | bytearray) -> None:
        if len(body) < _LARGE:
            self._link.sendall(head + body)
        else:  # joining them would copy a picture once more
            self._link.sendall(head)
            self._link.sendall(body)

    def _answer_close(self, payload: bytearray) -> None:
        code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
        reason = payload[2:].decode(errors="replace")
        self.close()
        raise ConnectionLost(f"the other side closed ({code}{': ' if reason else ''}{reason})")

    def _refuse(self, code: int, reason: str) -> None:
        self.close(code, reason)
        raise ProtocolError(f"The other side sent {reason}.")


def _flip(data: bytearray, mask: bytes) -> None:
    """Mask or unmask in place."""
    if not data:
        return
    view = np.frombuffer(data, np.uint8)
    whole = len(data) // 8 * 8
    words = view[:whole].view(np.uint64)
    words ^= np.frombuffer(mask * 2, np.uint64)[0]
    for index in range(whole, len(data)):
        data[index] ^= mask[index % 4]


# -- handshakes ----------------------------------------------------------------------------------


def accept(link: socket.socket, max_bytes: int) -> Websocket:
    """Answer a client's handshake.

    Raises:
        ProtocolError: It asked for something else, and has received an error.
        ConnectionLost: It went away.
    """
    link.settimeout(_HANDSHAKE_S)
    request, headers = _read_head(link)
    key = headers.get("sec-websocket-key", "")
    if "origin" in headers:
        # Browsers say where a page comes from; no web page has any business here.
        _turn_away(link, "403 Forbidden", "web pages may not connect to an agent")
    if not request.startswith("GET ") or headers.get("upgrade", "").lower() != "websocket":
        _turn_away(link, "426 Upgrade Required", "this is a Jaywalk agent; use a websocket")
    if headers.get("sec-websocket-version") != "13" or not key:
        _turn_away(link, "400 Bad Request", "version 13 of the websocket protocol is needed")
    lines = [
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {_accept_key(key)}",
    ]
    offered = [word.strip() for word in headers.get("sec-websocket-protocol", "").split(",")]
    if SUBPROTOCOL in offered:
        lines.append(f"Sec-WebSocket-Protocol: {SUBPROTOCOL}")
    link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    _no_delay(link)
    return Websocket(link, masks=False, max_bytes=max_bytes)


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of ``ws://HOST:PORT``.

    Raises:
        ValueError: It is no such address.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("ws", "wss") or not parts.hostname or not parts.port:
        raise ValueError(f"'{address}', expected ws://HOST:PORT as in ws://127.0.0.1:8765")
    return parts.hostname, parts.port


def connect(address: str, *, timeout_s: float, max_bytes: int) -> Websocket:
    """Open a connection to ``ws://HOST:PORT`` (or ``wss://`` behind a proxy).

    Raises:
        NoListener: Nobody is there.
        ProtocolError: Somebody is, but no websocket.
        ValueError: That is no address.
    """
    host, port = parse_address(address)
    parts = urlsplit(address)
    try:
        link: socket.socket = socket.create_connection((host, port), timeout=timeout_s)
    except OSError as problem:
        raise NoListener(f"nobody listens at {address} ({problem})") from problem
    try:
        if parts.scheme == "wss":
            link = ssl.create_default_context().wrap_socket(link, server_hostname=host)
        _shake_hands(link, parts.netloc, parts.path or "/", address)
    except (OSError, ConnectionLost) as problem:
        link.close()
        raise ProtocolError(f"{address} does not answer as a websocket: {problem}") from problem
    except BaseException:
        link.close()
        raise
    _no_delay(link)
    return Websocket(link, masks=True, max_bytes=max_bytes)


def _shake_hands(link: socket.socket, netloc: str, path: str, address: str) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
    ]
    link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    status, headers = _read_head(link)
    if " 101 " not in f"{status} ":
        raise ProtocolError(f"{address} answers '{status[:80]}', not as a websocket.")
    if headers.get("sec-websocket-accept") != _accept_key(key):
        raise ProtocolError(f"{address} answers with a wrong key, not as a websocket.")


def _read_head(link: socket.socket) -> tuple[str, dict[str, str]]:
    """First line and headers; reads byte by byte, for what follows belongs to the frames."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n"):
        byte = link.recv(1)
        if not byte:
            raise ConnectionLost("it ended within the handshake")
        head += byte
        if len(head) > _MOST_HEAD:
            raise ProtocolError("The handshake is longer than 16 KiB.")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return first, {name.strip().lower(): value.strip() for name, _, value in pairs}


def _turn_away(link: socket.socket, status: str, reason: str) -> None:
    body = reason + "\n"
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    link.sendall((head + body).encode())
    raise ProtocolError(f"Refused a client: {reason}.")


def _accept_key(key: str) -> str:
    return base64.b64encode(hashlib.sha1(key.encode() + _MAGIC).digest()).decode()


def _no_delay(link: socket.socket) -> None:
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A host that vanished is noticed in the end.
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
