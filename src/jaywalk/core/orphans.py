"""A process that shall not outlive the one that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def die_with_parent(parent_pid: int) -> None:
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
