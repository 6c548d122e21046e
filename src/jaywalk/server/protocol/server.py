"""The server process: one thread, one epoll loop, clients on sockets, a world behind them.

Everything that touches the world happens in this loop, in the order in which requests arrive. The
wall clock is used for two things only: to pace the asynchronous mode and to notice hung clients.
"""

from __future__ import annotations

import contextlib
import logging
import math
import resource
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from jaywalk.core.errors import PrerequisiteError
from jaywalk.server.encoding.codec import CARLA_0_9_15, CARLA_0_9_16, Dialect
from jaywalk.server.protocol import methods as _methods  # noqa: F401  (registers the RPC methods)  # noqa: F401  (registers the RPC methods)
from jaywalk.server.protocol.background import Background
from jaywalk.server.protocol.peer import is_local, recognise_peers
from jaywalk.server.protocol.rpc import Later, RpcClient, guarded
from jaywalk.server.protocol.streams import (
    TOTAL_LIMIT_BYTES,
    WORLD_STREAM,
    Ledger,
    Subscriber,
    framed,
    token_bytes,
)
from jaywalk.server.protocol.traffic_managers import TrafficManagers
from jaywalk.server.session.episode import Episode

log = logging.getLogger("jaywalk.server")

_BACKLOG: Final = 128
_SUBSCRIBE_WAIT_S: Final = 0.25
# Steps that waited so long for a subscription: not more than these in so many seconds, or clients
# that ask for tokens and never subscribe would keep everybody waiting.
_LONG_WAIT_S: Final = 0.2
_MOST_LONG_WAITS: Final = 3
_LONG_WAITS_WINDOW_S: Final = 2.0
_IDLE_POLL_S: Final = 0.5
_HOLD_S: Final = 2.0  # how long a client that loads may take to subscribe again ...
_SETTLED_S: Final = 0.05  # ... and how long it needs from then on
_NOTHING_YET: Final = b"?"
_SPARE_FILES: Final = 64  # descriptors that connections leave to the rest of the process
_MOST_CONNECTIONS: Final = 4096  # some 45 kB each, which the ledger of buffers does not count
# A fresh episode stands still until somebody watches, and then for this long or until somebody
# spawns an actor: a program that switches to synchronous mode at once finds the same world at the
# same frame in every run.
_GRACE_S: Final = 2.5


