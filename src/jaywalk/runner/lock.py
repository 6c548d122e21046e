"""One scheduler per run folder at a time."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from pathlib import Path
from typing import IO, Final, Self

from jaywalk.core.errors import PrerequisiteError

LOCK_FILE: Final = "run.lock"
_GRACE_S: Final = 10.0
_POLL_S: Final = 0.1


class RunLock:
    """A lock on a run folder that goes away with its holders, however they end.

    Workers inherit it (:meth:`fileno`): after a ``kill -9`` of the scheduler the folder stays
    locked until the last of its workers, which the system ends too, writes no more.
    """

    def __init__(self, run_folder: Path, *, grace_s: float = _GRACE_S) -> None:
        """Take the lock.

        Args:
            run_folder: Which run.
            grace_s: How long to wait for workers of a scheduler that is gone.

        Raises:
            PrerequisiteError: Somebody else has it; with the process id.
        """
        self.path = run_folder / LOCK_FILE
        self._file: IO[str] = self.path.open("a+", encoding="utf-8")
        deadline = time.monotonic() + grace_s
        while not self._take():
            holder = self._holder()
            if _is_running(holder) or time.monotonic() >= deadline:
                self._file.close()
                raise PrerequisiteError(
                    f"{run_folder} is in use by another 'jaywalk run' ({holder or 'unknown'}). "
                    "Wait for it or end it, or choose another folder with --out."
                )
            time.sleep(_POLL_S)
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"pid {os.getpid()} on {socket.gethostname()}\n")
        self._file.flush()

    def _take(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _holder(self) -> str:
        self._file.seek(0)
        return self._file.read().strip()

    def fileno(self) -> int:
        """For processes that shall hold the lock as well."""
        return self._file.fileno()

    def release(self) -> None:
        """Let go; the lock is free when everybody who inherited it has ended."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.release()


def _is_running(holder: str) -> bool:
    """Whether the scheduler named in the file lives; unknown and distant ones count as living."""
    words = holder.split()
    if len(words) != 4 or words[3] != socket.gethostname():
        return bool(words)
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
