"""A server in its own process, as a user starts it, and clients of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import jaywalk

_READY = re.compile(r"^jaywalk: serving (\S+) on (\S+):(\d+)")
_COMMAND = "from jaywalk.cli.main import main; main()"
START_TIMEOUT_S = 900.0  # a cold kernel cache compiles for minutes on a busy machine


def environment() -> dict[str, str]:
    """Environment in which a child process imports the package under test."""
    source = str(Path(jaywalk.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def serve_command(*options: str, waits: dict[str, float] | None = None) -> list[str]:
    """Command line of ``jaywalk serve``, with other values for the server's waits if given."""
    code = _COMMAND
    for name, seconds in (waits or {}).items():
        code = f"{name}; {name} = {seconds!r}; {code}"
    if waits:
        code = f"from jaywalk.server.protocol import _server as server, _streams as streams; {code}"
    return [sys.executable, "-c", code, "serve", *options]


def _die_with_parent() -> None:
    """A test process that crashes leaves no server behind (Linux)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class LiveServer:
    """``jaywalk serve`` on a free port."""

    def __init__(self, *options: str, waits: dict[str, float] | None = None) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed by stop)
        self.process = subprocess.Popen(
            serve_command("--port", "0", *options, waits=waits),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment(),
            preexec_fn=_die_with_parent,
        )
        self.ready_line = self._read_ready_line()
        match = _READY.match(self.ready_line)
        if match is None:
            said = self.errors()
            self.stop()
            raise AssertionError(f"no ready line from the server: {self.ready_line!r}; {said}")
        self.town, self.host = match.group(1), match.group(2)
        self.port = int(match.group(3))

    def _read_ready_line(self) -> str:
        assert self.process.stdout is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if select.select([self.process.stdout], [], [], 1.0)[0]:
                return self.process.stdout.readline()
        return ""

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def errors(self) -> str:
        """The end of what it wrote to stderr."""
        self._errors.seek(0)
        return self._errors.read()[-4000:]

    def open_files(self) -> int:
        """How many files and sockets the server process holds."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu_s(self) -> float:
        """Processor time that the server process has used, in steps of some 10 ms."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log_bytes(self) -> int:
        """How much it has written to stderr."""
        return os.fstat(self._errors.fileno()).st_size

    def resident_mb(self) -> float:
        """Resident memory of the server process."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> int:
        """Ask it to stop, insist after a minute; returns the exit code."""
        if self.alive:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(60.0)
        if self.alive:
            self.process.kill()
        code = self.process.wait(60.0)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._errors.close()
        return code


@contextlib.contextmanager
def live_server(*options: str, waits: dict[str, float] | None = None) -> Iterator[LiveServer]:
    """A server for the length of a block.

    ``waits`` replaces constants of ``jaywalk.server.protocol`` such as ``server._GRACE_S``. A wait
    without end shows that something else happened first, whatever the speed of the machine.
    """
    server = LiveServer(*options, waits=waits)
    try:
        yield server
        # A server never ends by itself; one that did is a crash of ours, whatever the test saw.
        assert server.alive, f"the server ended ({server.process.returncode}): {server.errors()}"
    finally:
        code = server.stop()
    assert code == 0, f"the server did not stop when it was asked to (exit {code})"
