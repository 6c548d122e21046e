"""Files we are asked to write: that they can be written is found out before the work."""

from __future__ import annotations

from pathlib import Path

from jaywalk.core.errors import PrerequisiteError


def claim(path: Path) -> Path:
    """Make the folder of a file and see that the file can be written; returns the path.

    Raises:
        PrerequisiteError: It cannot.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()  # what is there stays until there is something new
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder you may write to."
        ) from problem
    return path
