"""Recognises the dialect of a client on this host by looking at its process.

Nothing on the wire tells the two wheels apart before it matters, so for a loopback connection we go
peer port -> socket inode -> process -> mapped client library -> version of the wheel beside it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from jaywalk.server.wire.dialect import DIALECTS, Dialect

_DIST_INFO = re.compile(r"^carla-(\d+\.\d+\.\d+)")
_LOOPBACK_PREFIXES = ("127.", "::1", "::ffff:127.")


def recognise_peer(peer_address: str, peer_port: int, local_port: int) -> Dialect | None:
    """Dialect of the client behind a connection, or None when it cannot be told."""
    if not peer_address.startswith(_LOOPBACK_PREFIXES):
        return None
    inode = _socket_inode(peer_port, local_port)
    process = _owner_of(inode) if inode else None
    library = _client_library(process) if process else None
    return _version_beside(library) if library else None


def _socket_inode(peer_port: int, local_port: int) -> str | None:
    ends = (f":{peer_port:04X}", f":{local_port:04X}")
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]):
                # A peer that has closed already has inode 0: no process holds it.
                return fields[9] if fields[9] != "0" else None
    return None


def _owner_of(inode: str) -> int | None:
    wanted = f"socket:[{inode}]"
    # Young processes first: a client that has just connected has usually just been started.
    for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True):
        folder = f"/proc/{pid}/fd"
        try:
            for descriptor in os.listdir(folder):
                if os.readlink(f"{folder}/{descriptor}") == wanted:
                    return pid
        except OSError:
            continue
    return None


def _client_library(pid: int) -> Path | None:
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.rstrip().split(maxsplit=5)[-1]
                if "libcarla" in path and ".so" in path:
                    return Path(path)
    except OSError:
        return None
    return None


def _version_beside(library: Path) -> Dialect | None:
    for folder in list(library.parents)[:3]:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            match = _DIST_INFO.match(name)
            if match and match.group(1) in DIALECTS:
                return DIALECTS[match.group(1)]
    for version, dialect in DIALECTS.items():  # an egg or an unpacked wheel names it in the path
        if version in str(library):
            return dialect
    return None
