"""Checks of this machine for ``jaywalk doctor``: one function per line of its answer."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import psutil

from jaywalk.core.errors import JaywalkError
from jaywalk.core.extras import EXTRAS

OK, NOTE, MISSING = "ok", "note", "fix"
CARLA_VERSION: Final = "0.9.16"
PORTS: Final = (2000, 2001, 2002)
_LEAST_DISK_GB: Final = 1.0
_LEAST_MEMORY_GB: Final = 1.0
_GB: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFinding:
    """One finding: ``ok``, a ``note`` (works nevertheless) or a ``fix`` that is needed."""

    check: str
    state: str
    detail: str
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return asdict(self)


def examine() -> Iterator[HealthFinding]:
    """Yield all findings, in a helpful reading order."""
    for check in CHECKS:
        yield from check()


def _python() -> Iterator[HealthFinding]:
    detail = f"Python {platform.python_version()}"
    if (3, 11) <= sys.version_info[:2] <= (3, 12):
        yield HealthFinding(check="python", state=OK, detail=detail)
    else:
        yield HealthFinding(
            check="python",
            state=MISSING,
            detail=detail,
            fix="make a virtual environment with Python 3.11 or 3.12",
        )


def _system() -> Iterator[HealthFinding]:
    detail = f"{platform.system()} {platform.machine()}"
    good = sys.platform == "linux"
    yield HealthFinding(
        check="system",
        state=OK if good else MISSING,
        detail=detail,
        fix="" if good else "use Linux (on Windows: WSL 2); the server needs epoll",
    )


def _cpu() -> Iterator[HealthFinding]:
    from llvmlite import binding

    cores = len(psutil.Process().cpu_affinity())
    features = binding.get_host_cpu_features()
    widest = next((name for name in ("avx512f", "avx2", "avx") if features.get(name)), "")
    detail = f"{cores} cores usable, {widest or 'no AVX'}"
    if cores >= 2:
        yield HealthFinding(check="cpu", state=OK, detail=detail)
    else:
        yield HealthFinding(
            check="cpu",
            state=NOTE,
            detail=detail,
            fix="give it two cores or more: a client waits for its server while spinning on one",
        )


def _carla_wheel() -> Iterator[HealthFinding]:
    command = f"{sys.executable} -m pip install carla=={CARLA_VERSION}"
    try:
        installed = version("carla")
    except PackageNotFoundError:
        installed = ""
    good = installed == CARLA_VERSION
    yield HealthFinding(
        check="carla wheel",
        state=OK if good else MISSING,
        detail=installed or "not installed",
        fix="" if good else command,
    )


def _ports() -> Iterator[HealthFinding]:
    busy = [port for port in PORTS if not port_is_free(port)]
    if not busy:
        yield HealthFinding(check="ports", state=OK, detail="2000-2002 are free")
        return
    holder = _holder(busy[0])
    yield HealthFinding(
        check="ports",
        state=NOTE,
        detail=f"{', '.join(map(str, busy))} in use{f' by {holder}' if holder else ''}",
        fix=f"stop that program, or use 'jaywalk serve --port {_free_block(PORTS[-1] + 1)}'",
    )


def port_is_free(port: int) -> bool:
    """Return True if a server could listen on this port of the loopback address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_block(first: int) -> int:
    return next(p for p in range(first, 65533, 10) if all(port_is_free(p + k) for k in range(3)))


def _holder(port: int) -> str:
    try:
        connections = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return ""
    for connection in connections:
        listens = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
        if listens and connection.pid:
            return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return ""


def _kernels() -> Iterator[HealthFinding]:
    from jaywalk.core.kernels import cache_folder
    from jaywalk.server.start import kernels_are_compiled
    from jaywalk.server.world.vehicle_dynamics import step_vehicles

    folder = cache_folder(step_vehicles)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        yield HealthFinding(
            check="kernel cache",
            state=MISSING,
            detail=f"{folder} cannot be written",
            fix="set NUMBA_CACHE_DIR to a writable folder, or every start compiles again",
        )
    elif kernels_are_compiled():
        yield HealthFinding(check="kernel cache", state=OK, detail=f"warm, in {folder}")
    else:
        yield HealthFinding(
            check="kernel cache",
            state=NOTE,
            detail=f"cold, in {folder}",
            fix="nothing to do: the first start compiles, once, for one to three minutes",
        )


def _towns() -> Iterator[HealthFinding]:
    from jaywalk.town.town import available_towns, load_town

    for name in available_towns():
        try:
            town = load_town(name)
            detail = f"{name}: {len(town.spawn_points)} spawn points, {len(town.lights)} lights"
            yield HealthFinding(check="town", state=OK, detail=detail)
        except JaywalkError as problem:
            yield HealthFinding(
                check="town",
                state=MISSING,
                detail=f"{name}: {problem}",
                fix=f"run 'jaywalk town check' on the file of {name}, or reinstall jaywalk",
            )


def _memory() -> Iterator[HealthFinding]:
    memory = psutil.virtual_memory()
    detail = f"{memory.available / _GB:.1f} of {memory.total / _GB:.1f} GB available"
    good = memory.available / _GB >= _LEAST_MEMORY_GB
    fix = "" if good else f"close programs until {_LEAST_MEMORY_GB:g} GB are available"
    yield HealthFinding(check="memory", state=OK if good else MISSING, detail=detail, fix=fix)


def _disk() -> Iterator[HealthFinding]:
    free_gb = shutil.disk_usage(Path.cwd()).free / _GB
    good = free_gb >= _LEAST_DISK_GB
    fix = "" if good else f"free {_LEAST_DISK_GB:g} GB, or work in another folder"
    detail = f"{free_gb:.1f} GB free here"
    yield HealthFinding(check="disk", state=OK if good else MISSING, detail=detail, fix=fix)


def _extras() -> Iterator[HealthFinding]:
    for extra in EXTRAS:
        if extra.installed:
            yield HealthFinding(check=f"extra {extra.name}", state=OK, detail=extra.summary)
        else:
            yield HealthFinding(
                check=f"extra {extra.name}",
                state=NOTE,
                detail=f"not installed; {extra.summary}",
                fix=extra.install_command,
            )


CHECKS: Final[tuple[Callable[[], Iterator[HealthFinding]], ...]] = (
    _python,
    _system,
    _cpu,
    _memory,
    _disk,
    _carla_wheel,
    _ports,
    _kernels,
    _towns,
    _extras,
)
