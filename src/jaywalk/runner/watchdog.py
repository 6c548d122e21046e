"""Ends what is stuck: an episode must get on, in simulated time, every so many wall seconds.

A limit on how long a call of foreign code may take, wherever it hangs in Python.
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
    """Raise :class:`AgentTimeout` in the body when it takes longer than ``limit_s``.

    Only a main thread can be interrupted; elsewhere, and for code that never returns to Python,
    the scheduler's watchdog is what is left.
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
# Before the first tick inner loops may have to be compiled, in the server and in the worker:
# minutes on a busy machine. The server gives up by itself a little earlier.
_OPENING_S: Final = 1000.0
_SETTING_S: Final = 400.0
# The agent's own limit comes first, so that its episode ends as its failure, with a record.
_AGENT_SHARE: Final = 0.9


@dataclass(slots=True)
class Watchdog:
    """Watches one episode at a time; times are the caller's monotonic seconds."""

    limit_s: float = DEFAULT_S
    _deadline_s: float = math.inf
    _simulated_s: float = -math.inf
    doing: str = ""

    def expect(self, now_s: float, doing: str) -> None:
        """Something begins that comes before the episode."""
        self._simulated_s, self.doing = -math.inf, doing
        self._deadline_s = now_s + max(self.limit_s, _OPENING_S)

    def beat(self, now_s: float, simulated_s: float, doing: str) -> None:
        """A sign of life; it counts when simulated time has gone on or another step began."""
        if simulated_s > self._simulated_s or doing != self.doing:
            self._simulated_s, self.doing = simulated_s, doing
            allowed_s = self.limit_s if simulated_s > 0.0 else max(self.limit_s, _SETTING_S)
            self._deadline_s = now_s + allowed_s

    def rest(self) -> None:
        """Nothing is expected."""
        self._deadline_s = math.inf

    def is_late(self, now_s: float) -> bool:
        """Whether it is time to end the episode."""
        return now_s >= self._deadline_s


def agent_time_limit_s(limit_s: float, *, setting_up: bool) -> float:
    """How long one call of the agent may take under a watchdog with this limit."""
    return _AGENT_SHARE * (max(limit_s, _SETTING_S) if setting_up else limit_s)


def kill_tree(pid: int) -> None:
    """Kill a process and everything it started, by their ids."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        below = process.children(recursive=True)
        # The head first, so that it starts nothing new while the rest goes.
        for victim in (process, *below):
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        psutil.wait_procs(below, timeout=5.0)
