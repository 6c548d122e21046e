"""RPC connections: requests, responses and the table of methods.

A method is a function ``(context, *arguments)`` registered under its wire name. Its result is
wrapped in CARLA's response format. A :class:`WireError` becomes CARLA's error response. Any other
exception is logged and also answered, so that a client never waits forever.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgpack

from jaywalk.core.text import short_repr, shortened
from jaywalk.server.encoding import codec
from jaywalk.server.encoding._framing import NOTHING, FramingError, Inbox
from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.protocol._load_gate import LOAD, LoadGate
from jaywalk.server.protocol._streams import Ledger, StreamPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.world._tables import Actor, Kind
from jaywalk.server.world._world import UnknownActorError, World

if TYPE_CHECKING:
    from jaywalk.server.protocol._server import CarlaServer
    from jaywalk.server.session._sensor_hub import SensorHub

log = logging.getLogger("jaywalk.rpc")

_READ_BYTES: Final = 256 * 1024
# A client that does not read its answers is not answered further until it does.
_UNREAD_LIMIT_BYTES: Final = 4 * 1024 * 1024
_SLICE_S: Final = 0.004
_ARGUMENT_LIMIT: Final = 32
_REQUEST, _RESPONSE = 0, 1
_TICKS: Final = ("tick_cue", "apply_batch")
_MAX_LATE: Final = 16  # answers to ticks kept back for one client; then its requests wait


@dataclass(frozen=True, slots=True)
class Encoded:
    """A response body that is already packed (frequent calls keep theirs ready)."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that needs slow work; the server handles other clients in the meantime.

    ``work`` runs in a thread and must not touch the world; ``finish`` gets its result and runs in
    the event loop, as a method does. The world's own clock can stand still until then.
    """

    work: Callable[[], Any]
    finish: Callable[[Any], Any]
    stands_still: bool = False


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


class RpcContext:
    """The objects that a method works with: the simulation, the caller and the server."""

    __slots__ = ("client", "server", "simulation")

    def __init__(self, server: CarlaServer, client: RpcClient) -> None:
        self.server = server
        self.client = client
        self.simulation: Simulation = server.simulation

    @property
    def world(self) -> World:
        """The world of the present episode."""
        return self.simulation.world

    @property
    def sensors(self) -> SensorHub:
        """The sensors of the present episode."""
        return self.simulation.sensors

    @property
    def streams(self) -> StreamPublisher:
        """The streams of the server."""
        return self.server.streams

    @property
    def dialect(self) -> Dialect:
        """The dialect of the caller."""
        return self.client.dialect

    def actor(self, actor_id: Any) -> Actor:
        """Return the actor with an id that a client sent."""
        return self.simulation.world.actor(codec.integer(actor_id))

    def vehicle(self, actor_id: Any) -> Actor:
        """Return the vehicle with an id that a client sent."""
        return self.simulation.world.actor_of_kind(codec.integer(actor_id), Kind.VEHICLE)

    def walker(self, actor_id: Any) -> Actor:
        """Return the walker with an id that a client sent."""
        return self.simulation.world.actor_of_kind(codec.integer(actor_id), Kind.WALKER)

    def sensor(self, actor_id: Any) -> Actor:
        """Return the sensor with an id that a client sent."""
        return self.simulation.world.actor_of_kind(codec.integer(actor_id), Kind.SENSOR)


class RpcClient:
    """One RPC connection: its dialect, its unparsed input and its unsent output."""

    def __init__(
        self,
        sock: socket.socket,
        address: tuple[str, int],
        dialect: Dialect,
        ledger: Ledger,
        server: CarlaServer,
    ) -> None:
        self._server = server
        self._context = RpcContext(server, self)
        self.sock = sock
        self.address = address
        self.dialect = dialect
        self.outgoing = bytearray()
        self.interest = (True, False)  # what the event loop watches: reading, writing
        self.awaits_snapshot = False  # asked for the world stream, has not spoken since its tick
        self.gate = LoadGate()
        self._late: deque[tuple[float, bytes]] = deque()  # answers to ticks and when they are due
        self.has_backlog = False  # bytes were fed that have not been looked at
        self.is_recognised = False  # whether we have looked which dialect it speaks
        self.waits = False  # for work in the background: no request of it is run until then
        self.closed = False
        self.buffered_bytes = 0
        self._ledger = ledger
        self._packer = msgpack.Packer(use_bin_type=True)
        self._inbox = Inbox()

    @property
    def can_work(self) -> bool:
        """Return whether requests are waiting, may run, and the client reads its answers."""
        can_run = self.has_backlog and not self.waits and not self.closed
        return can_run and len(self.outgoing) < _UNREAD_LIMIT_BYTES and len(self._late) < _MAX_LATE

    @property
    def late_until_s(self) -> float | None:
        """Time at which the next delayed answer to a tick is due; None if there is none."""
        return self._late[0][0] if self._late else None

    def count_buffers(self, *, closing: bool = False) -> None:
        """Update the share of this connection in the ledger of buffered bytes."""
        self.closed = self.closed or closing
        kept = self.gate.held_bytes + sum(len(answer) for _, answer in self._late)
        now = 0 if self.closed else len(self._inbox) + len(self.outgoing) + kept
        self._ledger.total += now - self.buffered_bytes
        self.buffered_bytes = now

    def read(self) -> bool:
        """Read the bytes that have arrived; return False if the connection must be closed."""
        try:
            data = self.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        self._inbox.feed(data)
        self.has_backlog = True
        return True

    def work(self) -> bool:
        """Answer requests for a limited time, so that one client cannot block all others.

        Returns False if the connection must be closed.
        """
        until = time.monotonic() + _SLICE_S
        try:
            while self.can_work:
                before_bytes = len(self._inbox)
                message = self._inbox.next()
                if message is NOTHING:
                    self.has_backlog = False
                    continue
                size = before_bytes - len(self._inbox)
                if not (self._answer(message, size) and self.pass_gate(message[2])):
                    return False
                if time.monotonic() > until:
                    break
        except FramingError as error:
            # Bad bytes cost only their sender its connection.
            log.warning("closing %s:%d: not msgpack-RPC (%s)", *self.address, error)
            return False
        except Exception:
            log.exception("closing %s:%d: a request could not be answered", *self.address)
            return False
        return self.flush()

    def _answer(self, message: Any, size: int = 0) -> bool:
        if not (isinstance(message, list) and len(message) == 4 and message[0] == _REQUEST):
            log.warning("closing %s:%d: expected an RPC request", *self.address)
            return False
        _, message_id, name, arguments = message
        if not (isinstance(message_id, int) and 0 <= message_id < 1 << 32):
            shown = short_repr(message_id)
            log.warning("closing %s:%d: message id %s", *self.address, shown)
            return False
        if self.gate.holds(name, message, size):
            return True
        if name in ("tick_cue", LOAD) and self.outgoing and not self.flush():
            return False  # others of this connection must not wait for the step or the load
        server, simulation = self._server, self._context.simulation
        before, frame, start = simulation.episode_id, simulation.frame, len(self.outgoing)
        result = call(self._context, name, arguments)
        if isinstance(result, Later):
            self.waits = True
            server.run_later(self, message_id, name, result)
            return True
        self.put_answer(message_id, name, result)
        self.shut_gate(name, before, start)
        if name in _TICKS and simulation.frame != frame:
            self._delay(start, server.tick_answer_due_s(time.monotonic()))
        if simulation.late_sensors_due:
            is_open = self.flush()
            server.measure_late_sensors()
            return is_open
        return True

    def put_answer(self, message_id: int, name: Any, result: Any) -> None:
        """Queue a response; None means that the method does not exist."""
        self.outgoing += b"\x94\x01" + self._packer.pack(message_id)
        if isinstance(result, Encoded):
            self.outgoing += b"\xc0" + result.body
        elif result is None:
            problem = f"no such method: {short_repr(name)}"
            self.outgoing += self._packer.pack([problem]) + b"\xc0"
        else:
            self.outgoing += b"\xc0" + self._packer.pack(result)

    def shut_gate(self, name: Any, before: int, start: int) -> None:
        """Delay the answer to a load of another episode if it would crash a Traffic Manager.

        Args:
            name: The method that was answered.
            before: The episode's id before the call.
            start: Offset of the answer in the outgoing bytes.
        """
        if name == LOAD and self._context.simulation.episode_id != before and self._has_manager():
            self.gate.shut(bytes(self.outgoing[start:]), time.monotonic())
            del self.outgoing[start:]

    def _has_manager(self) -> bool:
        """Return whether this client runs a Traffic Manager in another of its threads."""
        return self.dialect is CARLA_0_9_16 and self._server.traffic_managers.has_owner(self)

    def _delay(self, start: int, due_s: float) -> None:
        """Keep the last answer until it is due; other answers do not wait for it."""
        if due_s > time.monotonic():
            self._late.append((due_s, bytes(self.outgoing[start:])))
            del self.outgoing[start:]

    def release_late(self, now_s: float) -> None:
        """Queue the answers that are due."""
        while self._late and self._late[0][0] <= now_s:
            self.outgoing += self._late.popleft()[1]

    def pass_gate(self, name: Any = None) -> bool:
        """Answer requests that need not wait any longer; False when the connection has to close."""
        if self.gate.until_s is None:
            return True
        now_s = time.monotonic()
        self.outgoing += self.gate.take_answer(now_s)
        try:
            return all(self._answer(message) for message in self.gate.take_held(name, now_s))
        except Exception:
            log.exception("closing %s:%d: a request could not be answered", *self.address)
            return False

    def flush(self) -> bool:
        """Send the queued bytes; return False if the connection is broken."""
        if self.outgoing:
            try:
                sent = self.sock.send(self.outgoing)
            except BlockingIOError:
                sent = 0
            except OSError:
                return False
            del self.outgoing[:sent]
        return True


def call(context: RpcContext, name: Any, arguments: Any) -> Any:
    """Run a method and return its wrapped result, or None if the method does not exist."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        log.warning("unknown method %s", short_repr(name))
        return None
    return guarded(name, lambda: _apply(method, context, arguments))


