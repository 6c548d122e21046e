"""Compilation of inner loops with numba: cached on disk and bit-reproducible.

Numba invalidates a cached kernel when its own file changes, but not when a kernel that it calls, or
a constant that it freezes, changes in another file. Here every kernel carries a stamp over its own
file and all files of the package that it imports, directly or indirectly. An edited or upgraded
package therefore never runs stale code, and an edit in an unrelated file recompiles nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

_F = TypeVar("_F", bound=Callable[..., Any])


_PACKAGE = Path(__file__).parents[1]
# Top-level imports only: imports inside functions and under TYPE_CHECKING freeze nothing.
_IMPORT = re.compile(
    rb"^from jaywalk([\w.]*) import (\([^)]*\)|[^\n]*)|^import jaywalk([\w.]*)", re.MULTILINE
)
_NAME = re.compile(rb"(\w+)(?: as \w+)?\s*(?:,|$|\)|\n|#)")


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """Return the digest of a file and the files of the package that it imports."""
    source = path.read_bytes()
    imported: set[Path] = set()
    for module, names, plain in _IMPORT.findall(source):
        dotted = (module or plain).decode().strip(".")
        folder = _PACKAGE.joinpath(*dotted.split(".")) if dotted else _PACKAGE
        candidates = [folder.with_suffix(".py"), folder / "__init__.py"]
        candidates += [folder / f"{name.decode()}.py" for name in _NAME.findall(names)]
        imported.update(file for file in candidates if file.is_file())
    return hashlib.blake2b(source, digest_size=16).digest(), frozenset(imported)


@cache
def source_stamp(path: Path) -> tuple[str, int]:
    """Fingerprint of a source file and of all files of the package that it depends on."""
    reached, waiting = {path}, [path]
    while waiting:
        new = _read(waiting.pop())[1] - reached
        reached |= new
        waiting += new
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(reached):
        digest.update(file.relative_to(_PACKAGE).as_posix().encode() + _read(file)[0])
    return digest.hexdigest(), 0


def compile_kernel(function: _F, **options: Any) -> _F:
    """Compile a function with numba ``options``; the cache is validated by the source stamp."""
    dispatcher = njit(cache=True, **options)(function)
    # Numba offers no public way to set the stamp that decides whether an index file is valid.
    file = Path(function.__code__.co_filename)
    if file.is_relative_to(_PACKAGE):
        index = dispatcher._cache._cache_file
        index._source_stamp = source_stamp(file)
        index._load_index = _readable(index._load_index)
    return cast(_F, dispatcher)


def _readable(load: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """Wrap the reader of an index: one that names moved or renamed modules counts as empty."""

    def read() -> dict[Any, str]:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    return read


def kernel(function: _F) -> _F:
    """Compile a function and keep its type annotations for the type checker."""
    return compile_kernel(function)


def is_cached(compiled: Any) -> bool:
    """Return True if the cache holds a version of this kernel for the current sources."""
    return bool(compiled._cache._cache_file._load_index())


def cache_folder(compiled: Any) -> Path:
    """Return the folder that caches the kernels of this kernel's file."""
    return Path(compiled.stats.cache_path)
