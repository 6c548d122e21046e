"""A run folder before work begins: what is finished, what is left over, what is to be run.

One scheduler per run folder at a time.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final, Self

import polars as pl
import pyarrow as pa

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.record.episode import EPISODE_FILE
from jaywalk.record.run import RunFolder
from jaywalk.runner.plan import EpisodeOutcome, EpisodePlan
from jaywalk.runner.state import DONE, RunState

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


_DAMAGED: Final = ".damaged-"


def missing_plans(
    run_folder: Path, plans: Sequence[EpisodePlan], state: RunState, say: Callable[[str], None]
) -> list[EpisodePlan]:
    """Bring state and folder into line and return what is left to run.

    A whole record whose row does not say so is taken on, a damaged one is put aside, and what
    writers that were killed left behind is removed. Call it with the run's lock held.
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
    """The outcome of a record that is there and whole; None where it has to be run.

    Args:
        run_folder: Folder of the run.
        episode_id: Which episode.
        say: Told why a record is put aside.
        expected: Hash the record had when it was written, if that is known.
    """
    folder = RunFolder(run_folder).episode(episode_id)
    if not folder.exists():
        return None
    try:
        record = jaywalk.record.open(folder)
        found = record.episode
        if found.episode_id != episode_id:
            raise DataError(f"{folder} is the record of '{found.episode_id}'.")
        digest = jaywalk.record.record_hash(folder)
        if expected and digest != expected:
            raise DataError(f"{folder} was changed after it was written: its hash is another one.")
        last_s = record.ticks.select(pl.col("time_s").max()).collect().item()
    except (DataError, OSError, pa.ArrowException, pl.exceptions.PolarsError) as problem:
        aside = _put_aside(folder)
        say(f"{episode_id}: {problem} It is now {aside.name} and the episode will be run again.")
        return None
    return EpisodeOutcome(
        episode_id=episode_id,
        end_reason=found.end_reason,
        failure=found.failure,
        record_hash=digest,
        simulated_s=float(last_s or 0.0),
        wall_s=float(found.wall.seconds or 0.0),
        folder=folder,
    )


def _put_aside(folder: Path) -> Path:
    """Rename so that no reader of the run takes it for an episode."""
    number = 1
    while (aside := folder.with_name(f"{_DAMAGED}{folder.name}-{number}")).exists():
        number += 1
    os.rename(folder, aside)
    return aside
