"""RPC: requests in, responses out, and the table of methods.

A method is a function ``(context, *arguments)`` registered under its wire name. Its result is
wrapped as CARLA wraps it; a :class:`WireError` becomes CARLA's error response; any other exception
is logged and also answered, so that a client never waits forever.

:class:`LoadGate` makes a client's other threads wait while it changes worlds. The 0.9.16 client
drops its episode when the answer to ``load_new_episode`` arrives, asks for the version and the new
episode, and only then has one again. An asynchronous Traffic Manager in the same client asks for
the settings and reads the episode in a loop; in that moment it reads a null pointer and the process
dies. The loop cannot go on without our answers, though. So the load is answered once the Traffic
Manager waits for one, and the Traffic Manager is answered once the client has its new episode.
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
from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.encoding.framing import NOTHING, FramingError, Inbox
from jaywalk.server.protocol.streams import Ledger, Streams
from jaywalk.server.session.simulation import Simulation
from jaywalk.server.world.tables import Actor, Kind
from jaywalk.server.world.world import UnknownActorError, World

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer
    from jaywalk.server.session.sensor_hub import SensorHub

LOAD: Final = "load_new_episode"
_NEEDED: Final = ("version", "get_episode_info")  # what the client asks without an episode
_HAS_EPISODE: Final = "get_sensor_token"  # the first call it makes with the new one
_SETTLE_S: Final = 0.5  # how long a Traffic Manager may take to ask for something
_CHANGE_S: Final = 3.0  # how long the client may take to get its new episode
_MOST_HELD: Final = 256


class LoadGate:
    """Shut from the end of a load until the client has its new episode."""

    def __init__(self) -> None:
        """Open."""
        self.until_s: float | None = None  # when it opens by itself; None: it is open
        self._answer = b""
        self._held: list[Any] = []
        self.held_bytes = 0

    def shut(self, answer: bytes, now_s: float) -> None:
        """Keep the answer to a load back until another thread of the client waits."""
        self._answer += answer
        self.until_s = now_s + _SETTLE_S

    def holds(self, name: Any, message: Any, size: int = 0) -> bool:
        """Whether a request has to wait; it is kept then.

        A second load is not kept: a client that loads again has given up on the last answer.
        """
        if self.until_s is None or name == LOAD or len(self._held) >= _MOST_HELD:
            return False
        if not self._answer and name in (*_NEEDED, _HAS_EPISODE):
            return False
        self._held.append(message)
        self.held_bytes += size
        return True

    def take_answer(self, now_s: float) -> bytes:
        """The answer to the load, once somebody waits or it is time."""
        if self.until_s is None or not (self._held or now_s >= self.until_s):
            return b""
        answer, self._answer = self._answer, b""
        if answer:
            self.until_s = now_s + _CHANGE_S
        return answer

    def take_held(self, name: Any, now_s: float) -> list[Any]:
        """Requests that may go on now that ``name`` was answered; the gate is open then."""
        if self.until_s is None or self._answer:
            return []
        is_held = bool(self._held) and self._held[-1][2] == name  # of another thread
        if (name != _HAS_EPISODE or is_held) and now_s < self.until_s:
            return []
        held, self._held, self.held_bytes = self._held, [], 0
        self.until_s = None
        return held


log = logging.getLogger("jaywalk.rpc")

_READ_BYTES: Final = 256 * 1024
# A client that does not read its answers is not answered further until it does.
_UNREAD_LIMIT_BYTES: Final = 4 * 1024 * 1024
_SLICE_S: Final = 0.004
_ARGUMENT_LIMIT: Final = 32
_REQUEST, _RESPONSE = 0, 1
_TICKS: Final = ("tick_cue", "apply_batch")
_MOST_LATE: Final = 16  # answers to ticks kept back for one client; then its requests wait


@dataclass(frozen=True, slots=True)
class Encoded:
    """A response body that is msgpack already (hot calls keep theirs ready)."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that needs slow work: others are served meanwhile, this client waits.

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
    def streams(self) -> Streams:
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
        """Whether requests wait, may be run, and their sender takes the answers."""
        can_run = self.has_backlog and not self.waits and not self.closed
        return can_run and len(self.outgoing) < _UNREAD_LIMIT_BYTES and len(self._late) < _MOST_LATE

    @property
    def late_until_s(self) -> float | None:
        """When the next answer to a tick is due; None: none is kept back."""
        return self._late[0][0] if self._late else None

    def count_buffers(self, *, closing: bool = False) -> None:
        """Enter what waits here, in and out, in the ledger of all connections."""
        self.closed = self.closed or closing
        kept = self.gate.held_bytes + sum(len(answer) for _, answer in self._late)
        now = 0 if self.closed else len(self._inbox) + len(self.outgoing) + kept
        self._ledger.total += now - self.buffered_bytes
        self.buffered_bytes = now

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
        self._inbox.feed(data)
        self.has_backlog = True
        return True

    def work(self) -> bool:
        """Answer requests for a slice of time, so that a flood of them starves nobody else.

        Returns False when the connection is to be closed.
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
        except FramingError as problem:
            # Bad bytes cost their sender its connection and nobody else anything.
            log.warning("closing %s:%d: not msgpack-RPC (%s)", *self.address, problem)
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
        """Queue a response; None means that there is no such method."""
        self.outgoing += b"\x94\x01" + self._packer.pack(message_id)
        if isinstance(result, Encoded):
            self.outgoing += b"\xc0" + result.body
        elif result is None:
            problem = f"no such method: {short_repr(name)}"
            self.outgoing += self._packer.pack([problem]) + b"\xc0"
        else:
            self.outgoing += b"\xc0" + self._packer.pack(result)

    def shut_gate(self, name: Any, before: int, start: int) -> None:
        """Keep back the answer to a load of another episode if a Traffic Manager would die of it.

        Args:
            name: The method that was answered.
            before: The episode's id before the call.
            start: Where the answer begins in what is to be sent.
        """
        if name == LOAD and self._context.simulation.episode_id != before and self._has_manager():
            self.gate.shut(bytes(self.outgoing[start:]), time.monotonic())
            del self.outgoing[start:]

    def _has_manager(self) -> bool:
        """Whether a Traffic Manager of this client runs by itself, beside the caller."""
        return self.dialect is CARLA_0_9_16 and self._server.traffic_managers.has_owner(self)

    def _delay(self, start: int, due_s: float) -> None:
        """Keep what was answered last until its time; other answers are not kept waiting."""
        if due_s > time.monotonic():
            self._late.append((due_s, bytes(self.outgoing[start:])))
            del self.outgoing[start:]

    def release_late(self, now_s: float) -> None:
        """Hand over the answers whose time has come."""
        while self._late and self._late[0][0] <= now_s:
            self.outgoing += self._late.popleft()[1]

    def pass_gate(self, name: Any = None) -> bool:
        """Let through what need not wait any longer; False when the connection is to be closed."""
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


def call(context: RpcContext, name: Any, arguments: Any) -> Any:
    """Run one method; returns its wrapped result, or None when there is no such method."""
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
    """Run (a part of) a method and wrap its result; whatever it raises becomes an answer."""
    method = METHODS[name]
    try:
        value = run()
    except codec.WireError as problem:
        return _failure(method, str(problem))
    except UnknownActorError as problem:
        return _failure(method, actor_problem(name, problem))
    except Exception as problem:
        # Wrong argument counts and types from hostile clients end up here too.
        said = shortened(str(problem))
        log.warning("%s failed: %s", name, said, exc_info=log.isEnabledFor(logging.DEBUG))
        return _failure(method, f"{name}: {type(problem).__name__}: {said}")
    if isinstance(value, Encoded | Later):
        return value
    if method.result == "void":
        return codec.VOID_OK
    return codec.ok(value) if method.result == "value" else value


def actor_problem(name: str, problem: UnknownActorError) -> str:
    """CARLA's message about an actor that is gone or of another kind."""
    return f"Responding error from function {name}: {problem}"


def _failure(method: Method, message: str) -> Any:
    if method.result == "void":
        return codec.void_failed(message)
    return codec.failed(message) if method.result == "value" else []
