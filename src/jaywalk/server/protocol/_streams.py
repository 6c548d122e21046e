"""Streams: tokens, subscribers and the frames that the server sends.

A stream never blocks the world: frames that a reader does not take are buffered up to a limit;
frames beyond it are dropped and counted.
"""

from __future__ import annotations

import contextlib
import logging
import math
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from jaywalk.core.errors import PrerequisiteError
from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.protocol._event_loop import READABLE, WRITABLE, EventLoop
from jaywalk.server.session._publisher import WORLD_STREAM

log = logging.getLogger("jaywalk.server")

_SUBSCRIBE_WAIT_S: Final = 0.25
# A step that waited this long for a subscription counts as a long wait. At most three of them in
# two seconds: clients that ask for tokens and never subscribe must not delay all others.
_LONG_WAIT_S: Final = 0.2
_MAX_LONG_WAITS: Final = 3
_LONG_WAITS_WINDOW_S: Final = 2.0
_HOLD_S: Final = 2.0  # how long a client that loads may take to subscribe again ...
_SETTLED_S: Final = 0.05  # ... and how long it needs from then on
_NO_DATA: Final = b"?"
_TOKEN = struct.Struct("<IHBB16s")
_SIZE = struct.Struct("<I")
_TCP, _ADDRESS_UNSET = 1, 0
BUFFER_LIMIT_BYTES: Final = 64 * 1024 * 1024  # of one reader
TOTAL_LIMIT_BYTES: Final = 192 * 1024 * 1024  # of all connections together


def token_bytes(stream_id: int, port: int) -> bytes:
    """Return the 24-byte token of a stream; an unset address means the host of the RPC port."""
    return _TOKEN.pack(stream_id, port, _TCP, _ADDRESS_UNSET, b"")


