"""Reader of annotation files in a folder, a zip or a tar, without unpacking to disk.

Members are only read into memory, under the name of the layout that they belong to, so a hostile
member name cannot reach a path. Links and special files are skipped, and sizes are limited.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file, read_bytes

MAX_MEMBER_BYTES = 256 * 2**20
MAX_TOTAL_BYTES = 4 * 2**30
MAX_ARCHIVE_BYTES = 16 * 2**30  # archives may hold images too, which are not read
_ARCHIVE_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")

Wanted = Callable[[str], bool]


def canonical_name(raw_name: str, folders: frozenset[str]) -> str | None:
    """Return a member's name starting at its layout folder, or None if it is in none of them.

    The last layout folder of the path counts, so that a prefix (the name of a repository, say) or a
    doubled folder does not matter.

    >>> canonical_name("JAAD-2.0/annotations/video_0001.xml", frozenset({"annotations"}))
    'annotations/video_0001.xml'
    >>> canonical_name("annotations/../../etc/passwd", frozenset({"annotations"})) is None
    True
    """
    parts = PurePosixPath(raw_name.replace("\\", "/")).parts
    if ".." in parts or "__MACOSX" in parts or (parts[-1:] and parts[-1].startswith("._")):
        return None
    places = [i for i, part in enumerate(parts[:-1]) if part in folders]
    return "/".join(parts[places[-1] :]) if places else None


def read_members(
    path: Path, folders: frozenset[str], wanted: Wanted
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the wanted files of a layout.

    Args:
        path: A folder that holds the layout, an archive of it, or a folder of such archives.
        folders: Names of the layout's folders, for example ``annotations_attributes``.
        wanted: Returns whether to read a file, given its canonical name.
    """
    if not path.exists():
        raise PrerequisiteError(
            f"'{path}' does not exist. Give the folder or archive of the dataset's annotations."
        )
    budget = _Budget(path)
    seen: set[str] = set()

    def is_new(name: str) -> bool:
        # An archive may lie beside its unpacked files; the unpacked file counts.
        return name not in seen and wanted(name)

    for name, data in _read(path, folders, is_new, budget):
        seen.add(name)
        budget.spend(len(data))
        yield name, data


class _Budget:
    """Limit of the bytes read, so that an archive bomb gives an error instead of filling memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left_bytes = MAX_TOTAL_BYTES

    def spend(self, size_bytes: int) -> None:
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise DataError(
                f"'{self._path}' unpacks to more than {MAX_TOTAL_BYTES} bytes of annotations; "
                "expected a dataset of this layout. Check the archive."
            )

    def check_member(self, name: str, size_bytes: int) -> None:
        if size_bytes > MAX_MEMBER_BYTES:
            raise DataError(
                f"'{self._path}': member '{name}' has {size_bytes} bytes; an annotation file "
                f"has at most {MAX_MEMBER_BYTES}. Check the archive."
            )


def _read(
    path: Path, folders: frozenset[str], wanted: Wanted, budget: _Budget
) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        yield from _read_folder(path, folders, wanted, budget)
        return
    # The archive modules wait forever for a pipe, and read a device without end.
    open_file(path, "a folder or an archive (zip, tar) of annotations", MAX_ARCHIVE_BYTES).close()
    if zipfile.is_zipfile(path):
        yield from _read_zip(path, folders, wanted, budget)
    elif _is_tar(path):
        yield from _read_tar(path, folders, wanted, budget)
    else:
        raise DataError(f"'{path}' is neither a folder nor a zip nor a tar archive.")


def _read_folder(
    path: Path, folders: frozenset[str], wanted: Wanted, budget: _Budget
) -> Iterator[tuple[str, bytes]]:
    root = path.resolve()
    archives: list[Path] = []
    for file in sorted(root.rglob("*")):
        # The folder itself may be called "annotations"; its name is then part of the layout.
        name = canonical_name(f"{root.name}/{file.relative_to(root).as_posix()}", folders)
        if file.name.lower().endswith(_ARCHIVE_ENDINGS):
            archives.append(file)
        elif name is not None and wanted(name) and file.is_file():
            budget.check_member(name, file.stat().st_size)
            yield name, read_bytes(file, "an annotation file", MAX_MEMBER_BYTES)
    for file in archives:
        if file.is_file() and (zipfile.is_zipfile(file) or _is_tar(file)):
            yield from _read(file, folders, wanted, budget)


def _read_zip(
    path: Path, folders: frozenset[str], wanted: Wanted, budget: _Budget
) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = canonical_name(info.filename, folders)
                if name is None or info.is_dir() or not wanted(name):
                    continue
                with archive.open(info) as stream:
                    yield name, _bounded(stream.read, name, budget)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise DataError(f"'{path}' is a broken zip: {error}. Download it again.") from error


def _tar_mode(path: Path) -> Literal["r:", "r:gz", "r:bz2", "r:xz"]:
    """Return the mode of a tar by its first bytes; a trial would read a file of zeros fully."""
    with path.open("rb") as stream:
        head = stream.read(6)
    if head.startswith(b"\x1f\x8b"):
        return "r:gz"
    if head.startswith(b"BZh"):
        return "r:bz2"
    return "r:xz" if head == b"\xfd7zXZ\0" else "r:"


def _is_tar(path: Path) -> bool:
    try:
        tarfile.open(path, _tar_mode(path)).close()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError):
        return False
    return True


def _read_tar(
    path: Path, folders: frozenset[str], wanted: Wanted, budget: _Budget
) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path, _tar_mode(path)) as archive:
            for info in archive:
                name = canonical_name(info.name, folders)
                if name is None or not info.isreg() or not wanted(name):
                    continue
                budget.check_member(name, info.size)
                stream = archive.extractfile(info)
                if stream is not None:
                    yield name, _bounded(stream.read, name, budget)
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise DataError(f"'{path}' is a broken tar: {error}. Download it again.") from error


def _bounded(read: Callable[[int], bytes], name: str, budget: _Budget) -> bytes:
    # The declared size may be wrong: the size of the output counts.
    data = read(MAX_MEMBER_BYTES + 1)
    budget.check_member(name, len(data))
    return data
