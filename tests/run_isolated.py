"""Runs each test file below the given folders in a pytest process of its own, two at a time.

    python tests/run_isolated.py [-m MARKERS] FOLDER ...

The carla wheel can crash its process when it drops an episode, a stream or a client that others in
the process still use. One file a process keeps such a crash from taking the rest along. A file
whose process died of a signal is run again, at most twice, and every such death is printed; a
failing test is never run again.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_TRIES = 3
_AT_A_TIME = 2
_NOTHING_SELECTED = 5  # pytest's exit code when the markers leave no test of a file


def run(file: Path, markers: str) -> bool:
    """Whether the file's tests pass."""
    command = [sys.executable, "-m", "pytest", "-m", markers, str(file)]
    for attempt in range(1, _TRIES + 1):
        done = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode == _NOTHING_SELECTED:
            return True
        print(f"{file}\n{done.stdout}", end="", flush=True)
        if done.returncode >= 0:
            return done.returncode == 0
        print(f"{file}: died of signal {-done.returncode} (attempt {attempt})", flush=True)
    return False


def main() -> int:
    """Run all, tell what failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", dest="markers", default="")
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    files = [file for folder in given.folders for file in sorted(folder.glob("test_*.py"))]
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        passed = list(pool.map(lambda file: run(file, given.markers), files))
    failed = [str(file) for file, good in zip(files, passed, strict=True) if not good]
    print(f"files: {len(files) - len(failed)} passed, {len(failed)} failed", *failed, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
