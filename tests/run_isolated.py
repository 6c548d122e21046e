"""Runs each test file below the given folders in a pytest process of its own.

The carla wheel can crash its process when it drops an episode, a stream or a client that others in
the process still use. One file a process keeps such a crash from taking the rest along. A file
whose process died of a signal is run again, at most twice, and every such death is printed; a
failing test is never run again.
"""

import subprocess
import sys
from pathlib import Path

_TRIES = 3


def run(file: Path) -> int:
    for attempt in range(1, _TRIES + 1):
        code = subprocess.run([sys.executable, "-m", "pytest", str(file)], check=False).returncode
        if code >= 0:
            return code
        print(f"{file}: the process died of signal {-code} (attempt {attempt})", flush=True)
    return 1


if __name__ == "__main__":
    files = [file for folder in sys.argv[1:] for file in sorted(Path(folder).glob("test_*.py"))]
    failed = [str(file) for file in files if run(file) != 0]
    print(f"files: {len(files) - len(failed)} passed, {len(failed)} failed", *failed, flush=True)
    sys.exit(1 if failed else 0)
