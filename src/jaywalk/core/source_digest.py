"""Digest of the package's source files, which identifies the code that wrote a run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("jaywalk", "jaywalk_agent")
SHORT: Final = 12  # characters of a digest in messages and tables


def source_files(package: Path) -> Iterator[Path]:
    """Code and data files of a package in a fixed order; caches and hidden files are left out."""
    for folder, below, names in os.walk(package):
        below[:] = sorted(entry for entry in below if entry != "__pycache__" and entry[0] != ".")
        for name in sorted(names):
            if name[0] != "." and not name.endswith((".pyc", "~")):
                yield Path(folder) / name


def digest_files(package: Path) -> str:
    """SHA-256 over the relative paths and the bytes of all files of a package."""
    total = hashlib.sha256()
    for path in source_files(package):
        content = path.read_bytes()
        total.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


@cache
def sources_digest() -> str:
    """Digest of the packages that this process runs, computed once (some 50 ms)."""
    total = hashlib.sha256()
    for name in PACKAGES:
        spec = find_spec(name)
        places = [] if spec is None else list(spec.submodule_search_locations or [])
        for place in places:
            total.update(f"{name}\0{digest_files(Path(place))}\n".encode())
    return total.hexdigest()
