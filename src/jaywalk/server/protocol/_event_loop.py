"""The sockets of the server and the function that handles the events of each."""

from __future__ import annotations

import contextlib
import logging
import resource
import select
import socket
from collections.abc import Callable
from typing import Final

from jaywalk.core.errors import PrerequisiteError

log = logging.getLogger("jaywalk.server")

_BACKLOG: Final = 128
_SPARE_FILES: Final = 64  # descriptors that connections leave to the rest of the process
_MAX_CONNECTIONS: Final = 4096  # about 45 kB each, which the ledger of buffers does not count

READABLE: Final = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR
WRITABLE: Final = select.EPOLLOUT

Handler = Callable[[int], None]  # receives the events of its socket


class EventLoop:
    """Waits for events on sockets and calls their handlers."""

    def __init__(self, host: str) -> None:
        """Watch nothing yet; :meth:`listen` binds to ``host``."""
        self._host = host
        self._epoll = select.epoll()
        self._handlers: dict[int, Handler] = {}
        self._postponable: set[int] = set()
        self._listeners: list[socket.socket] = []
        max_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._max_connections = min(_MAX_CONNECTIONS, max_files - _SPARE_FILES)

    def listen(self, port: int) -> socket.socket:
        """Bind a port; 0 means any free one."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((self._host, port))
        except (OSError, OverflowError) as error:
            sock.close()
            raise PrerequisiteError(
                f"Port {port} on {self._host} cannot be used ({error}). "
                "Stop the program that holds it, or choose another with --port."
            ) from error
        sock.listen(_BACKLOG)
        sock.setblocking(False)
        self._listeners.append(sock)
        return sock

    def accept(self, listener: socket.socket) -> tuple[socket.socket, tuple[str, int]] | None:
        """Accept a connection and return its socket and address; None when it is refused."""
        try:
            sock, address = listener.accept()
        except OSError:
            return None
        if len(self._handlers) >= self._max_connections:
            log.warning("refusing %s:%d: too many connections", str(address[0]), int(address[1]))
            sock.close()
            return None
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock, (str(address[0]), int(address[1]))

    def watch(self, sock: socket.socket, handler: Handler, *, postponable: bool = False) -> None:
        """Call ``handler`` when the socket is readable.

        Args:
            sock: The socket.
            handler: Receives the events.
            postponable: :meth:`poll_connections` leaves these events to the next :meth:`poll`.
        """
        self._handlers[sock.fileno()] = handler
        if postponable:
            self._postponable.add(sock.fileno())
        self._epoll.register(sock.fileno(), select.EPOLLIN)

    def unwatch(self, sock: socket.socket) -> None:
        """Stop watching a socket and close it."""
        descriptor = sock.fileno()
        if self._handlers.pop(descriptor, None) is not None:
            self._postponable.discard(descriptor)
            with contextlib.suppress(OSError):
                self._epoll.unregister(descriptor)
        sock.close()

    def set_interest(self, sock: socket.socket, reads: bool, writes: bool) -> None:
        """Choose the events of a socket: readable, writable, both or none."""
        events = (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if writes else 0)
        with contextlib.suppress(OSError, ValueError):  # the socket may be closed
            self._epoll.modify(sock.fileno(), events)

    def poll(self, timeout_s: float) -> None:
        """Wait for events and handle them."""
        for descriptor, events in self._epoll.poll(timeout_s):
            handler = self._handlers.get(descriptor)
            if handler is not None:
                handler(events)

    def poll_connections(self, timeout_s: float) -> None:
        """Wait for events and handle the ones that cannot change the world."""
        for descriptor, events in self._epoll.poll(timeout_s):
            handler = self._handlers.get(descriptor)
            if handler is not None and descriptor not in self._postponable:
                handler(events)

    def close(self) -> None:
        """Close the listening sockets."""
        for sock in self._listeners:
            self.unwatch(sock)
        self._epoll.close()
