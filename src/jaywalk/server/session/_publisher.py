"""Interface through which the simulation publishes frames on streams."""

from __future__ import annotations

from typing import Final, Protocol

from jaywalk.server.encoding.codec import Dialect

WORLD_STREAM: Final = 1  # carries the world snapshots


class Publisher(Protocol):
    """Sends the frames of streams to their readers."""

    def listeners(self, stream_id: int) -> set[Dialect]:
        """Return the dialects of a stream's readers; empty if it has none."""

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Send one frame to every reader of a stream, each in its dialect."""

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Return the token with which a client of that dialect subscribes to a stream."""


class NoPublisher:
    """Publisher without readers, for simulations without clients."""

    def listeners(self, stream_id: int) -> set[Dialect]:
        """Return an empty set: no stream has readers."""
        return set()

    def publish(self, stream_id: int, payloads: dict[Dialect, bytes]) -> None:
        """Discard the payloads."""

    def stream_token(self, stream_id: int, dialect: Dialect) -> bytes:
        """Return an empty token."""
        return b""
