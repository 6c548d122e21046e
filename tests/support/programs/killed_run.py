"""Runs a suite once undisturbed and once killed with -9 at random moments; compares the records.

``python killed_run.py OUT KILLS SEED COMMAND...`` where COMMAND is that of a run without ``--out``,
for example ``python -m jaywalk run smoke --agent cruise``. Prints one line of JSON; exit code 1
when a hash differs, a finished episode was run again or a process was left behind.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path


def hashes(run: Path) -> dict[str, str]:
    with closing(sqlite3.connect(run / "run.sqlite")) as db:
        rows = db.execute("SELECT episode_id, record_hash FROM episodes WHERE state = 'done'")
        return dict(rows.fetchall())


def finished(run: Path) -> dict[str, float]:
    """When each record was put in place."""
    return {p.parent.name: p.stat().st_mtime_ns for p in run.glob("episodes/[!.]*/episode.json")}


def of_session(session: int) -> list[int]:
    """Processes that the run started: workers have sessions of their own, so look at the tree."""
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and _below(p, session)]


def _below(process: Path, ancestor: int) -> bool:
    try:
        while process.name not in ("0", "1"):
            parent = process.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1]
            if int(parent) == ancestor:
                return True
            process = Path("/proc") / parent
    except (OSError, IndexError):
        pass
    return False


def gone(pids: list[int], patience_s: float = 10.0) -> bool:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def run_to_end(command: list[str], out: Path) -> tuple[float, float]:
    """Run undisturbed; returns when the first record was there, and how long it took in all."""
    began, first_s = time.monotonic(), 0.0
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if not first_s and finished(out):
            first_s = time.monotonic() - began
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(f"the run ended with exit code {process.returncode}")
    return first_s, time.monotonic() - began


def main(out: Path, kills: int, seed: int, command: list[str]) -> int:
    choose = random.Random(seed)
    first_s, whole_s = run_to_end(command, out / "undisturbed")
    step_s = (whole_s - first_s) / kills
    expected = hashes(out / "undisturbed")
    run, left_behind, again, hit, done = out / "killed", 0, 0, 0, []
    before: dict[str, float] = {}
    for kill in range(kills):
        process = subprocess.Popen(
            [*command, "--out", str(run)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # Every other one after the session's first record, so that all get done little by little.
        while kill % 2 and process.poll() is None and len(finished(run)) == len(before):
            time.sleep(0.01)
        deadline = time.monotonic() + choose.uniform(0.0, step_s if kill % 2 else first_s + step_s)
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        children = of_session(process.pid)
        process.kill()
        hit += process.wait() == -signal.SIGKILL  # else it was done before
        left_behind += not gone(children)
        now = finished(run)
        again += sum(now.get(name) != moment for name, moment in before.items())
        before = now
        done.append(len(now))
    run_to_end(command, run)
    now = finished(run)
    again += sum(now.get(name) != moment for name, moment in before.items())
    found = hashes(run)
    same = sum(found.get(name) == value for name, value in expected.items())
    result = {
        "kills": hit,
        "episodes": len(expected),
        "identical": same,
        "done_at_kills": done,
        "run_again": again,
        "left_behind": left_behind,
    }
    print(json.dumps(result))
    return int(found != expected or again > 0 or left_behind > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
