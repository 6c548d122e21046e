"""Files of a result set: a folder, a tar archive or one JSON file, read without extracting."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import read_bytes

# A result file is some kilobytes; the limits stop decompression bombs, not real result sets.
MAX_FILE_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 2 * 2**30
MAX_FILES = 200_000

_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a set.

    Attributes:
        name: Path inside of the set, with forward slashes.
        content: Its bytes; None if it was not read.
        problem: Why it was not read, or None.
    """

    name: str
    content: bytes | None
    problem: str | None = None


def set_name(path: Path) -> str:
    """Name of a result set: that of the folder or file without its suffixes."""
    name = path.resolve().name
    for suffix in (*_ARCHIVES, ".json", ".xml"):
        if path.is_file() and name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def printable(name: str) -> str:
    """Return a name with unprintable characters, such as line ends, written as escapes."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in name)


def read_files(path: Path, suffix: str) -> list[SourceFile]:
    """Read every file ending in ``suffix`` below ``path``, sorted by name.

    Files with other endings are returned unread, with the reason, so that a caller can tell of
    everything that is there.
    """
    if path.is_dir():
        texts = _from_folder(path, suffix)
    elif not path.is_file():
        raise PrerequisiteError(
            f"'{path}' does not exist. Give a folder, a .tar.gz archive or a {suffix} file."
        )
    elif path.name.lower().endswith(_ARCHIVES):
        texts = _from_archive(path, suffix)
    elif path.name.lower().endswith(suffix):
        texts = iter([_read(path, path.name)])
    else:
        raise DataError(
            f"'{path}' is neither a folder, a tar archive ({', '.join(_ARCHIVES)}) "
            f"nor a {suffix} file."
        )
    return sorted(texts, key=lambda file: file.name)


def _from_folder(root: Path, suffix: str) -> Iterator[SourceFile]:
    total = 0
    for path in sorted(root.rglob("*")):
        name = printable(path.relative_to(root).as_posix())
        if path.is_dir():
            if path.is_symlink():
                yield SourceFile(
                    name=name, content=None, problem="a link to a folder, not followed"
                )
            continue
        if not name.lower().endswith(suffix):
            yield SourceFile(name=name, content=None, problem=f"not a {suffix} file")
            continue
        file = _read(path, name)
        total += len(file.content or b"")
        _check_total(root, total)
        yield file


def _read(path: Path, name: str) -> SourceFile:
    if not path.is_file():
        return SourceFile(name=name, content=None, problem="not a regular file or a broken link")
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return SourceFile(name=name, content=None, problem=_too_large(path.stat().st_size))
        return SourceFile(name=name, content=read_bytes(path, "a result file", MAX_FILE_BYTES))
    except OSError as error:
        return SourceFile(name=name, content=None, problem=f"unreadable: {error.strerror}")
    except DataError as error:
        return SourceFile(name=name, content=None, problem=f"unreadable: {error}")


def _from_archive(path: Path, suffix: str) -> Iterator[SourceFile]:
    # Members are read into memory by name and never extracted, so none can leave a folder.
    total = 0
    try:
        with tarfile.open(path, "r|*") as archive:
            for count, member in enumerate(archive):
                if count >= MAX_FILES:
                    raise DataError(f"'{path}' holds more than {MAX_FILES} members.")
                if member.isdir():
                    continue
                problem = _member_problem(member, suffix)
                name = printable(member.name)
                if problem is not None:
                    yield SourceFile(name=name, content=None, problem=problem)
                    continue
                total += member.size
                _check_total(path, total)
                stream = archive.extractfile(member)
                content = stream.read() if stream is not None else None
                yield SourceFile(name=name, content=content)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"'{path}' is not a readable tar archive: {error}") from error


def _member_problem(member: tarfile.TarInfo, suffix: str) -> str | None:
    place = PurePosixPath(member.name)
    if place.is_absolute() or ".." in place.parts:
        return "its name leads out of the archive"
    if not member.isfile():
        return "not a regular file"
    if not member.name.lower().endswith(suffix):
        return f"not a {suffix} file"
    if member.size > MAX_FILE_BYTES:
        return _too_large(member.size)
    return None


def _check_total(path: Path, total: int) -> None:
    if total > MAX_TOTAL_BYTES:
        raise DataError(f"'{path}' holds more than {MAX_TOTAL_BYTES // 2**30} GiB of results.")


def _too_large(size: int) -> str:
    return f"{size / 2**20:.0f} MiB, more than the {MAX_FILE_BYTES // 2**20} MiB allowed"
