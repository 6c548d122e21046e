"""Ends what is stuck: an episode must get on, in simulated time, every so many wall seconds."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Final

import psutil

# Opening a world may mean compiling the kernels, which takes minutes on a busy machine.
OPENING_S: Final = 1000.0
DEFAULT_S: Final = 180.0


@dataclass(slots=True)
class Watchdog:
    """Watches one episode at a time; times are the caller's monotonic seconds."""

    limit_s: float = DEFAULT_S
    opening_s: float = OPENING_S
    _deadline_s: float = math.inf
    _simulated_s: float = -math.inf
    doing: str = ""

    def expect_world(self, now_s: float) -> None:
        """A worker begins to open a world."""
        self.doing = "opening a world"
        self._deadline_s = now_s + max(self.limit_s, self.opening_s)

    def expect_episode(self, now_s: float) -> None:
        """An episode begins."""
        self._simulated_s, self.doing = -math.inf, ""
        self._deadline_s = now_s + self.limit_s

    def beat(self, now_s: float, simulated_s: float, doing: str) -> None:
        """A sign of life; it counts when simulated time has gone on or another step began."""
        if simulated_s > self._simulated_s or doing != self.doing:
            self._simulated_s, self.doing = simulated_s, doing
            self._deadline_s = now_s + self.limit_s

    def rest(self) -> None:
        """Nothing is expected."""
        self._deadline_s = math.inf

    def is_late(self, now_s: float) -> bool:
        """Whether it is time to end the episode."""
        return now_s >= self._deadline_s


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
