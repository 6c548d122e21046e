"""Work that several processes need done once, such as compiling into a shared cache."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO


def in_turns(folder: Path, jobs: Mapping[str, Callable[[], None]]) -> None:
    """Call every job, never one that another process is at.

    While another process is at a job, the others come first; so two processes that start together
    share the work, and each then finds the other's results. The locks go away with their holders.

    Args:
        folder: Where the lock files lie; the same for all processes.
        jobs: Name -> job. A job that finds its work done should be quick.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = dict(jobs)
    while waiting:
        taken = [name for name in waiting if _try(folder, name, waiting[name])]
        for name in taken:
            del waiting[name]
        if waiting and not taken:
            name = next(iter(waiting))
            with _lock_file(folder, name) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                waiting.pop(name)()


def _try(folder: Path, name: str, job: Callable[[], None]) -> bool:
    with _lock_file(folder, name) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        job()
        return True


def _lock_file(folder: Path, name: str) -> IO[str]:
    return (folder / f"{name}.lock").open("a", encoding="utf-8")
