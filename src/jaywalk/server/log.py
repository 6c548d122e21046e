"""The server's log: short lines, few of a kind, and nothing in them that drives a terminal.

Clients decide how often the server has something to complain about; they must not decide how much
disk its log takes.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import IO, Final

from jaywalk.core.printable import MESSAGE_LIMIT, printable, shortened

_FORMAT: Final = "jaywalk: %(levelname)s: %(message)s"
_PER_WINDOW: Final = 20  # lines of one kind ...
_WINDOW_S: Final = 10.0  # ... in so many seconds


class _Line(logging.Formatter):
    """One line a message; a traceback, asked for with --verbose, keeps its lines."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        record.msg, record.args = printable(shortened(message), layout=False), None
        return shortened(printable(super().format(record)), 20 * MESSAGE_LIMIT)


class _FewOfAKind(logging.Filter):
    """Lets some lines of a kind pass in a window, then counts the rest and tells their number."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # kind: window's begin, count

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (record.name, str(record.msg))  # what is put into the message does not count
        now_s = time.monotonic()
        begin_s, count = self._seen.get(kind, (now_s, 0))
        if now_s - begin_s >= _WINDOW_S:
            if count > _PER_WINDOW:
                left_out = count - _PER_WINDOW
                record.msg = f"{record.getMessage()} (and {left_out} like it before)"
                record.args = None
            begin_s, count = now_s, 0
        self._seen[kind] = begin_s, count + 1
        return count < _PER_WINDOW


def start_log(verbose: bool, stream: IO[str] | None = None) -> None:
    """Send the log to stderr: warnings, or with ``verbose`` everything and in full."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Line(_FORMAT))
    if not verbose:
        handler.addFilter(_FewOfAKind())
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler], force=True
    )
