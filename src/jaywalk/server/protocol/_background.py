"""Run slow work in threads beside the event loop, and its follow-up inside the loop."""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

log = logging.getLogger("jaywalk.background")

Work = Callable[[], Any]
Follow = Callable[[Any], None]  # gets the result, or the exception that came instead


class Background:
    """One thread per lane, started on first use; results are delivered in the event loop."""

    def __init__(self) -> None:
        """Create without threads; watch :attr:`bell` and call :meth:`deliver` when it has data."""
        self.bell, self._rope = socket.socketpair()
        self.bell.setblocking(False)
        self._rope.setblocking(False)
        self._lanes: dict[str, queue.SimpleQueue[tuple[Work, Follow]]] = {}
        self._done: deque[tuple[Follow, Any]] = deque()

    def submit(self, lane: str, work: Work, follow: Follow) -> None:
        """Queue ``work`` in the thread of a lane, then run ``follow`` in the event loop."""
        if lane not in self._lanes:
            self._lanes[lane] = queue.SimpleQueue()
            # A daemon thread: a server that has to stop does not wait for an unused map.
            thread = threading.Thread(target=self._run, args=(self._lanes[lane],), daemon=True)
            thread.start()
        self._lanes[lane].put((work, follow))

    def _run(self, lane: queue.SimpleQueue[tuple[Work, Follow]]) -> None:
        while True:
            work, follow = lane.get()
            try:
                outcome = work()
            except Exception as problem:
                outcome = problem
            self._done.append((follow, outcome))
            with contextlib.suppress(OSError):  # full: a wake-up is pending; closed: no reader
                self._rope.send(b"!")

    def deliver(self) -> None:
        """Run the follow-up functions of finished work."""
        with contextlib.suppress(OSError):
            self.bell.recv(4096)
        while self._done:
            follow, outcome = self._done.popleft()
            try:
                follow(outcome)
            except Exception:
                log.exception("finishing work in the background failed")

    def close(self) -> None:
        """Stop listening; threads end with the process."""
        self._rope.close()
