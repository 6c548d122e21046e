"""How inner loops are compiled: by numba, cached on disk, bit-reproducible.

Numba invalidates a cached kernel when its own file changes, but not when a kernel that it calls, in
another file, does. Here every kernel carries one stamp over all files with kernels, so that an
edited or upgraded package never runs stale code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

_F = TypeVar("_F", bound=Callable[..., Any])


# Kernels freeze the constants of these modules too.
_FROZEN_TABLES = ("tables.py", "scenery_table.py")


@cache
def source_stamp() -> tuple[str, int]:
    """Fingerprint of every source file that holds kernels or what they freeze."""
    folder = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source or path.name in _FROZEN_TABLES:
            digest.update(path.relative_to(folder).as_posix().encode() + source)
    return digest.hexdigest(), 0


def compile_kernel(function: _F, **options: Any) -> _F:
    """Compile with numba's options and our stamp."""
    dispatcher = njit(cache=True, **options)(function)
    # Numba offers no public way to set the stamp that decides whether an index file is valid.
    dispatcher._cache._cache_file._source_stamp = source_stamp()
    return cast(_F, dispatcher)


def kernel(function: _F) -> _F:
    """Compile a function, keeping its types for the type checker."""
    return compile_kernel(function)


def is_cached(compiled: Any) -> bool:
    """Whether the cache holds a version of this kernel for the present sources."""
    return bool(compiled._cache._cache_file._load_index())


def cache_folder(compiled: Any) -> Path:
    """Where the cache of this kernel's file lies."""
    return Path(compiled.stats.cache_path)
