"""Files that many episodes of a run share, kept once under the hash of their content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.record.episode import SharedFile
from jaywalk.record.storage import sync_file

FILES_FOLDER: Final = "files"


class SharedFiles:
    """The ``files`` folder of a run: town, scenery, motion clips, route files."""

    def __init__(self, run_folder: Path) -> None:
        self.folder = run_folder / FILES_FOLDER

    def add(self, content: bytes, suffix: str) -> SharedFile:
        """Keep a content (once) and return what an episode has to remember of it.

        Args:
            content: Bytes of the file.
            suffix: How its name shall end, with the dot: ``.xodr``.
        """
        digest = hashlib.sha256(content).hexdigest()
        name = digest + suffix
        target = self.folder / name
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            # Two workers may come here together: both rename the same content to the same name.
            os.replace(temporary, target)
            sync_file(self.folder)
        return SharedFile(sha256=digest, name=name)


def find_shared_file(episode_folder: Path, file: SharedFile) -> Path:
    """Where a shared file lies, seen from an episode; its content is checked.

    Raises:
        DataError: It is not there, or is not what was recorded.
    """
    for above in (episode_folder, *episode_folder.resolve().parents[:2]):
        path = above / FILES_FOLDER / file.name
        if path.is_file():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != file.sha256:
                raise DataError(
                    f"{path} has SHA-256 {found[:12]}..., expected {file.sha256[:12]}...: it was "
                    "changed after the recording. Restore it from a copy of the run."
                )
            return path
    raise DataError(
        f"{episode_folder} needs the shared file {file.name}, which is in no 'files' folder beside "
        "or above it. Copy the run's 'files' folder along with its episodes."
    )
