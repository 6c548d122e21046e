"""Runs the test suite in parts and sums up: results, skips with reasons, crashes, and times.

    python tests/run_isolated.py [-m MARKERS] [--repeat N] [--load L] PATH ...

The files of the folders after ``--together`` share one pytest with several workers. Each test file
below a PATH has a pytest process of its own, ``--jobs`` at a time: the carla wheel can crash its
process when it drops an episode, a stream or a client that others in the process still use, and one
file per process keeps such a crash from taking the other files along.

Nothing is run again in silence. A process that dies of a signal is a crash. Every crash is printed
and counted, and more than ``--crash-budget`` of them fail the run. A file whose process died before
its tests had ended is run once more, because it has no result otherwise; the summary says so. A
failing test is never run again. See CONTRIBUTING.md for the budget.

``--repeat`` runs all files several times and counts for each how often it passed. ``--load`` keeps
that many other processes busy meanwhile. Several such runs may go on at once, for example below
``taskset -c 0,1``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

_NOTHING_SELECTED = 5  # pytest's exit code when the markers leave no test of a file
_PRINT = threading.Lock()
_BUSY = "while True: pass"


@dataclass
class Tally:
    """What became of one part: a file, or the folders that share a pytest."""

    part: str
    runs: int = 0
    passes: int = 0
    reruns: int = 0
    seconds: float = 0.0
    crashes: list[str] = field(default_factory=list)


def say(text: str) -> None:
    """Print a block of lines that no other thread interrupts."""
    with _PRINT:
        print(text, flush=True)


class Runner:
    """Starts pytest processes and keeps count."""

    def __init__(self, markers: str, folder: Path) -> None:
        self.markers = markers
        self.log = folder / "results.jsonl"
        self.log.touch()

    def results(self) -> list[dict[str, object]]:
        """The lines that tests/conftest.py and tests/support wrote."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def _pytest(self, name: str, *arguments: str, quiet: bool) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", self.markers]
        environment = {
            **os.environ,
            "JAYWALK_TEST_LOG": str(self.log),
            "JAYWALK_TEST_PART": name,
        }
        return subprocess.run(
            [*command, *arguments],
            check=False,
            text=True,
            env=environment,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
        )

    def together(self, folders: list[str], tally: Tally) -> None:
        """Run folders in one pytest with workers; xdist reports a dead worker as a failure."""
        began = time.monotonic()
        options = ["-n", "auto", "--dist", "loadfile", "--durations", "15"]
        done = self._pytest(tally.part, *options, *folders, quiet=False)
        tally.runs, tally.seconds = tally.runs + 1, tally.seconds + time.monotonic() - began
        tally.passes += done.returncode in (0, _NOTHING_SELECTED)

    def alone(self, file: Path, tally: Tally, number: int) -> None:
        """Run one file in its own process; once more if it died before its tests had ended."""
        name, began = f"{file}#{number}", time.monotonic()
        for attempt in ("", " (again)"):
            part = name + attempt
            done = self._pytest(part, "--durations", "5", str(file), quiet=True)
            if done.returncode != _NOTHING_SELECTED:
                say(f"{file}\n{done.stdout}".rstrip())
            if done.returncode >= 0:
                tally.passes += done.returncode in (0, _NOTHING_SELECTED)
                break
            result = next((one for one in self.results() if one.get("part") == part), None)
            when = "during its tests" if result is None else "at exit, after all its tests"
            tally.crashes.append(f"{signal.Signals(-done.returncode).name} {when}")
            say(f"CRASH: {file}: {tally.crashes[-1]}")
            if result is not None:
                tally.passes += result["failed"] == 0
                break
            tally.reruns += not attempt
        tally.runs, tally.seconds = tally.runs + 1, tally.seconds + time.monotonic() - began


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Background load for the length of a block."""
    others = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def test_files(paths: list[Path]) -> list[Path]:
    """The test files below folders, and files as they are given."""
    for path in paths:
        if not path.exists():
            raise SystemExit(f"{path} does not exist")
    found = [[path] if path.is_file() else sorted(path.glob("test_*.py")) for path in paths]
    return [file for files in found for file in files]


def skip_lines(results: list[dict[str, object]]) -> list[str]:
    """How many tests were skipped, by reason."""
    reasons: Counter[str] = Counter()
    for one in results:
        for _, reason in one.get("skipped", []):  # type: ignore[attr-defined]
            reasons[reason] += 1
    lines = [f"  {count:4d}  {reason}" for reason, count in reasons.most_common()]
    return [f"skipped: {sum(reasons.values())}", *lines]


def crash_lines(tallies: list[Tally], results: list[dict[str, object]]) -> list[str]:
    """Every crash: of a pytest process, or of a program that a test had started."""
    lines = [f"  {one.part}: {crash}" for one in tallies for crash in one.crashes]
    return lines + [f"  {one['crash']}" for one in results if "crash" in one]


def summary(tallies: list[Tally], results: list[dict[str, object]], budget: int) -> bool:
    """Print what happened; whether all is well."""
    again = any(one.runs > 1 for one in tallies)
    lines = ["", "== summary", "time:"]
    for one in sorted(tallies, key=lambda tally: -tally.seconds)[: len(tallies) if again else 12]:
        counts = f"  {one.passes}/{one.runs} passed" if again else ""
        rerun = f"  run again {one.reruns}x" if one.reruns else ""
        lines.append(f"  {one.seconds:6.0f} s  {one.part}{counts}{rerun}")
    lines += skip_lines(results)
    crashes = crash_lines(tallies, results)
    lines += [f"crashes: {len(crashes)} (budget {budget})", *crashes]
    passed = sum(int(one.get("passed", 0)) for one in results)  # type: ignore[call-overload]
    lines.append(f"tests passed: {passed}")
    failed = [one.part for one in tallies if one.passes < one.runs]
    runs, good = sum(one.runs for one in tallies), sum(one.passes for one in tallies)
    lines.append(f"parts: {good} of {runs} passed")
    lines += [f"FAILED: {part}" for part in failed]
    if len(crashes) > budget:
        lines.append(f"FAILED: {len(crashes)} crashes, and the budget is {budget}")
    say("\n".join(lines))
    return not failed and len(crashes) <= budget


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-m", dest="markers", default="", help="pytest's marker expression")
    parser.add_argument("--together", nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--load", type=int, default=0, metavar="L", help="busy processes beside it")
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="files at a time")
    parser.add_argument("--crash-budget", type=int, metavar="N", help="default: 1 per repeat")
    parser.add_argument("paths", nargs="*", type=Path)
    given = parser.parse_args()
    files = test_files(given.paths)
    tallies = {file: Tally(str(file)) for file in files}
    shared = Tally(" ".join(given.together))
    budget = given.repeat if given.crash_budget is None else given.crash_budget
    with tempfile.TemporaryDirectory(prefix="jaywalk-tests-") as folder:
        runner = Runner(given.markers, Path(folder))
        with busy_processes(given.load), ThreadPoolExecutor(given.jobs) as pool:
            for number in range(1, given.repeat + 1):
                if given.together:
                    runner.together(given.together, shared)
                jobs = [pool.submit(runner.alone, f, tallies[f], number) for f in files]
                for job in jobs:
                    job.result()
        parts = [*([shared] if given.together else []), *tallies.values()]
        return 0 if summary(parts, runner.results(), budget) else 1


if __name__ == "__main__":
    sys.exit(main())
