"""Programs of the tests that run as processes of their own, under a hard time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"


def run_program(
    name: str, *arguments: object, timeout_s: float, python: str = sys.executable, **options: Any
) -> dict[str, Any]:
    """Run a program and return the JSON of its last line; a hang or crash fails the test.

    The wheel sometimes aborts at interpreter exit, after the work is done; so the result line
    counts, not the exit code.
    """
    command = [python, str(PROGRAMS / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, check=False, **options
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, f"{name} gave no result (exit {done.returncode}): {done.stderr[-2000:]}"
    result: dict[str, Any] = json.loads(lines[-1])
    return result
