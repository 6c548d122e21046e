"""Lines that say that a long piece of work still goes on, for logs and pipes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Self

EVERY_S: Final = 20.0
_COMPILING_S: Final = 180.0


class Heartbeat:
    """Writes a line whenever nothing else was written for some seconds, from a thread of its own.

    Example:
        >>> with Heartbeat("opening Harbour", print, every_s=60.0):
        ...     pass
    """

    def __init__(
        self, doing: str, write: Callable[[str], None], *, every_s: float = EVERY_S
    ) -> None:
        """Prepare; the thread starts with the ``with`` block.

        Args:
            doing: What goes on, for the line.
            write: Called with a line from the thread.
            every_s: Seconds of silence before a line.
        """
        self.doing = doing
        self._write, self._every_s = write, every_s
        self._began_s = self._last_s = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def touch(self) -> None:
        """Note that something else was written."""
        self._last_s = time.monotonic()

    def _run(self) -> None:
        while not self._ended.wait(max(self._last_s + self._every_s - time.monotonic(), 0.0)):
            now_s = time.monotonic()
            if now_s - self._last_s >= self._every_s:
                self._last_s = now_s
                self._write(self._line(now_s - self._began_s))

    def _line(self, elapsed_s: float) -> str:
        hint = " (the first use compiles for one to two minutes)"
        return f"{self.doing}, {elapsed_s:.0f} s{hint if elapsed_s < _COMPILING_S else ''}"

    def __enter__(self) -> Self:
        self._began_s = self._last_s = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._ended.set()
        self._thread.join()
