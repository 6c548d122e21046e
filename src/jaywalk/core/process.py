"""Work that several processes need done once, such as compiling into a shared cache.

A home for processes that were started without one.

The carla wheel reads ``HOME`` when it is imported (its cache lies there) and segfaults if the
variable is missing, as it may be in services, cron jobs and containers.

A process that shall not outlive the one that started it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final


def ensure_home() -> None:
    """Set ``HOME``, for this process and its children, unless it is set."""
    if "HOME" not in os.environ:
        os.environ["HOME"] = str(_own_home())


def _own_home() -> Path:
    """What the user database says if it can be written to, else a private temporary folder."""
    known = Path(os.path.expanduser("~"))  # Path.home() raises if there is none
    if known.is_absolute() and os.access(known, os.W_OK | os.X_OK):
        return known
    shared = Path(tempfile.gettempdir()) / f"jaywalk-home-{os.getuid()}"
    try:
        shared.mkdir(mode=0o700, exist_ok=True)
        found = shared.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return shared
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="jaywalk-home-"))


_PR_SET_PDEATHSIG: Final = 1


def exit_with_parent(parent_pid: int) -> None:
    """Have the system kill this process when its parent is gone, however the parent ends.

    Call it first thing in the child. Only Linux can do this; elsewhere it does nothing. The parent
    here is the thread that started the process, so start children from threads that stay.

    Args:
        parent_pid: Who started this process. If it is gone already, the process ends now.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It may have died before the system was told.
    if os.getppid() != parent_pid:
        os._exit(1)


def run_once_across_processes(folder: Path, jobs: Mapping[str, Callable[[], None]]) -> None:
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