class Ledger:
    """Number of bytes buffered on all connections; each connection keeps its share up to date."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0


def framed(payload: bytes) -> memoryview:
    """Prefix a payload with its size; readers of one frame share its memory."""
    return memoryview(_SIZE.pack(len(payload)) + payload)


class Subscriber:
    """One stream connection: its stream, its dialect and its unsent frames."""

    __slots__ = (
        "_ledger",
        "buffered_bytes",
        "dialect",
        "dropped",
        "greeting",
        "pending",
        "sock",
        "stream_id",
    )

    def __init__(self, sock: socket.socket, dialect: Dialect, ledger: Ledger) -> None:
        self._ledger = ledger
        self.sock = sock
        self.dialect = dialect
        self.greeting = b""  # the bytes received so far of the four that name the stream
        self.stream_id = 0
        self.pending: deque[memoryview] = deque()
        self.buffered_bytes = 0
        self.dropped = 0

    def push(self, frame: memoryview) -> bool:
        """Send one frame or buffer it. Returns False when the connection is broken."""
        # A single frame is sent whatever its size; only a queue is limited.
        if self.pending and self.buffered_bytes + len(frame) > BUFFER_LIMIT_BYTES:
            self.dropped += 1
            return True
        if not self.pending:
            try:
                sent = self.sock.send(frame)
            except BlockingIOError:
                sent = 0
            except OSError:
                return False
            if sent == len(frame):
                return True
            frame = frame[sent:]
        self.pending.append(frame)
        self._count(len(frame))
        return True

    def _count(self, change: int) -> None:
        self.buffered_bytes += change
        self._ledger.total += change

    def forget(self) -> None:
        """Discard the buffered frames."""
        self.pending.clear()
        self._count(-self.buffered_bytes)

    def flush(self) -> bool:
        """Send buffered frames until the reader takes no more. False when it has gone."""
        while self.pending:
            try:
                sent = self.sock.send(self.pending[0])
            except BlockingIOError:
                return True
            except OSError:
                return False
            self._count(-sent)
            if sent < len(self.pending[0]):
                self.pending[0] = self.pending[0][sent:]
                return True
            self.pending.popleft()
        return True


class StreamPublisher:
    """The stream ports and their readers; implements the simulation's ``Publisher``."""

    def __init__(
        self,
        loop: EventLoop,
        ledger: Ledger,
        on_world_reader: Callable[[Subscriber], None],
        on_sent: Callable[[], None],
    ) -> None:
        """Create the streams without a socket; :meth:`open_port` starts to listen.

        Args:
            loop: Watches the sockets.
            ledger: Counts buffered bytes.
            on_world_reader: Called with each new reader of the world stream.
            on_sent: Called after each published frame.
        """
        self._loop = loop
        self._ledger = ledger
        self._on_world_reader = on_world_reader
        self._on_sent = on_sent
        self._ports: dict[str, int] = {}  # by version of the dialect
        self._subscribers: dict[int, list[Subscriber]] = {}
        self._held: set[Subscriber] = set()  # see old_readers_held
        self._held_until_s = math.inf
        self._expected: dict[int, float] = {}  # token issued, no client connected yet
        self._long_waits: deque[float] = deque(maxlen=_MAX_LONG_WAITS)  # when each ended

    def open_port(self, dialect: Dialect, preferred: int) -> None:
        """Listen for readers of a dialect, on another port if the preferred one is taken."""
        try:
            sock = self._loop.listen(preferred)
        except PrerequisiteError:
            sock = self._loop.listen(0)  # the token carries the port, so any will do
        self._ports[dialect.version] = sock.getsockname()[1]
        self._loop.watch(sock, lambda _: self._accept(sock, dialect))

    # -- publishing ------------------------------------------------------------------------------

    def listeners(self, stream_id: int) -> set[Dialect]:
        """Return the dialects of a stream's readers; empty if it has none."""
        return {subscriber.dialect for subscriber in self._subscribers.get(stream_id, ())}

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Send one frame to every reader of a stream, each in its dialect."""
        frames = {dialect: framed(payload) for dialect, payload in payloads.items()}
        for subscriber in list(self._subscribers.get(stream_id, ())):
            frame = frames.get(subscriber.dialect)
            if frame is not None and subscriber not in self._held:
                self._push(subscriber, frame)
        self._on_sent()

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Return the token with which a client of that dialect subscribes to a stream."""
        return token_bytes(stream_id, self._ports[dialect.version])

    def send(self, subscriber: Subscriber, payload: bytes) -> None:
        """Send one frame to one reader."""
        self._push(subscriber, framed(payload))

    def _push(self, subscriber: Subscriber, frame: memoryview) -> None:
        if not subscriber.push(frame):
            self.drop(subscriber)
        elif subscriber.pending:
            self._loop.set_interest(subscriber.sock, True, True)

    # -- readers ---------------------------------------------------------------------------------

    def readers(self) -> list[Subscriber]:
        """Return all readers."""
        return [reader for readers in self._subscribers.values() for reader in readers]

    def _accept(self, listener: socket.socket, dialect: Dialect) -> None:
        accepted = self._loop.accept(listener)
        if accepted is None:
            return
        subscriber = Subscriber(accepted[0], dialect, self._ledger)
        self._loop.watch(subscriber.sock, lambda events: self._serve(subscriber, events))

    def _serve(self, subscriber: Subscriber, events: int) -> None:
        alive = True
        if events & WRITABLE:
            alive = subscriber.flush()
            if alive and not subscriber.pending:
                self._loop.set_interest(subscriber.sock, True, False)
        if alive and events & READABLE:
            try:
                data = subscriber.sock.recv(4)
            except BlockingIOError:
                data = _NO_DATA
            except OSError:
                data = b""
            alive = bool(data)
            if alive and len(subscriber.greeting) < 4 and data is not _NO_DATA:
                subscriber.greeting = (subscriber.greeting + data)[:4]
                if len(subscriber.greeting) == 4:
                    self.subscribe(subscriber, struct.unpack("<I", subscriber.greeting)[0])
        if not alive:
            self.drop(subscriber)

    def subscribe(self, subscriber: Subscriber, stream_id: int) -> None:
        """Make a connection a reader of a stream."""
        # Unknown and destroyed streams are accepted too and stay silent: a client whose stream is
        # closed reconnects to it without a pause.
        subscriber.stream_id = stream_id
        self._expected.pop(stream_id, None)
        self._subscribers.setdefault(stream_id, []).append(subscriber)
        if stream_id == WORLD_STREAM:
            self._held_until_s = min(self._held_until_s, time.monotonic() + _SETTLED_S)
            self._on_world_reader(subscriber)

    def drop(self, subscriber: Subscriber) -> None:
        """Close the connection of a reader."""
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
        self._loop.unwatch(subscriber.sock)

    # -- waiting for readers ---------------------------------------------------------------------

    def expect(self, stream_id: int) -> None:
        """Note that a client has asked for a token: the next step waits for its connection."""
        self._expected[stream_id] = time.monotonic() + _SUBSCRIBE_WAIT_S

    def await_expected(self) -> None:
        """Wait shortly for the readers that are expected, so that they miss no frame."""
        began = time.monotonic()
        oldest = self._long_waits[0] if len(self._long_waits) == _MAX_LONG_WAITS else -math.inf
        if began - oldest < _LONG_WAITS_WINDOW_S:
            self._expected.clear()
        while self._expected:
            now = time.monotonic()
            for stream_id in [s for s, until in self._expected.items() if until <= now]:
                del self._expected[stream_id]
            if not self._expected:
                break
            self._loop.poll_connections(min(self._expected.values()) - now)
        ended = time.monotonic()
        if ended - began >= _LONG_WAIT_S:
            self._long_waits.append(ended)

    @contextlib.contextmanager
    def old_readers_held(self, dialect: Dialect) -> Iterator[None]:
        """Send nothing to a client's present world readers while it loads another world.

        The 0.9.16 client drops its subscription right after the answer and makes a new one. A
        snapshot that arrives in between is handled by a thread that still holds the old episode;
        it then ends the *new* subscription or corrupts the heap. CARLA's own server does not
        trigger this, because it sends nothing for seconds while it loads. Other clients receive
        the new world slightly later.
        """
        if dialect is CARLA_0_9_16:
            readers = self._subscribers.get(WORLD_STREAM, ())
            self._held = {reader for reader in readers if reader.dialect is dialect}
        try:
            yield
        finally:
            self._held_until_s = time.monotonic() + _HOLD_S

    @property
    def held_until_s(self) -> float | None:
        """Time at which held readers are released; None when none are held."""
        return self._held_until_s if self._held else None

    def release_held(self) -> list[Subscriber]:
        """Release the held readers and return the ones that are still connected."""
        held, self._held = self._held, set()
        return [reader for reader in self._subscribers.get(WORLD_STREAM, ()) if reader in held]

    def close(self) -> None:
        """Close the connections of all readers."""
        for reader in self.readers():
            self.drop(reader)
