"""Programs of the tests that run as processes of their own, under a hard time limit."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_S = 60.0


def wait_for(condition: Callable[[], bool], what: str = "") -> None:
    """Wait until something holds. The limit ends a hang; no correct code comes near it."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"still not after {PATIENCE_S:.0f} s: {what or condition}")
        time.sleep(0.005)


def note_crash(what: str) -> None:
    """Count a crash that does not fail its test: ``run_isolated.py`` has a budget for them."""
    print(f"CRASH: {what}", file=sys.stderr, flush=True)
    if log := os.environ.get("JAYWALK_TEST_LOG"):
        with Path(log).open("a") as file:
            file.write(json.dumps({"crash": what}) + "\n")


def run_program(
    name: str, *arguments: object, timeout_s: float, python: str = sys.executable, **options: Any
) -> dict[str, Any]:
    """Run a program and return the JSON of its last line; a hang or crash fails the test.

    The wheel sometimes aborts at interpreter exit, after the work is done; so the result line
    counts, not the exit code. Such a crash is noted.
    """
    command = [python, str(PROGRAMS / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, check=False, **options
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, f"{name} gave no result (exit {done.returncode}): {done.stderr[-2000:]}"
    if done.returncode < 0:
        note_crash(f"{name}: {signal.Signals(-done.returncode).name} after its result")
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def _works(python: str, code: str) -> bool:
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _interpreters(versions: tuple[str, ...]) -> list[str]:
    """Pythons of these versions: on the path, or kept by pyenv."""
    kept = Path.home() / ".pyenv" / "versions"
    found = [f"python{version}" for version in versions]
    for version in versions:
        found += [str(path) for path in sorted(kept.glob(f"{version}.*/bin/python"))]
    accepted = "(" + "".join(f"({version.replace('.', ', ')})," for version in versions) + ")"
    code = f"import sys; sys.exit(sys.version_info[:2] not in {accepted})"
    return [python for python in found if _works(python, code)]


def other_python(
    name: str, versions: tuple[str, ...], packages: tuple[str, ...], check: str
) -> str | None:
    """An interpreter of another version with some packages; None if it cannot be made.

    It is kept between runs in a virtual environment. One process makes it, others wait.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", tempfile.gettempdir()))
    folder = base / f"jaywalk-{name}-{os.getuid()}"
    python = str(folder / "bin" / "python")
    base.mkdir(parents=True, exist_ok=True)
    with (base / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _works(python, check):
            return python
        for interpreter in _interpreters(versions):
            steps = [
                [interpreter, "-m", "venv", "--clear", str(folder)],
                [python, "-m", "pip", "install", "--quiet", *packages],
            ]
            if all(
                subprocess.run(step, capture_output=True, timeout=240, check=False).returncode == 0
                for step in steps
            ) and _works(python, check):
                return python
    return None
