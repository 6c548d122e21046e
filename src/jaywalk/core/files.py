"""Reading of user files with limits, and atomic writing.

All code that reads a user's file uses these functions. A pipe or a device never blocks the process,
a large file never fills the memory, and an array is never larger than the bytes stored for it.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import stat
import zipfile
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, PrerequisiteError

TEXT_BYTES: Final = 64 * 1024 * 1024  # of a text file that is read whole
DATA_BYTES: Final = 2 * 1024**3  # of a data file that is read whole, and of its arrays together
# Non-blocking: opening a pipe without a writer would otherwise never return. Windows has others.
_OPENING: Final[int] = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")
)
_MEMBERS: Final = 10_000  # of an archive of arrays
_NPY: Final[Any] = np.lib.format  # numpy leaves it untyped


def open_file(path: Path, what: str, most_bytes: int = DATA_BYTES) -> io.BufferedReader:
    """Open a regular file for reading.

    Args:
        path: The file; links are followed.
        what: Description of the expected file, for messages: ``a route file (.xml)``.
        most_bytes: Largest accepted size.

    Raises:
        DataError: The file is missing, not a regular file, too large or not readable.
    """
    try:
        handle = os.open(path, _OPENING)
    except FileNotFoundError as problem:
        raise DataError(f"No such file: '{path}'. Give {what}.") from problem
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or problem
        raise DataError(f"Cannot read '{path}': {said}. Give {what}.") from problem
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_size <= most_bytes:
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISREG(status.st_mode):
        raise DataError(f"'{path}' has more than {most_bytes} bytes. Give {what}.")
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"'{path}' is a folder. Give {what}.")
    raise DataError(f"'{path}' is a pipe, a socket or a device, not a file. Give {what}.")


def read_bytes(path: Path, what: str, most_bytes: int = TEXT_BYTES) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        what: Description of the expected file, for messages: ``a route file (.xml)``.
        most_bytes: Largest accepted size.

    Raises:
        DataError: The file is missing, not a regular file, too large or not readable.
    """
    try:
        with open_file(path, what, most_bytes) as stream:
            data = stream.read(most_bytes + 1)
    except OSError as problem:
        raise DataError(f"Cannot read '{path}': {problem.strerror}. Give {what}.") from problem
    if len(data) > most_bytes:  # the file grew during the read
        raise DataError(f"'{path}' has more than {most_bytes} bytes. Give {what}.")
    return data


def read_text(path: Path, what: str, most_bytes: int = TEXT_BYTES, encoding: str = "utf-8") -> str:
    """Return the text of a file, with all line ends converted to line feeds.

    Raises:
        DataError: The file cannot be read, or is not text in that encoding.
    """
    data = read_bytes(path, what, most_bytes)
    try:
        return io.TextIOWrapper(io.BytesIO(data), encoding=encoding).read()
    except UnicodeDecodeError as problem:
        raise DataError(
            f"'{path}' is not {encoding} text (byte {problem.start}). Give {what}."
        ) from problem


@contextmanager
def csv_lines(path: Path, what: str, encoding: str = "utf-8") -> Iterator[io.StringIO]:
    """Text of a table for the ``csv`` module, with its line ends unchanged.

    Raises:
        DataError: The file cannot be read, or is not text in that encoding.
    """
    data = read_bytes(path, what)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        raise DataError(
            f"'{path}' is not {encoding} text (byte {problem.start}). Give {what}."
        ) from problem
    yield io.StringIO(text, newline="")


def gunzip(data: bytes, name: str, most_bytes: int = 16 * TEXT_BYTES) -> bytes:
    """Unpack gzip bytes to at most ``most_bytes``.

    Raises:
        DataError: The bytes are broken, or unpack to more than ``most_bytes``.
    """
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(most_bytes + 1)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(f"'{name}' cannot be read: {problem}.") from problem
    if len(content) > most_bytes:
        raise DataError(f"'{name}' unpacks to more than {most_bytes} bytes.")
    return content


def load_array(path: Path, what: str, most_bytes: int = DATA_BYTES) -> NDArray[Any]:
    """Return the array of an ``.npy`` file; see :func:`load_arrays`."""
    arrays = load_arrays(path, what, most_bytes)
    if list(arrays) != [""]:
        raise DataError(f"'{path}' is an archive, expected one array. Give {what}.")
    return arrays[""]


def load_arrays(
    path: Path,
    what: str,
    most_bytes: int = DATA_BYTES,
    wanted: Container[str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` archive by name, or that of an ``.npy`` file under ``""``.

    Sizes are checked before memory is allocated. Neither a small archive that unpacks to gigabytes
    nor a header that declares more numbers than the file holds can exhaust the memory.

    Raises:
        DataError: The file has another format, or its arrays together exceed ``most_bytes``.
    """
    data = read_bytes(path, what, most_bytes)
    return parse_arrays(data, str(path), what, most_bytes, wanted)


def parse_arrays(
    data: bytes,
    name: str,
    what: str,
    most_bytes: int = DATA_BYTES,
    wanted: Container[str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that is in memory; see :func:`load_arrays`."""
    try:
        if not data.startswith(b"PK"):
            return {"": _array(io.BytesIO(data), len(data))}
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > _MEMBERS or sum(member.file_size for member in members) > most_bytes:
                raise DataError(
                    f"'{name}' unpacks to more than {most_bytes} bytes or {_MEMBERS} arrays. "
                    f"Give {what}."
                )
            arrays = {}
            for member in members:
                key = member.filename.removesuffix(".npy")
                if wanted is not None and key not in wanted:
                    continue
                with archive.open(member) as stream:
                    arrays[key] = _array(stream, member.file_size)
            return arrays
    except DataError:
        raise
    except Exception as problem:  # a damaged header can raise any error in its parsers
        raise DataError(f"'{name}' holds no readable arrays: {problem}. Give {what}.") from problem


def _array(stream: IO[bytes], size: int) -> NDArray[Any]:
    """Read one ``.npy`` array; its header must not declare more than ``size`` bytes."""
    version = _NPY.read_magic(stream)
    read = {
        (1, 0): _NPY.read_array_header_1_0,
        (2, 0): _NPY.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"array format {version} is unknown")
    shape, fortran_order, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("an array of Python objects is refused")
    count = math.prod(shape)
    if count < 0 or count * dtype.itemsize > size:
        raise ValueError(f"the header announces shape {shape}, which is more than the file holds")
    raw = bytearray(stream.read(count * dtype.itemsize))
    if len(raw) != count * dtype.itemsize:
        raise ValueError("the array is cut off")
    flat = np.frombuffer(raw, dtype, count)
    return flat.reshape(shape, order="F" if fortran_order else "C")


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` once it is complete; after an error the old one stays.

    Args:
        path: The file. One process at a time may write it.
        durable: Whether to wait until the new file is on the disk.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        yield file
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
    if durable:
        sync_file(path.parent)


def sync_file(path: Path) -> None:
    """Wait until a file or the entries of a folder are on the disk."""
    windows = os.name == "nt"  # there folders cannot be opened, and files only for writing
    if windows and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Write a text file; an existing file stays until the new one is complete.

    Raises:
        PrerequisiteError: The file cannot be written.
    """
    # Resolve links, so that a link stays a link.
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:200]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            with target.open("a", encoding="utf-8"):  # do not replace a read-only file
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
