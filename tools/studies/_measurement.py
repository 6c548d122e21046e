"""Measurement files as in docs/measurements: tables with the command, commit and date."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]


def measurement(
    command: str,
    *,
    note: str,
    tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str]]]],
    values: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of a measurement file."""
    git = ["git", "-C", str(_ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "format": "jaywalk-measurement-1",
        "command": command,
        "commit": commit or "unknown",
        "code": None,
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "note": note,
        "tables": {
            name: {"columns": list(columns), "rows": [list(row) for row in rows]}
            for name, (columns, rows) in tables.items()
        },
        "values": dict(values or {}),
    }
