"""Our websocket against the ``websockets`` package, and against those who break the rules."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as their_connect
from websockets.sync.server import serve as their_serve

from jaywalk_agent import Agent, AgentServer, ConnectionLost, Control, NoListener, ProtocolError
from jaywalk_agent.websocket import accept, connect, parse_address
from jaywalk_agent.wire import PROTOCOL, pack, unpack

_SIZES = (0, 1, 125, 126, 65535, 65536, 3_000_001)


@contextmanager
def _echo(max_bytes: int = 2**22) -> Iterator[str]:
    """A server of ours that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        link, _ = listener.accept()
        try:
            ours = accept(link, max_bytes)
            while True:
                ours.send(ours.receive())
        except (ConnectionLost, ProtocolError):
            link.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        thread.join(60.0)


def test_their_client_and_our_server() -> None:
    with _echo() as address:
        with their_connect(address, max_size=2**23, compression=None) as theirs:
            for size in _SIZES:
                data = os.urandom(size)
                theirs.send(data)
                assert theirs.recv() == data
            theirs.send([b"in ", b"three ", b"parts"])
            assert theirs.recv() == b"in three parts"
            assert theirs.ping(b"hello") is not None
            theirs.send(b"last")
            assert theirs.recv() == b"last"


def test_our_client_and_their_server() -> None:
    def echo(link: object) -> None:
        for message in link:  # type: ignore[attr-defined]
            link.ping()  # type: ignore[attr-defined]
            link.send(message)  # type: ignore[attr-defined]

    with their_serve(echo, "127.0.0.1", 0, max_size=2**23) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        port = server.socket.getsockname()[1]
        ours = connect(f"ws://127.0.0.1:{port}", timeout_s=60.0, max_bytes=2**23)
        for size in _SIZES:
            data = os.urandom(size)
            ours.send(data)
            assert ours.receive() == data
        ours.close()
        server.shutdown()
        thread.join(60.0)


def test_rules_are_kept() -> None:
    with _echo(max_bytes=1000) as address:
        with their_connect(address, compression=None) as theirs:
            theirs.send(b"x" * 1001)
            with pytest.raises(ConnectionClosed, match="more than 1000 bytes"):
                theirs.recv()
    with _echo() as address:
        with their_connect(address, compression=None) as theirs:
            theirs.send("text")
            with pytest.raises(ConnectionClosed, match="binary"):
                theirs.recv()
    with _echo() as address, pytest.raises(InvalidStatus, match="403"):
        their_connect(address, origin="http://evil.example")


def test_who_is_no_websocket() -> None:
    with _echo() as address:
        host, port = parse_address(address)
        with socket.create_connection((host, port), timeout=60.0) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert plain.recv(100).startswith(b"HTTP/1.1 426")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def answer() -> None:
        link, _ = listener.accept()
        link.recv(4096)
        link.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")
        link.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    with pytest.raises(ProtocolError, match="404 Not Found"):
        connect(f"ws://127.0.0.1:{port}", timeout_s=60.0, max_bytes=1000)
    thread.join(60.0)
    listener.close()
    with pytest.raises(NoListener, match="nobody listens"):
        connect(f"ws://127.0.0.1:{port}", timeout_s=1.0, max_bytes=1000)


@pytest.mark.parametrize("address", ["ws://", "ws://host", "http://host:80", "ws://host:x", "host"])
def test_wrong_addresses(address: str) -> None:
    with pytest.raises(ValueError, match=r"ws://|invalid literal|Port"):
        parse_address(address)


def test_a_session_as_another_language_would_hold_it() -> None:
    class Stand(Agent):
        def step(self, moment: object) -> Control:
            return Control(brake=1.0)

    with AgentServer(Stand) as server, their_connect(server.address, compression=None) as theirs:
        theirs.send(pack({"type": "hello", "protocol": PROTOCOL}))
        assert unpack(theirs.recv())["protocol"] == PROTOCOL
        theirs.send(pack({"type": "step"}))
        said = unpack(theirs.recv())
        assert (said["type"], said["kind"]) == ("error", "protocol")
        assert "before 'setup'" in said["message"]
