"""The server: one thread with an event loop that serves clients and steps the simulation.

Every access to the world happens in this loop, in the order in which requests arrive. The wall
clock has two uses only: it paces the asynchronous mode and detects clients that hang.
"""

from __future__ import annotations

import logging
import math
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from jaywalk.server.encoding.codec import CARLA_0_9_15, CARLA_0_9_16, Dialect
from jaywalk.server.protocol import methods as _methods  # noqa: F401  (registers the RPC methods)  # noqa: F401  (registers the RPC methods)
from jaywalk.server.protocol._background import Background
from jaywalk.server.protocol._event_loop import READABLE, WRITABLE, EventLoop
from jaywalk.server.protocol._peer import is_local, recognise_peers
from jaywalk.server.protocol._streams import TOTAL_LIMIT_BYTES, Ledger, StreamPublisher, Subscriber
from jaywalk.server.protocol._traffic_managers import TrafficManagers
from jaywalk.server.protocol.rpc import Later, RpcClient, guarded
from jaywalk.server.session._publisher import Publisher
from jaywalk.server.session._simulation import Simulation

log = logging.getLogger("jaywalk.server")

_IDLE_POLL_S: Final = 0.5
# A new episode does not advance until a client watches, and then for this long or until a client
# spawns an actor. A program that switches to synchronous mode at once therefore finds the same
# world at the same frame in every run.
_GRACE_S: Final = 2.5


