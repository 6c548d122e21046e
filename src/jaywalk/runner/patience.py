"""A limit on how long a call of foreign code may take, wherever it hangs in Python."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class OutOfPatience(BaseException):
    """A call took too long. Not an Exception, so that foreign code does not swallow it."""


@contextmanager
def patience(limit_s: float) -> Iterator[None]:
    """Raise :class:`OutOfPatience` in the body when it takes longer than ``limit_s``.

    Only a main thread can be interrupted; elsewhere, and for code that never returns to Python,
    the scheduler's watchdog is what is left.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise OutOfPatience(f"no answer after {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
