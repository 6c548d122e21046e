"""Watchdog for episodes and a time limit for calls of foreign code.

The watchdog ends an episode whose simulated time does not advance within a given number of wall
seconds. The time limit interrupts a call wherever it hangs in Python.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final, NoReturn

import psutil


class AgentTimeout(BaseException):
    """A call took too long. Not an Exception, so that foreign code does not swallow it."""


@contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise :class:`AgentTimeout` in the body if it takes longer than ``limit_s`` seconds.

    Only the main thread can be interrupted; for other threads, and for code that never returns to
    Python, only the scheduler's watchdog remains.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise AgentTimeout(f"no answer after {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


DEFAULT_S: Final = 180.0
# Before the first tick, kernels may have to be compiled in the server and in the worker: minutes
# on a busy machine. The server itself gives up a little earlier.
_OPENING_S: Final = 1000.0
_SETTING_S: Final = 400.0
# The agent's own limit is shorter, so that its episode ends as its failure, with a record.
_AGENT_SHARE: Final = 0.9


@dataclass(slots=True)
class Watchdog:
    """Watches one episode at a time; times are the caller's monotonic seconds."""

    limit_s: float = DEFAULT_S
    _deadline_s: float = math.inf
    _simulated_s: float = -math.inf
    doing: str = ""

    def expect(self, now_s: float, doing: str) -> None:
        """Start the time of an activity before the episode."""
        self._simulated_s, self.doing = -math.inf, doing
        self._deadline_s = now_s + max(self.limit_s, _OPENING_S)

    def beat(self, now_s: float, simulated_s: float, doing: str) -> None:
        """Take a heartbeat; it counts if simulated time has advanced or another activity began."""
        if simulated_s > self._simulated_s or doing != self.doing:
            self._simulated_s, self.doing = simulated_s, doing
            allowed_s = self.limit_s if simulated_s > 0.0 else max(self.limit_s, _SETTING_S)
            self._deadline_s = now_s + allowed_s

    def rest(self) -> None:
        """Expect no heartbeats."""
        self._deadline_s = math.inf

    def is_late(self, now_s: float) -> bool:
        """Return True if the episode must be ended."""
        return now_s >= self._deadline_s


def agent_time_limit_s(limit_s: float, *, setting_up: bool) -> float:
    """Time limit in seconds for one call of the agent under a watchdog with ``limit_s``."""
    return _AGENT_SHARE * (max(limit_s, _SETTING_S) if setting_up else limit_s)


def kill_tree(pid: int) -> None:
    """Kill a process and all its descendants, by their ids."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        below = process.children(recursive=True)
        # The parent first, so that it starts no new processes meanwhile.
        for victim in (process, *below):
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        psutil.wait_procs(below, timeout=5.0)