class CarlaServer:
    """Speaks CARLA's protocol for one :class:`Simulation`."""

    def __init__(
        self,
        host: str,
        port: int,
        dialect: Dialect,
        start_simulation: Callable[[Publisher], Simulation],
    ) -> None:
        """Bind the ports; the server is reachable from here on and answers once it runs.

        Args:
            host: Address to listen on.
            port: RPC port; 0 means any free one.
            dialect: Dialect of clients that cannot be recognised.
            start_simulation: Makes the simulation, which sends its frames to the given publisher.
        """
        self.host = host
        self.default_dialect = dialect
        self.traffic_managers = TrafficManagers()
        self.running = True  # from here on, so that a stop before run() is not lost
        self.max_speed_factor: float | None = None  # of synchronous ticks; None: no limit
        self._loop = EventLoop(host)
        self._ledger = Ledger()
        self._background = Background()
        self._clients: dict[int, RpcClient] = {}
        self._backlogged: set[RpcClient] = set()  # their requests did not fit into their slice
        self._gated: set[RpcClient] = set()  # see LoadGate
        self._late: set[RpcClient] = set()  # the answer to their tick waits for the wall clock
        self._unrecognised: list[RpcClient] = []  # their dialect is looked up next
        self._looking_up = False
        self._loads_in_flight = 0
        self._last_tick_s = -math.inf
        self._next_free_run_s = math.inf
        self._grace_ends_s = -math.inf
        self._greeted = False  # a client waits for a tick of a fresh episode
        self.streams = StreamPublisher(self._loop, self._ledger, self._welcome, self._relieve)
        self.simulation = start_simulation(self.streams)
        rpc_socket = self._loop.listen(port)
        self.port = rpc_socket.getsockname()[1]
        self._loop.watch(rpc_socket, lambda _: self._accept_client(rpc_socket))
        bell = self._background.bell
        self._loop.watch(bell, lambda _: self._background.deliver(), postponable=True)
        other = CARLA_0_9_15 if dialect is CARLA_0_9_16 else CARLA_0_9_16
        for offset, spoken in enumerate((dialect, other), start=1):
            self.streams.open_port(spoken, self.port + offset)

    # -- RPC clients -----------------------------------------------------------------------------

    def _accept_client(self, listener: socket.socket) -> None:
        accepted = self._loop.accept(listener)
        if accepted is None:
            return
        sock, address = accepted
        client = RpcClient(sock, address, self.default_dialect, self._ledger, self)
        client.is_recognised = not is_local(address[0])
        self._clients[sock.fileno()] = client
        self._loop.watch(sock, lambda events: self._serve(client, events), postponable=True)

    def _serve(self, client: RpcClient, events: int) -> None:
        alive = True
        if events & WRITABLE:
            alive = client.flush()
        if alive and events & READABLE:
            alive = client.read()
        if alive and not client.is_recognised:
            self._recognise(client)
        self._answer(client, alive)
        self._relieve()

    def _recognise(self, client: RpcClient) -> None:
        """Look up a client's dialect in the background; its requests wait for that."""
        client.is_recognised = client.waits = True
        self._unrecognised.append(client)
        if not self._looking_up:
            self._look_up()

    def _look_up(self) -> None:
        """Look up the dialects of all waiting clients at once."""
        clients, self._unrecognised = self._unrecognised, []
        self._looking_up = bool(clients)
        if not clients:
            return
        ports = [client.address[1] for client in clients]

        def finish(result: Any) -> None:
            dialects = [None] * len(clients) if isinstance(result, Exception) else result
            try:
                for client, dialect in zip(clients, dialects, strict=True):
                    client.dialect = dialect or self.default_dialect
                    log.info("client %s:%d speaks %s", *client.address, client.dialect.version)
                    self._resume(client)
            finally:  # the next ones are looked up whatever a client does
                self._look_up()

        self._background.submit("peers", lambda: recognise_peers(ports, self.port), finish)

    def _resume(self, client: RpcClient) -> None:
        client.waits = False
        if not client.closed:
            self._answer(client)

    def run_later(self, client: RpcClient, message_id: int, name: str, later: Later) -> None:
        """Do slow work for a client in the background, then finish its request in the loop."""
        self._loads_in_flight += later.stands_still

        def finish(outcome: Any) -> None:
            self._loads_in_flight -= later.stands_still
            if client.closed:  # the client no longer waits for it
                return

            def end() -> Any:
                if isinstance(outcome, Exception):
                    raise outcome
                return later.finish(outcome)

            before, start = self.simulation.episode_id, len(client.outgoing)
            try:
                client.put_answer(message_id, name, guarded(name, end))
                client.shut_gate(name, before, start)
            except Exception:
                log.exception("closing %s:%d: %s could not be answered", *client.address, name)
                self._answer(client, alive=False)
                return
            self._resume(client)

        self._background.submit("requests", later.work, finish)

    def _relieve(self) -> None:
        """Close the connections with the fullest buffers while the total exceeds its limit."""
        while self._ledger.total > TOTAL_LIMIT_BYTES:
            connections: list[RpcClient | Subscriber] = [
                *self._clients.values(),
                *self.streams.readers(),
            ]
            worst = max(connections, key=lambda connection: connection.buffered_bytes)
            log.warning(
                "closing a connection with %d MB waiting: all together exceed %d MB",
                worst.buffered_bytes // 2**20,
                TOTAL_LIMIT_BYTES // 2**20,
            )
            if isinstance(worst, Subscriber):
                self.streams.drop(worst)
            else:
                self._answer(worst, alive=False)

    def _answer(self, client: RpcClient, alive: bool = True) -> None:
        """Answer a client's requests for a slice of time and update the events of its socket."""
        if client.closed:  # to relieve the others, while it was in line
            return
        alive = alive and client.work()
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
            self._loop.unwatch(client.sock)
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
            self._loop.set_interest(client.sock, *interest)

    # -- streams ---------------------------------------------------------------------------------

    def _welcome(self, subscriber: Subscriber) -> None:
        """Send a new reader of the world stream the present snapshot."""
        self.streams.send(subscriber, self.simulation.snapshot(subscriber.dialect))
        if self._next_free_run_s == math.inf:
            self.hold_free_run()
            if self._greeted:  # its request was faster than its stream
                self.greet()

    def _release_readers(self) -> None:
        for reader in self.streams.release_held():
            snapshot = self.simulation.snapshot(reader.dialect, map_changed=True)
            self.streams.send(reader, snapshot)

    # -- the loop --------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until :meth:`stop`."""
        while self.running:
            self._loop.poll(self._sleep_s())
            for client in sorted(self._backlogged, key=lambda each: each.sock.fileno()):
                if client.can_work:
                    self._answer(client)
            now = time.monotonic()
            self._open_gates(now)
            self._send_late(now)
            self.traffic_managers.watch(now)
            held_until = self.streams.held_until_s
            if held_until is not None and now >= held_until:
                self._release_readers()
            if self._runs_freely and now >= self._next_free_run_s:
                self._free_run(now)
        self.close()

    def _open_gates(self, now: float) -> None:
        """Stop waiting for clients that loaded a world and did not continue."""
        for client in list(self._gated):
            if client.gate.until_s is None:
                self._gated.discard(client)
            elif now >= client.gate.until_s:
                self._answer(client, client.pass_gate())

    def tick(self) -> int:
        """Step the world because a client asked for it; returns the new frame."""
        self.streams.await_expected()
        frame = self.simulation.tick()
        self.traffic_managers.note_tick(time.monotonic())
        return frame

    def tick_answer_due_s(self, now: float) -> float:
        """Return the time at which a tick made just now may be answered; never in the past."""
        if self.max_speed_factor is None:
            return now
        due = max(now, self._last_tick_s + self.simulation.delta_s / self.max_speed_factor)
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
        """Return whether ticks follow the wall clock; not while a client loads another."""
        return not self.simulation.settings.synchronous_mode and not self._loads_in_flight

    def _sleep_s(self) -> float:
        now = time.monotonic()
        if any(client.can_work for client in self._backlogged):
            return 0.0
        waits = [_IDLE_POLL_S]
        held_until = self.streams.held_until_s
        if held_until is not None:
            waits.append(max(0.0, held_until - now))
        waits += [max(0.0, each.gate.until_s - now) for each in self._gated if each.gate.until_s]
        waits += [max(0.0, each.late_until_s - now) for each in self._late if each.late_until_s]
        if self._runs_freely:
            waits.append(max(0.0, self._next_free_run_s - now))
        due = self.traffic_managers.seconds_until_due(now)
        if due is not None:
            waits.append(due)
        return min(waits)

    def _free_run(self, now: float) -> None:
        step = self.simulation.delta_s
        late = now - self._next_free_run_s
        # A server that fell behind does not race to catch up: simulated time is just slower then.
        self._next_free_run_s = now + step if late > 4 * step else self._next_free_run_s + step
        try:
            self.simulation.tick()
        except Exception:
            # As with a tick that a client asks for, the failure is only logged.
            log.exception("a tick failed")
        self.measure_late_sensors()

    def measure_late_sensors(self) -> None:
        """Send the frames of the sensors that take long to measure."""
        try:
            self.simulation.measure_late_sensors()
        except Exception:
            log.exception("a sensor failed")

    def hold_free_run(self) -> None:
        """Let a fresh episode stand still for a moment."""
        self._grace_ends_s = self._next_free_run_s = time.monotonic() + _GRACE_S

    def begin_free_run(self) -> None:
        """Let a fresh episode run, because a client spawned an actor and waits to see it.

        A program that wants the same world in every run switches to synchronous mode before.
        """
        now = time.monotonic()
        if now < self._grace_ends_s and not self.simulation.settings.synchronous_mode:
            self._grace_ends_s = -math.inf
            self._next_free_run_s = min(self._next_free_run_s, now + self.simulation.delta_s)

    def greet(self) -> None:
        """Let a fresh episode tick once, because a client that joins waits for a tick."""
        now, self._greeted = time.monotonic(), True
        if now < self._grace_ends_s:
            self._next_free_run_s = min(self._next_free_run_s, now + self.simulation.delta_s)

    def end_greeting(self) -> None:
        """Let a fresh episode stand still again, because the client has received its tick."""
        self._greeted = False
        if time.monotonic() < self._grace_ends_s:
            self._next_free_run_s = self._grace_ends_s

    def stop(self, *_: Any) -> None:
        """End the loop after the present event (also a signal handler)."""
        self.running = False

    def close(self) -> None:
        """Close every socket."""
        self.streams.close()
        for client in self._clients.values():
            self._loop.unwatch(client.sock)
        self._clients.clear()
        self._loop.unwatch(self._background.bell)
        self._background.close()
        self._loop.close()