def _apply(method: Method, context: RpcContext, arguments: Any) -> Any:
    if not isinstance(arguments, list) or not arguments:
        raise codec.WireError("the parameters must be a list that starts with the metadata")
    if len(arguments) > _ARGUMENT_LIMIT:
        raise codec.WireError(f"{len(arguments)} parameters, at most {_ARGUMENT_LIMIT} are taken")
    return method.function(context, *arguments[1:])


def guarded(name: str, run: Callable[[], Any]) -> Any:
    """Run (a part of) a method and wrap its result; exceptions become error answers."""
    method = METHODS[name]
    try:
        value = run()
    except codec.WireError as error:
        return _failure(method, str(error))
    except UnknownActorError as error:
        return _failure(method, actor_problem(name, error))
    except Exception as error:
        # Wrong argument counts and types from hostile clients are handled here too.
        message = shortened(str(error))
        log.warning("%s failed: %s", name, message, exc_info=log.isEnabledFor(logging.DEBUG))
        return _failure(method, f"{name}: {type(error).__name__}: {message}")
    if isinstance(value, Encoded | Later):
        return value
    if method.result == "void":
        return codec.VOID_OK
    return codec.ok(value) if method.result == "value" else value


def actor_problem(name: str, problem: UnknownActorError) -> str:
    """Return CARLA's message about an actor that is missing or of another kind."""
    return f"Responding error from function {name}: {problem}"


def _failure(method: Method, message: str) -> Any:
    if method.result == "void":
        return codec.void_failed(message)
    return codec.failed(message) if method.result == "value" else []
