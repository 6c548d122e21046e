"""Run a server in a separate process and end it when the program no longer needs it."""

from __future__ import annotations

import os
import re
import selectors
import socket
import subprocess
import sys
import time
from typing import IO, Final, Self

import psutil

from jaywalk.core.errors import PrerequisiteError

# The first start on a machine compiles the kernels, which takes minutes on a busy one.
START_TIMEOUT_S: Final = 900.0
_READY: Final = re.compile(r"^jaywalk: serving (?P<town>\S+) on (?P<host>\S+):(?P<port>\d+)\b")
_STOP_TIMEOUT_S: Final = 5.0


class ServerProcess:
    """``jaywalk serve`` on a free port; a context manager that ends it.

    It ends with the thread that started it, too (Linux), so that nothing is left behind by a kill.

    Example:
        >>> with ServerProcess(town="Harbour") as server:  # doctest: +SKIP
        ...     client = carla.Client(server.host, server.port)
    """

    def __init__(
        self, *, town: str = "Harbour", seed: int = 0, timeout_s: float = START_TIMEOUT_S
    ) -> None:
        """Start the server and wait until it answers.

        Args:
            town: Name of a town.
            seed: Run seed of the server.
            timeout_s: How long to wait for the ready line.

        Raises:
            PrerequisiteError: The server ended or stayed silent; with its own words.
        """
        started = time.perf_counter()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jaywalk",
                "serve",
                "--port",
                "0",
                "--town",
                town,
                "--seed",
                str(seed),
                "--parent",
                str(os.getpid()),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            line = self._first_line(timeout_s)
            ready = _READY.match(line)
            if ready is None:
                raise PrerequisiteError(
                    f"The server for '{town}' did not start (it said {line.strip()!r}). "
                    f"Run 'jaywalk serve --town {town}' to see why."
                )
        except BaseException:
            self.stop()
            raise
        self.startup_s = time.perf_counter() - started
        self.town, self.host = ready["town"], ready["host"]
        self.port = int(ready["port"])

    def _first_line(self, timeout_s: float) -> str:
        stream: IO[str] = self._process.stdout  # type: ignore[assignment]
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                raise PrerequisiteError(
                    f"The server was not ready after {timeout_s:.0f} s. "
                    "Run 'jaywalk doctor' to see what this machine lacks."
                )
        return stream.readline()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def cpu_s(self) -> float:
        """CPU seconds (user and system) that the server has used so far."""
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)

    def resident_mb(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        return float(psutil.Process(self.pid).memory_info().rss) / 1e6

    def stop(self) -> None:
        """End the process; politely first."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()


def free_port() -> int:
    """Return a port that is free now; the Traffic Manager opens it shortly afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
