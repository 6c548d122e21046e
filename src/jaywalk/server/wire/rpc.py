"""RPC: requests in, responses out, and the table of methods.

A method is a function ``(server, client, *arguments)`` registered under its wire name. What it
returns is wrapped as CARLA wraps it; a :class:`WireError` becomes CARLA's error response; any other
exception is logged and also answered, so that a client never waits for ever.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgpack

from jaywalk.server.wire import codec
from jaywalk.server.wire.dialect import CARLA_0_9_16, Dialect
from jaywalk.server.wire.load_gate import LOAD, LoadGate

if TYPE_CHECKING:
    from jaywalk.server.wire.server import CarlaServer

log = logging.getLogger("jaywalk.rpc")

_MESSAGE_LIMIT_BYTES: Final = 64 * 1024 * 1024
_READ_BYTES: Final = 256 * 1024
# A client that does not read its answers is not answered further until it does.
_UNREAD_LIMIT_BYTES: Final = 4 * 1024 * 1024
_SLICE_S: Final = 0.004
_REQUEST, _RESPONSE = 0, 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """A response body that is msgpack already (hot calls keep theirs ready)."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Method:
    """A registered method and how its result is wrapped: ``value``, ``void`` or ``bare``."""

    function: Callable[..., Any]
    result: str


METHODS: Final[dict[str, Method]] = {}


def rpc(name: str, result: str = "value") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the RPC method ``name``."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if name in METHODS:
            raise ValueError(f"RPC method '{name}' is registered twice")
        METHODS[name] = Method(function, result)
        return function

    return register


class RpcClient:
    """One RPC connection: its dialect, its unparsed input and its unsent output."""

    def __init__(self, sock: socket.socket, address: tuple[str, int], dialect: Dialect) -> None:
        self.sock = sock
        self.address = address
        self.dialect = dialect
        self.outgoing = bytearray()
        self.interest = (True, False)  # what the event loop watches: reading, writing
        self.awaits_snapshot = False  # asked for the world stream, has not spoken since its tick
        self.gate = LoadGate()
        self.has_backlog = False  # bytes were fed that have not been looked at
        self._packer = msgpack.Packer(use_bin_type=True)
        self._unpacker = self._new_unpacker()

    @staticmethod
    def _new_unpacker() -> Any:
        return msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            unicode_errors="replace",
            max_buffer_size=_MESSAGE_LIMIT_BYTES,
        )

    @property
    def can_work(self) -> bool:
        """Whether requests wait and their sender takes the answers."""
        return self.has_backlog and len(self.outgoing) < _UNREAD_LIMIT_BYTES

    def read(self) -> bool:
        """Take what has arrived. False when the connection is to be closed."""
        try:
            data = self.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        try:
            self._unpacker.feed(data)
        except (ValueError, msgpack.UnpackException) as problem:
            log.warning("closing %s:%d: message too long (%s)", *self.address, problem)
            return False
        self.has_backlog = True
        return True

    def work(self, server: CarlaServer) -> bool:
        """Answer requests for a slice of time, so that a flood of them starves nobody else.

        Returns False when the connection is to be closed.
        """
        until = time.monotonic() + _SLICE_S
        try:
            while self.can_work:
                message = next(self._unpacker, None)
                if message is None:
                    self.has_backlog = False
                elif not (self._answer(server, message) and self.pass_gate(server, message[2])):
                    return False
                elif time.monotonic() > until:
                    break
        except Exception as problem:
            # Whatever bytes do to the parser (a list as a key raises TypeError, say), they
            # cost their sender its connection and nobody else anything.
            log.warning("closing %s:%d: not msgpack-RPC (%s)", *self.address, problem)
            return False
        return self.flush()

    def _answer(self, server: CarlaServer, message: Any) -> bool:
        if not (isinstance(message, list) and len(message) == 4 and message[0] == _REQUEST):
            log.warning("closing %s:%d: expected an RPC request", *self.address)
            return False
        _, message_id, name, arguments = message
        if not (isinstance(message_id, int) and 0 <= message_id < 1 << 32):
            log.warning("closing %s:%d: message id %r", *self.address, message_id)
            return False
        if self.gate.holds(name, message):
            return True
        if name in ("tick_cue", LOAD) and self.outgoing and not self.flush():
            return False  # others of this connection must not wait for the step or the load
        before, start = server.episode.id, len(self.outgoing)
        result = call(server, self, name, arguments)
        self.outgoing += b"\x94\x01" + self._packer.pack(message_id)
        if isinstance(result, Encoded):
            self.outgoing += b"\xc0" + result.body
        elif result is None:
            self.outgoing += self._packer.pack([f"no such method: {name!r}"]) + b"\xc0"
        else:
            self.outgoing += b"\xc0" + self._packer.pack(result)
        if name == LOAD and server.episode.id != before and self._has_busy_manager(server):
            self.gate.shut(bytes(self.outgoing[start:]), time.monotonic())
            del self.outgoing[start:]
        if server.episode.pictures_due:
            is_open = self.flush()
            server.send_pictures()
            return is_open
        return True

    def _has_busy_manager(self, server: CarlaServer) -> bool:
        """Whether a Traffic Manager of this client runs by itself, beside the caller."""
        return self.dialect is CARLA_0_9_16 and server.traffic_managers.has_owner(self)

    def pass_gate(self, server: CarlaServer, name: Any = None) -> bool:
        """Let through what need not wait any longer; False when the connection is to be closed."""
        if self.gate.until_s is None:
            return True
        now_s = time.monotonic()
        self.outgoing += self.gate.take_answer(now_s)
        held = self.gate.take_held(name, now_s)
        return all(self._answer(server, message) for message in held)

    def flush(self) -> bool:
        """Send what is ready. False when the connection is broken."""
        if self.outgoing:
            try:
                sent = self.sock.send(self.outgoing)
            except BlockingIOError:
                sent = 0
            except OSError:
                return False
            del self.outgoing[:sent]
        return True


def call(server: CarlaServer, client: RpcClient, name: Any, arguments: Any) -> Any:
    """Run one method; returns its wrapped result, or None when there is no such method."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        log.warning("unknown method %.80r", name)
        return None
    try:
        if not isinstance(arguments, list) or not arguments:
            raise codec.WireError("the parameters must be a list that starts with the metadata")
        value = method.function(server, client, *arguments[1:])
    except codec.WireError as problem:
        return _failure(method, str(problem))
    except Exception as problem:
        # Wrong argument counts and types from hostile clients end up here too.
        log.warning("%s failed: %s", name, problem, exc_info=log.isEnabledFor(logging.DEBUG))
        return _failure(method, f"{name}: {type(problem).__name__}: {problem}")
    if isinstance(value, Encoded):
        return value
    if method.result == "void":
        return codec.VOID_OK
    return codec.ok(value) if method.result == "value" else value


def _failure(method: Method, message: str) -> Any:
    if method.result == "void":
        return codec.void_failed(message)
    return codec.failed(message) if method.result == "value" else []