class CarlaServer:
    """Speaks CARLA's protocol for one :class:`Episode` at a time."""

    def __init__(self, episode: Episode, host: str, port: int, dialect: Dialect) -> None:
        """Bind the ports; the server is reachable from here on and answers once it runs."""
        self.episode = episode
        self.host = host
        self.default_dialect = dialect
        self.traffic_managers = TrafficManagers()
        self.running = True  # from here on, so that a stop before run() is not lost
        self._epoll = select.epoll()
        self._on_event: dict[int, Callable[[int], None]] = {}
        self._clients: dict[int, RpcClient] = {}
        self._backlogged: set[RpcClient] = set()  # their requests did not fit into their slice
        self._gated: set[RpcClient] = set()  # see LoadGate
        self._late: set[RpcClient] = set()  # the answer to their tick waits for the wall clock
        self.max_speed_factor: float | None = None  # of synchronous ticks; None: no limit
        self._last_tick_s = -math.inf
        self._subscribers: dict[int, list[Subscriber]] = {}
        self._held: set[Subscriber] = set()  # see old_readers_held
        self._held_until_s = math.inf
        self._ledger = Ledger()
        self._background = Background()
        self._unrecognised: list[RpcClient] = []  # their dialect is looked up next
        self._looking_up = False
        self._loads_in_flight = 0
        most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most_connections = min(_MOST_CONNECTIONS, most_files - _SPARE_FILES)
        self._expected_streams: dict[int, float] = {}  # token handed out, nobody connected yet
        self._long_waits: deque[float] = deque(maxlen=_MOST_LONG_WAITS)  # when each ended
        self._listeners: list[socket.socket] = []
        rpc_socket = self._listen(port)
        self.port = rpc_socket.getsockname()[1]
        self._watch(rpc_socket, lambda _: self._accept_client(rpc_socket))
        self._watch(self._background.bell, lambda _: self._background.deliver())
        self._stream_ports: dict[str, int] = {}
        other = CARLA_0_9_15 if dialect is CARLA_0_9_16 else CARLA_0_9_16
        for offset, spoken in enumerate((dialect, other), start=1):
            self._open_stream_port(spoken, self.port + offset)
        self._next_free_run_s = math.inf
        self._grace_ends_s = -math.inf
        self._greeted = False  # a client waits for a tick of a fresh episode
        episode.attach(self)

    # -- sockets ---------------------------------------------------------------------------------

    def _listen(self, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((self.host, port))
        except (OSError, OverflowError) as problem:
            sock.close()
            raise PrerequisiteError(
                f"Port {port} on {self.host} cannot be used ({problem}). "
                "Stop the program that holds it, or choose another with --port."
            ) from problem
        sock.listen(_BACKLOG)
        sock.setblocking(False)
        self._listeners.append(sock)
        return sock

    def _open_stream_port(self, dialect: Dialect, wanted: int) -> None:
        try:
            sock = self._listen(wanted)
        except PrerequisiteError:
            sock = self._listen(0)  # the token carries the port, so any will do
        self._stream_ports[dialect.version] = sock.getsockname()[1]
        self._watch(sock, lambda _: self._accept_subscriber(sock, dialect))

    def _watch(self, sock: socket.socket, handler: Callable[[int], None]) -> None:
        self._on_event[sock.fileno()] = handler
        self._epoll.register(sock.fileno(), select.EPOLLIN)

    def _unwatch(self, sock: socket.socket) -> None:
        descriptor = sock.fileno()
        if self._on_event.pop(descriptor, None) is not None:
            with contextlib.suppress(OSError):
                self._epoll.unregister(descriptor)
        sock.close()

    def _set_interest(self, sock: socket.socket, reads: bool, writes: bool) -> None:
        events = (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if writes else 0)
        with contextlib.suppress(OSError, ValueError):  # of a socket that is closed
            self._epoll.modify(sock.fileno(), events)

    def _accept(self, listener: socket.socket) -> tuple[socket.socket, tuple[str, int]] | None:
        try:
            sock, address = listener.accept()
        except OSError:
            return None
        if len(self._on_event) >= self._most_connections:
            log.warning("refusing %s:%d: too many connections", str(address[0]), int(address[1]))
            sock.close()
            return None
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock, (str(address[0]), int(address[1]))

    # -- RPC clients -----------------------------------------------------------------------------

    def _accept_client(self, listener: socket.socket) -> None:
        accepted = self._accept(listener)
        if accepted is None:
            return
        sock, address = accepted
        client = RpcClient(sock, address, self.default_dialect, self._ledger)
        client.is_recognised = not is_local(address[0])
        self._clients[sock.fileno()] = client
        self._watch(sock, lambda events: self._serve(client, events))

    def _serve(self, client: RpcClient, events: int) -> None:
        alive = True
        if events & select.EPOLLOUT:
            alive = client.flush()
        if alive and events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            alive = client.read()
        if alive and not client.is_recognised:
            self._recognise(client)
        self._answer(client, alive)
        self._relieve()

    def _recognise(self, client: RpcClient) -> None:
        """Find out which dialect a client speaks, beside the loop; it waits for that."""
        client.is_recognised = client.waits = True
        self._unrecognised.append(client)
        if not self._looking_up:
            self._look_up()

    def _look_up(self) -> None:
        """One look at the system's tables for all clients that wait."""
        clients, self._unrecognised = self._unrecognised, []
        self._looking_up = bool(clients)
        if not clients:
            return
        ports = [client.address[1] for client in clients]

        def tell(found: Any) -> None:
            dialects = [None] * len(clients) if isinstance(found, Exception) else found
            try:
                for client, dialect in zip(clients, dialects, strict=True):
                    client.dialect = dialect or self.default_dialect
                    log.info("client %s:%d speaks %s", *client.address, client.dialect.version)
                    self._resume(client)
            finally:  # the next ones are looked up whatever a client does
                self._look_up()

        self._background.submit("peers", lambda: recognise_peers(ports, self.port), tell)

    def _resume(self, client: RpcClient) -> None:
        client.waits = False
        if not client.closed:
            self._answer(client)

    def run_later(self, client: RpcClient, message_id: int, name: str, later: Later) -> None:
        """Do slow work for a client beside the loop, then finish its request in the loop."""
        self._loads_in_flight += later.stands_still

        def finish(outcome: Any) -> None:
            self._loads_in_flight -= later.stands_still
            if client.closed:  # nobody waits for it any more
                return

            def end() -> Any:
                if isinstance(outcome, Exception):
                    raise outcome
                return later.finish(outcome)

            before, start = self.episode.id, len(client.outgoing)
            try:
                client.put_answer(message_id, name, guarded(name, end))
                client.shut_gate(self, name, before, start)
            except Exception:
                log.exception("closing %s:%d: %s could not be answered", *client.address, name)
                self._answer(client, alive=False)
                return
            self._resume(client)

        self._background.submit("requests", later.work, finish)

    def _relieve(self) -> None:
        """When too much waits on all connections together, part with whoever holds most."""
        while self._ledger.total > TOTAL_LIMIT_BYTES:
            readers = [one for readers in self._subscribers.values() for one in readers]
            everybody: list[RpcClient | Subscriber] = [*self._clients.values(), *readers]
            worst = max(everybody, key=lambda one: one.buffered_bytes)
            log.warning(
                "closing a connection with %d MB waiting: all together exceed %d MB",
                worst.buffered_bytes // 2**20,
                TOTAL_LIMIT_BYTES // 2**20,
            )
            if isinstance(worst, Subscriber):
                self._drop_subscriber(worst)
            else:
                self._answer(worst, alive=False)

    def _answer(self, client: RpcClient, alive: bool = True) -> None:
        """Let a client's requests run for a slice, and watch its socket for what it needs next."""
        if client.closed:  # to relieve the others, while it was in line
            return
        alive = alive and client.work(self)
        if client.closed:  # likewise, by its own work
            return
        if not alive:
            if client.awaits_snapshot:  # the wheel dies of a snapshot in the other dialect
                log.warning(
                    "client %s:%d left at its first snapshot, in CARLA %s: if it speaks another "
                    "version, start the server with --carla-version",
                    *client.address,
                    client.dialect.version,
                )
            self._clients.pop(client.sock.fileno(), None)
            self._backlogged.discard(client)
            self._gated.discard(client)
            self._late.discard(client)
            self.traffic_managers.forget_owner(client)
            client.count_buffers(closing=True)
            self._unwatch(client.sock)
            return
        client.count_buffers()
        if client.has_backlog:
            self._backlogged.add(client)
        else:
            self._backlogged.discard(client)
        if client.gate.until_s is not None:
            self._gated.add(client)
        if client.late_until_s is not None:
            self._late.add(client)
        interest = (not client.has_backlog and not client.waits, bool(client.outgoing))
        if interest != client.interest:
            client.interest = interest
            self._set_interest(client.sock, *interest)

    # -- streams ---------------------------------------------------------------------------------

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Token of a stream for a client of that dialect."""
        return token_bytes(stream_id, self._stream_ports[dialect.version])

    def expect_subscriber(self, stream_id: int) -> None:
        """A client has asked for this token and will connect: the next step waits a little."""
        self._expected_streams[stream_id] = time.monotonic() + _SUBSCRIBE_WAIT_S

    def _accept_subscriber(self, listener: socket.socket, dialect: Dialect) -> None:
        accepted = self._accept(listener)
        if accepted is None:
            return
        subscriber = Subscriber(accepted[0], dialect, self._ledger)
        self._watch(subscriber.sock, lambda events: self._serve_subscriber(subscriber, events))

    def _serve_subscriber(self, subscriber: Subscriber, events: int) -> None:
        alive = True
        if events & select.EPOLLOUT:
            alive = subscriber.flush()
            if alive and not subscriber.pending:
                self._set_interest(subscriber.sock, True, False)
        if alive and events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            try:
                data = subscriber.sock.recv(4)
            except BlockingIOError:
                data = _NOTHING_YET
            except OSError:
                data = b""
            alive = bool(data)
            if alive and len(subscriber.greeting) < 4 and data is not _NOTHING_YET:
                subscriber.greeting = (subscriber.greeting + data)[:4]
                if len(subscriber.greeting) == 4:
                    self._identify(subscriber, struct.unpack("<I", subscriber.greeting)[0])
        if not alive:
            self._drop_subscriber(subscriber)

    def _identify(self, subscriber: Subscriber, stream_id: int) -> None:
        # Unknown and destroyed streams are accepted too and stay silent: the client reconnects
        # without a pause to a stream that is closed.
        subscriber.stream_id = stream_id
        self._expected_streams.pop(stream_id, None)
        self._subscribers.setdefault(stream_id, []).append(subscriber)
        if stream_id == WORLD_STREAM:
            self._held_until_s = min(self._held_until_s, time.monotonic() + _SETTLED_S)
            self._push(subscriber, framed(self.episode.snapshot(subscriber.dialect)))
            if self._next_free_run_s == math.inf:
                self.hold_free_run()
                if self._greeted:  # its request was faster than its stream
                    self.greet()

    def _drop_subscriber(self, subscriber: Subscriber) -> None:
        readers = self._subscribers.get(subscriber.stream_id, [])
        if subscriber in readers:
            readers.remove(subscriber)
        if not readers:
            self._subscribers.pop(subscriber.stream_id, None)
        if subscriber.dropped:
            log.warning(
                "a reader of stream %d missed %d frames", subscriber.stream_id, subscriber.dropped
            )
        subscriber.forget()
        self._unwatch(subscriber.sock)

    def _push(self, subscriber: Subscriber, frame: memoryview) -> None:
        if not subscriber.push(frame):
            self._drop_subscriber(subscriber)
        elif subscriber.pending:
            self._set_interest(subscriber.sock, True, True)

    def dialects_listening(self, stream_id: int) -> set[Dialect]:
        """Dialects of the readers of a stream (empty when nobody listens)."""
        return {subscriber.dialect for subscriber in self._subscribers.get(stream_id, ())}

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Send one frame to every reader of a stream, each in its dialect."""
        frames = {dialect: framed(payload) for dialect, payload in payloads.items()}
        for subscriber in list(self._subscribers.get(stream_id, ())):
            frame = frames.get(subscriber.dialect)
            if frame is not None and subscriber not in self._held:
                self._push(subscriber, frame)
        self._relieve()

    @contextlib.contextmanager
    def old_readers_held(self, dialect: Dialect) -> Iterator[None]:
        """While a client loads a world: nothing on present subscriptions until it has a new one.

        The 0.9.16 client drops its subscription right after the answer and takes a new one. A
        snapshot that arrives in between is handled by a thread that still holds the old episode;
        it then ends the *new* subscription or corrupts the heap. The simulator never meets this,
        for it is silent for seconds while it loads. Others learn of the new world a moment later.
        """
        if dialect is CARLA_0_9_16:
            readers = self._subscribers.get(WORLD_STREAM, ())
            self._held = {reader for reader in readers if reader.dialect is dialect}
        try:
            yield
        finally:
            self._held_until_s = time.monotonic() + _HOLD_S

    def _release_readers(self) -> None:
        held, self._held = self._held, set()
        for reader in self._subscribers.get(WORLD_STREAM, [])[:]:
            if reader in held:
                snapshot = self.episode.snapshot(reader.dialect, map_changed=True)
                self._push(reader, framed(snapshot))

    def await_subscribers(self) -> None:
        """Let streams connect whose tokens were just handed out, so that no first frame is lost."""
        bell = self._background.bell.fileno()
        began = time.monotonic()
        oldest = self._long_waits[0] if len(self._long_waits) == _MOST_LONG_WAITS else -math.inf
        if began - oldest < _LONG_WAITS_WINDOW_S:
            self._expected_streams.clear()
        while self._expected_streams:
            now = time.monotonic()
            for stream_id in [s for s, until in self._expected_streams.items() if until <= now]:
                del self._expected_streams[stream_id]
            if not self._expected_streams:
                break
            wait = min(self._expected_streams.values()) - now
            for descriptor, events in self._epoll.poll(wait):
                if descriptor not in self._clients and descriptor != bell:
                    handler = self._on_event.get(descriptor)
                    if handler is not None:
                        handler(events)
        ended = time.monotonic()
        if ended - began >= _LONG_WAIT_S:
            self._long_waits.append(ended)

    # -- the loop --------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until :meth:`stop`."""
        while self.running:
            for descriptor, events in self._epoll.poll(self._sleep_s()):
                handler = self._on_event.get(descriptor)
                if handler is not None:
                    handler(events)
            for client in sorted(self._backlogged, key=lambda each: each.sock.fileno()):
                if client.can_work:
                    self._answer(client)
            now = time.monotonic()
            self._open_gates(now)
            self._send_late(now)
            self.traffic_managers.watch(now)
            if self._held and now >= self._held_until_s:
                self._release_readers()
            if self._runs_freely and now >= self._next_free_run_s:
                self._free_run(now)
        self.close()

    def _open_gates(self, now: float) -> None:
        """Whoever loads a world and does not go on is not waited for."""
        for client in list(self._gated):
            if client.gate.until_s is None:
                self._gated.discard(client)
            elif now >= client.gate.until_s:
                self._answer(client, client.pass_gate(self))

    def tick_answer_due_s(self, now: float) -> float:
        """When a tick that was made just now may be answered: never in the past."""
        if self.max_speed_factor is None:
            return now
        due = max(now, self._last_tick_s + self.episode.delta_s / self.max_speed_factor)
        self._last_tick_s = due
        return due

    def _send_late(self, now: float) -> None:
        for client in list(self._late):
            if client.late_until_s is None:
                self._late.discard(client)
            elif now >= client.late_until_s:
                client.release_late(now)
                self._answer(client)

    @property
    def _runs_freely(self) -> bool:
        """Whether the world follows the wall clock; not while a client loads another one."""
        return not self.episode.settings.synchronous_mode and not self._loads_in_flight

    def _sleep_s(self) -> float:
        now = time.monotonic()
        if any(client.can_work for client in self._backlogged):
            return 0.0
        waits = [_IDLE_POLL_S]
        if self._held:
            waits.append(max(0.0, self._held_until_s - now))
        waits += [max(0.0, each.gate.until_s - now) for each in self._gated if each.gate.until_s]
        waits += [max(0.0, each.late_until_s - now) for each in self._late if each.late_until_s]
        if self._runs_freely:
            waits.append(max(0.0, self._next_free_run_s - now))
        due = self.traffic_managers.seconds_until_due(now)
        if due is not None:
            waits.append(due)
        return min(waits)

    def _free_run(self, now: float) -> None:
        step = self.episode.delta_s
        late = now - self._next_free_run_s
        # A server that fell behind does not race to catch up: simulated time is just slower then.
        self._next_free_run_s = now + step if late > 4 * step else self._next_free_run_s + step
        try:
            self.episode.tick()
        except Exception:
            # As for a tick that a client asks for: told to whoever reads the log, and no more.
            log.exception("a tick failed")
        self.send_pictures()

    def send_pictures(self) -> None:
        """Deliver what is slow to measure of this frame."""
        try:
            self.episode.send_pictures()
        except Exception:
            log.exception("a sensor failed")

    def hold_free_run(self) -> None:
        """Let a fresh episode stand still for a moment."""
        self._grace_ends_s = self._next_free_run_s = time.monotonic() + _GRACE_S

    def begin_free_run(self) -> None:
        """Somebody spawned an actor and waits to see it: a fresh episode stands still no longer.

        A program that wants the same world in every run switches to synchronous mode before.
        """
        now = time.monotonic()
        if now < self._grace_ends_s and not self.episode.settings.synchronous_mode:
            self._grace_ends_s = -math.inf
            self._next_free_run_s = min(self._next_free_run_s, now + self.episode.delta_s)

    def greet(self) -> None:
        """A client joins and will wait for a tick: a fresh episode gives it one."""
        now, self._greeted = time.monotonic(), True
        if now < self._grace_ends_s:
            self._next_free_run_s = min(self._next_free_run_s, now + self.episode.delta_s)

    def end_greeting(self) -> None:
        """The client has had its tick: a fresh episode stands still again."""
        self._greeted = False
        if time.monotonic() < self._grace_ends_s:
            self._next_free_run_s = self._grace_ends_s

    def stop(self, *_: Any) -> None:
        """End the loop after the present event (also a signal handler)."""
        self.running = False

    def close(self) -> None:
        """Close every socket."""
        for readers in list(self._subscribers.values()):
            for subscriber in list(readers):
                self._drop_subscriber(subscriber)
        for sock in [client.sock for client in self._clients.values()] + self._listeners:
            self._unwatch(sock)
        self._unwatch(self._background.bell)
        self._background.close()
        self._clients.clear()
        self._epoll.close()
