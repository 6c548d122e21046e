"""State of a run folder before work begins: its lock, finished episodes and episodes to run.

The lock allows one scheduler per run folder at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shutil
import socket
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import IO, Final, Self

import polars as pl
import pyarrow as pa

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.queries import end_s
from jaywalk.record.run import RunFolder, checked_hash
from jaywalk.runner.plan import EpisodeOutcome, EpisodePlan
from jaywalk.runner.state import DONE, RunState

_GRACE_S: Final = 10.0
_POLL_S: Final = 0.1


class RunLock:
    """Lock on a run folder that is released when its holders end, for whatever reason.

    Workers inherit it (:meth:`fileno`): after a ``kill -9`` of the scheduler the folder stays
    locked until its last worker, which the system ends too, has stopped writing.
    """

    def __init__(self, run_folder: Path, *, grace_s: float = _GRACE_S) -> None:
        """Take the lock.

        Args:
            run_folder: Folder of the run.
            grace_s: Time to wait for workers of a scheduler that has ended, in seconds.

        Raises:
            PrerequisiteError: Another process holds it; the message names the process id.
        """
        self.path = RunFolder(run_folder).lock_file
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
        """File descriptor for processes that also hold the lock."""
        return self._file.fileno()

    def release(self) -> None:
        """Release the lock; it is free when all processes that inherited it have ended."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.release()


def _is_running(holder: str) -> bool:
    """Return True if the scheduler named in the lock file lives; True also if that is unknown."""
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


def note_session(run_folder: Path) -> None:
    """Append the command and the environment of this session; records do not depend on it."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT_VARIABLES)}
    packages = {str(package.name): package.version for package in distributions()}
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "folder": str(Path.cwd()),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "machine": socket.gethostname(),
        "cores": os.cpu_count(),
        "environment": dict(sorted(kept.items())),
        "packages": dict(sorted(packages.items())),
    }
    with RunFolder(run_folder).sessions_file.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


_KEPT_VARIABLES: Final = ("JAYWALK_", "CUDA_VISIBLE_DEVICES", "NUMBA_", "OMP_")


def remove_traces(run_folder: Path, parents: Sequence[Path] = ()) -> None:
    """Remove a run folder of a command that failed before its first record.

    Only files of a run are removed; a folder with anything else in it stays.

    Args:
        run_folder: Folder of the run.
        parents: Folders that the command made for it, the innermost first.
    """
    folder = RunFolder(run_folder)
    if next(folder.records(), None) is not None:
        return
    for path in (folder.episodes, folder.logs):
        shutil.rmtree(path, ignore_errors=True)
    state = folder.state_file.name
    names = (state, f"{state}-wal", f"{state}-shm", folder.config_file.name)
    for name in (*names, folder.sessions_file.name, folder.lock_file.name):
        (run_folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something else is in it
        for made in (run_folder, *parents):
            made.rmdir()


_DAMAGED: Final = ".damaged-"


def missing_plans(
    run_folder: Path, plans: Sequence[EpisodePlan], state: RunState, say: Callable[[str], None]
) -> list[EpisodePlan]:
    """Bring state and folder into agreement and return the episodes left to run.

    A complete record that the state does not list is adopted, a damaged one is set aside, and
    leftovers of killed writers are removed. The caller must hold the run's lock.
    """
    jaywalk.record.remove_unfinished(RunFolder(run_folder).episodes)
    state.announce(plan.episode_id for plan in plans)
    rows = state.rows()
    missing: list[EpisodePlan] = []
    for plan in plans:
        name = plan.episode_id
        folder = RunFolder(run_folder).episode(name)
        was_done = rows[name].state == DONE
        if was_done and not (folder / EPISODE_FILE).is_file():
            say(f"{name}: its record is gone, so it will be run again")
        expected = rows[name].record_hash if was_done else ""
        outcome = adopt(run_folder, name, say, expected)
        if outcome is not None:
            if not was_done:
                state.finish(outcome)
            continue
        state.put_back(name)
        missing.append(plan)
    return missing


def adopt(
    run_folder: Path, episode_id: str, say: Callable[[str], None], expected: str = ""
) -> EpisodeOutcome | None:
    """Return the outcome of an existing, complete record; None if the episode has to be run.

    Args:
        run_folder: Folder of the run.
        episode_id: Id of the episode.
        say: Called with the reason if a record is set aside.
        expected: Hash of the record when it was written, if known.
    """
    folder = RunFolder(run_folder).episode(episode_id)
    if not folder.exists():
        return None
    try:
        record = jaywalk.record.open(folder)
        episode = record.episode
        if episode.episode_id != episode_id:
            raise DataError(f"{folder} is the record of '{episode.episode_id}'.")
        digest = checked_hash(folder, expected)
        simulated_s = end_s(record)
    except (DataError, OSError, pa.ArrowException, pl.exceptions.PolarsError) as problem:
        aside = _put_aside(folder)
        say(f"{episode_id}: {problem} It is now {aside.name} and the episode will be run again.")
        return None
    return EpisodeOutcome(
        episode_id=episode_id,
        end_reason=episode.end_reason,
        failure=episode.failure,
        record_hash=digest,
        simulated_s=simulated_s,
        wall_s=float(episode.wall.seconds or 0.0),
        folder=folder,
    )


def _put_aside(folder: Path) -> Path:
    """Rename a folder so that readers of the run do not take it for an episode."""
    number = 1
    while (aside := folder.with_name(f"{_DAMAGED}{folder.name}-{number}")).exists():
        number += 1
    os.rename(folder, aside)
    return aside
