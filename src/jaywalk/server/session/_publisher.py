"""The simulation's view of the network: streams that it sends frames on."""

from __future__ import annotations

from typing import Final, Protocol

from jaywalk.server.encoding.codec import Dialect

WORLD_STREAM: Final = 1  # carries the world snapshots


class Publisher(Protocol):
    """Sends the frames of streams to their readers."""

    def listeners(self, stream_id: int) -> set[Dialect]:
        """Return the dialects of a stream's readers; empty when nobody reads it."""

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Send one frame to every reader of a stream, each in its dialect."""

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Return the token with which a client of that dialect subscribes to a stream."""


class NoPublisher:
    """A publisher without readers, for simulations that nobody watches."""

    def listeners(self, stream_id: int) -> set[Dialect]:
        """Nobody reads anything."""
        return set()

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Send nothing."""

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Give no access to a stream."""
        return b""
