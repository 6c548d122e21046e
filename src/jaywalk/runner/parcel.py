"""A record in one piece of bytes, for workers that do not see the run folder."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import jaywalk.record
from jaywalk.core.errors import DataError
from jaywalk.record.shared_files import FILES_FOLDER, SharedFiles
from jaywalk.record.storage import sync_file
from jaywalk.runner.folder import episode_folder

_RECORD: Final = "record"


def pack(run_folder: Path, episode_id: str) -> bytes:
    """A record with the shared files it needs."""
    folder = episode_folder(run_folder, episode_id)
    record = jaywalk.record.open(folder)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, f"{_RECORD}/{path.name}", recursive=False)
        for role, file in sorted(record.episode.files.items()):
            tar.add(record.shared_file(role), f"{FILES_FOLDER}/{file.name}", recursive=False)
    return buffer.getvalue()


def unpack(data: bytes, run_folder: Path, episode_id: str) -> Path:
    """Put a packed record into a run folder, whole or not at all; returns its folder.

    Raises:
        DataError: It is no record, or holds anything but plain files at the two places.
    """
    target = episode_folder(run_folder, episode_id)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Named as writers name theirs, so that what a kill leaves is cleared away like the rest.
    temporary = Path(tempfile.mkdtemp(prefix=f".unfinished-{episode_id}-", dir=target.parent))
    try:
        for place, name, content in _members(data):
            if place == _RECORD:
                (temporary / name).write_bytes(content)
                sync_file(temporary / name)
            elif SharedFiles(run_folder).add(content, "".join(Path(name).suffixes)).name != name:
                raise DataError(f"The shared file {name} came with another content.")
        jaywalk.record.open(temporary)
        os.chmod(temporary, 0o755)
        os.rename(temporary, target)
        sync_file(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _members(data: bytes) -> list[tuple[str, str, bytes]]:
    """Place, name and content of everything; nothing may lead out of the two places."""
    found: list[tuple[str, str, bytes]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                place, _, name = member.name.partition("/")
                plain = name and "/" not in name and "\\" not in name and not name.startswith(".")
                if place not in (_RECORD, FILES_FOLDER) or not plain or not member.isreg():
                    raise DataError(f"A worker sent '{member.name}', which is no part of a record.")
                stream = tar.extractfile(member)
                assert stream is not None
                found.append((place, name, stream.read()))
    except tarfile.TarError as problem:
        raise DataError(f"A worker sent a damaged record: {problem}.") from problem
    return found
