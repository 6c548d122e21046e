"""Detect the dialect of a client on this host from its process.

The wire does not distinguish the two wheels early enough. For a loopback connection, this module
follows the peer port to the socket inode, the process, the mapped client library and the version
of the wheel that contains it.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from jaywalk.server.encoding.codec import DIALECTS, Dialect

_DIST_INFO = re.compile(r"^carla-(\d+\.\d+\.\d+)")
_LOOPBACK_PREFIXES = ("127.", "::1", "::ffff:127.")


def is_local(peer_address: str) -> bool:
    """Return whether a client runs on this host, so that its process can be inspected."""
    return peer_address.startswith(_LOOPBACK_PREFIXES)


def recognise_peers(peer_ports: list[int], local_port: int) -> list[Dialect | None]:
    """Return the dialects of clients on this host; None where it cannot be determined.

    However many there are, the tables of the system are read once. That takes up to some hundred
    milliseconds on a busy machine: never call this inside the event loop.
    """
    inodes = _socket_inodes(local_port)
    peer_inodes = [inodes.get(port) for port in peer_ports]
    owners = _owners_of({inode for inode in peer_inodes if inode is not None})
    dialects = {pid: _dialect_of(pid) for pid in set(owners.values())}
    return [dialects.get(owners.get(inode, -1)) if inode else None for inode in peer_inodes]


def _dialect_of(pid: int) -> Dialect | None:
    library = _client_library(pid)
    return _version_beside(library) if library else None


def _socket_inodes(local_port: int) -> dict[int, str]:
    """Inode of the other end of every local connection to our port, by its port."""
    end = f":{local_port:04X}"
    inodes: dict[int, str] = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            # A peer that has closed already has inode 0: no process holds it.
            if fields[2].endswith(end) and fields[9] != "0":
                inodes.setdefault(int(fields[1].rsplit(":", 1)[-1], 16), fields[9])
    return inodes


def _owners_of(inodes: set[str]) -> dict[str, int]:
    """Return the processes that hold these sockets, as far as permissions allow."""
    links = {f"socket:[{inode}]": inode for inode in inodes}
    owners: dict[str, int] = {}
    # Young processes first: a client that has just connected has usually just been started.
    for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdigit()), reverse=True):
        if len(owners) == len(links):
            break
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(folder):
                inode = links.get(os.readlink(f"{folder}/{descriptor}"))
                if inode is not None:
                    owners.setdefault(inode, pid)
    return owners


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
