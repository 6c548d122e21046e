"""Helpers for processes: home folder, lifetime and work shared with other processes.

:func:`ensure_home` sets ``HOME`` if it is missing, as it may be in services, cron jobs and
containers. The carla wheel reads the variable when it is imported (its cache lies there) and
segfaults without it. :func:`exit_with_parent` ends a process together with the one that started it.
:func:`run_once_across_processes` shares work among processes, such as compiling into a shared
cache.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final


def ensure_home() -> None:
    """Set ``HOME`` for this process and its children, unless it is set already."""
    if "HOME" not in os.environ:
        os.environ["HOME"] = str(_own_home())


def _own_home() -> Path:
    """Return the home from the user database if writable, else a private temporary folder."""
    known = Path(os.path.expanduser("~"))  # Path.home() raises if there is none
    if known.is_absolute() and os.access(known, os.W_OK | os.X_OK):
        return known
    try:
        shared = Path(tempfile.gettempdir()) / f"jaywalk-home-{os.getuid()}"
        shared.mkdir(mode=0o700, exist_ok=True)
        status = shared.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            return shared
    except (OSError, AttributeError):  # Windows has no user ids
        pass
    return Path(tempfile.mkdtemp(prefix="jaywalk-home-"))


_PR_SET_PDEATHSIG: Final = 1


def exit_with_parent(parent_pid: int) -> None:
    """Ask the system to kill this process when its parent ends for any reason.

    Call it first in the child. It works on Linux only and does nothing on other systems. Linux
    takes the thread that started the process as the parent, so start children from a thread that
    outlives them.

    Args:
        parent_pid: Id of the process that started this one. If that process has ended already,
            this one ends now.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have ended before the call above.
    if os.getppid() != parent_pid:
        os._exit(1)


def run_once_across_processes(folder: Path, jobs: Mapping[str, Callable[[], None]]) -> None:
    """Call every job, but no job while another process runs it.

    Jobs that another process is running are postponed. Two processes that start together thus
    share the work, and each then finds the results of the other. A lock is released when its
    holder ends.

    Args:
        folder: Folder of the lock files; the same for all processes.
        jobs: Jobs by name. A job whose work is already done should return quickly.
    """
    import fcntl  # absent on Windows, where no server runs

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
    import fcntl

    with _lock_file(folder, name) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        job()
        return True


def _lock_file(folder: Path, name: str) -> IO[str]:
    return (folder / f"{name}.lock").open("a", encoding="utf-8")
