"""A home for processes that were started without one.

The carla wheel reads ``HOME`` when it is imported (its cache lies there) and segfaults if the
variable is missing, as it may be in services, cron jobs and containers.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


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
