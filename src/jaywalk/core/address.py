"""Addresses of servers, written as ``HOST:PORT``."""

from __future__ import annotations

import re
from typing import Final

from jaywalk.core.errors import UsageError

_ADDRESS: Final = re.compile(r"(.+):(\d{1,5})", re.ASCII)
LAST_PORT: Final = 65533  # the streams use the next two


def parse_address(text: str, name: str = "--server") -> tuple[str, int]:
    """Split ``HOST:PORT``; ``name`` is the option that gave the text, for the error message.

    Raises:
        UsageError: The text is not a valid address.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match[2]) <= LAST_PORT:
        raise UsageError(
            f"{name} is '{text}', expected HOST:PORT as in 127.0.0.1:2000 (ports 1 to {LAST_PORT})."
        )
    return match[1], int(match[2])
