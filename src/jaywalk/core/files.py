"""Small files of the user: read with words on what is wrong, written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from jaywalk.core.errors import DataError, PrerequisiteError


def read_bytes(path: Path, what: str, most_bytes: int) -> bytes:
    """Content of a file.

    Args:
        path: The file.
        what: What it should be, for messages: ``a route file (.xml)``.
        most_bytes: A larger one is refused.

    Raises:
        DataError: There is none, it is a folder, too large or may not be read.
    """
    try:
        if path.is_dir():
            raise DataError(f"'{path}' is a folder. Give {what}.")
        if not path.is_file():
            raise DataError(f"No such file: '{path}'. Give {what}.")
        if path.stat().st_size > most_bytes:
            raise DataError(f"'{path}' has more than {most_bytes} bytes. Give {what}.")
        return path.read_bytes()
    except OSError as problem:
        raise DataError(f"Cannot read '{path}': {problem.strerror}. Give {what}.") from problem


def write_whole(path: Path, text: str) -> None:
    """Write a text file; what was there stays until the new one is complete.

    Raises:
        PrerequisiteError: It cannot be written there.
    """
    # Through a link, so that it stays one.
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:200]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            with target.open("a", encoding="utf-8"):  # what may not be written is not replaced
                pass
        temporary.write_text(text, encoding="utf-8")
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        os.replace(temporary, target)
    except OSError as problem:
        with suppress(OSError):
            temporary.unlink()
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder you may write to."
        ) from problem
