"""Registry of the clients' Traffic Managers, with a watchdog for lost wake-ups.

The wheel's Traffic Manager can miss the wake-up of a fast tick, because it sets the flag without
the lock that guards the sleep. Its program then waits forever. After a tick that a synchronous
Traffic Manager should have followed, the watchdog waits one second. If no call has arrived by
then, it switches the synchronous mode of that Traffic Manager off and on, which wakes it. Each
such case is counted and logged.
"""

from __future__ import annotations

import logging
import socket
import threading
from dataclasses import dataclass, field
from typing import Final

import msgpack

from jaywalk.server.encoding.codec import Dialect, WireError
from jaywalk.server.protocol.rpc import RpcClient

log = logging.getLogger("jaywalk.traffic_manager")

PATIENCE_S: Final = 1.0
_CONNECT_TIMEOUT_S: Final = 0.25
_MANAGERS_PER_CLIENT: Final = 8
_WAKERS_AT_ONCE: Final = 16


@dataclass(slots=True)
class RegisteredManager:
    """A Traffic Manager that a client said it runs."""

    address: str
    port: int
    owner: RpcClient
    follows_ticks: bool = False  # it called after the last ticks, as a synchronous one does
    called_since_tick: bool = False


@dataclass(slots=True)
class TrafficManagers:
    """Registry by (dialect, port): the two wheels cannot share one (section 14.3)."""

    interventions: int = 0
    _managers: dict[tuple[str, int], RegisteredManager] = field(default_factory=dict)
    _deadline_s: float | None = None
    _wakers: list[threading.Thread] = field(default_factory=list)

    def get(self, dialect: Dialect, port: int) -> RegisteredManager | None:
        """Return the manager of a port, if a client of the same dialect runs it."""
        return self._managers.get((dialect.version, port))

    def add(self, owner: RpcClient, address: str, port: int) -> bool:
        """Register; False when the port is taken."""
        key = (owner.dialect.version, port)
        if key in self._managers:
            return False
        if (
            sum(manager.owner is owner for manager in self._managers.values())
            >= _MANAGERS_PER_CLIENT
        ):
            raise WireError(f"a client runs at most {_MANAGERS_PER_CLIENT} Traffic Managers")
        self._managers[key] = RegisteredManager(address, port, owner)
        return True

    def remove(self, dialect: Dialect, port: int) -> bool:
        """Forget the manager of a port."""
        return self._managers.pop((dialect.version, port), None) is not None

    def forget_owner(self, owner: RpcClient) -> None:
        """Drop the managers of a closed connection, so that no client attaches to them."""
        for key in [key for key, manager in self._managers.items() if manager.owner is owner]:
            del self._managers[key]

    def has_owner(self, owner: RpcClient) -> bool:
        """Return whether a client runs a Traffic Manager."""
        return any(manager.owner is owner for manager in self._managers.values())

    def note_call(self, client: RpcClient) -> None:
        """Record that a Traffic Manager of this client has begun its cycle."""
        for manager in self._managers.values():
            if manager.owner is client:
                manager.called_since_tick = True

    def note_tick(self, now_s: float) -> None:
        """Record an answered tick; managers that followed the previous one are expected again."""
        for manager in self._managers.values():
            manager.follows_ticks = manager.called_since_tick
            manager.called_since_tick = False
        waiting = any(manager.follows_ticks for manager in self._managers.values())
        self._deadline_s = now_s + PATIENCE_S if waiting else None

    def seconds_until_due(self, now_s: float) -> float | None:
        """Return how long the event loop may sleep before the watchdog is due."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - now_s)

    def watch(self, now_s: float) -> None:
        """Wake managers that should have followed the last tick and have not."""
        if self._deadline_s is None or now_s < self._deadline_s:
            return
        self._deadline_s = None
        for manager in self._managers.values():
            if manager.follows_ticks and not manager.called_since_tick:
                self._wake(manager)

    def _wake(self, manager: RegisteredManager) -> None:
        self.interventions += 1
        if len(self._wakers) >= _WAKERS_AT_ONCE:
            self._wakers = [waker for waker in self._wakers if waker.is_alive()]
            if len(self._wakers) >= _WAKERS_AT_ONCE:
                log.warning("too many Traffic Managers do not answer; one is not woken")
                return
        log.warning(
            "Traffic Manager on port %d missed a tick; waking it (intervention %d)",
            manager.port,
            self.interventions,
        )
        # The address of the client's connection, never the one it registered: that could make the
        # server call other hosts. In a thread, so that a manager that hangs delays no client.
        place = manager.owner.address[0], manager.port
        waker = threading.Thread(target=_switch_off_and_on, args=place, daemon=True)
        self._wakers.append(waker)
        waker.start()


def _switch_off_and_on(address: str, port: int) -> None:
    """Turn a Traffic Manager's synchronous mode off and on, which wakes it."""
    packer = msgpack.Packer()
    requests = b"".join(
        packer.pack([0, index, "set_synchronous_mode", [mode]])
        for index, mode in enumerate((False, True))
    )
    try:
        with socket.create_connection((address, port), _CONNECT_TIMEOUT_S) as sock:
            sock.sendall(requests)
            sock.settimeout(_CONNECT_TIMEOUT_S)
            sock.recv(256)
    except OSError as problem:
        log.warning("cannot wake the Traffic Manager at %s:%d: %s", address, port, problem)
