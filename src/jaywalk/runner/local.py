"""Supervised worker processes on this machine, each with its own server."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final

from jaywalk.record.run import RunFolder
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.pool import (
    Beat,
    Broken,
    EpisodeBegins,
    EpisodeDone,
    EpisodeFault,
    Event,
    Fault,
    Finished,
    OpeningSession,
    PoolProgress,
    Setup,
    WorkerMessage,
)
from jaywalk.runner.watchdog import Watchdog, kill_tree

#: Arguments of the interpreter that start a worker.
WORKER_PROGRAM: Final = ("-m", "jaywalk.runner._worker")
_CLOSE_S: Final = 10.0
_LOG_TAIL_CHARS: Final = 400  # characters of a dead worker's log that go into the error


class LocalWorkers:
    """:class:`~jaywalk.runner.pool.Workers` in processes; a dead one is replaced when needed."""

    def __init__(
        self, setup: Setup, size: int, *, lock_fd: int | None = None, log_prefix: str = ""
    ) -> None:
        """Create the slots; processes start with their first episode.

        Args:
            setup: Settings for the workers.
            size: Number of slots.
            lock_fd: Open lock file that workers also hold, see ``RunLock``.
            log_prefix: Distinguishes the logs of several crews in one run folder.
        """
        self._setup, self._log_prefix = setup, log_prefix
        self._lock_fd = lock_fd
        self._workers: list[_Worker | None] = [None] * size

    @property
    def size(self) -> int:
        """Number of slots."""
        return len(self._workers)

    def name(self, slot: int) -> str:
        """Machine and process."""
        worker = self._workers[slot]
        return f"{socket.gethostname()}:{worker.pid}" if worker else ""

    def start(self, slot: int, plan: EpisodePlan) -> None:
        """Begin an episode in a free slot."""
        worker = self._workers[slot]
        if worker is None or not worker.is_alive:
            if worker is not None:
                worker.kill()
            log = RunFolder(self._setup.run_folder).logs / f"{self._log_prefix}worker-{slot}.log"
            worker = _Worker(self._setup, slot, log, self._lock_fd)
            self._workers[slot] = worker
        worker.begin(plan)

    def wait(self, timeout_s: float) -> list[Event]:
        """Return events; returns before the timeout if there are any."""
        busy = [worker for worker in self._workers if worker and worker.plan is not None]
        if busy:
            wait([worker.line for worker in busy], timeout_s)
        else:
            time.sleep(timeout_s)
        return [event for worker in busy for event in worker.news()]

    def close(self, *, at_once: bool = False) -> None:
        """End all workers with their servers."""
        workers = [worker for worker in self._workers if worker is not None]
        if not at_once:
            for worker in workers:
                worker.ask_to_end()
            deadline_s = time.monotonic() + _CLOSE_S
            for worker in workers:
                worker.wait_for_end(deadline_s - time.monotonic())
        for worker in workers:
            worker.kill()
        self._workers = [None] * len(self._workers)


class _Worker:
    """One worker process, seen from its parent."""

    def __init__(self, setup: Setup, slot: int, log_path: Path, lock_fd: int | None) -> None:
        self._slot, self._setup, self._log = slot, setup, log_path
        self._watchdog = Watchdog(limit_s=setup.watchdog_s)
        self.plan: EpisodePlan | None = None
        self._log.parent.mkdir(parents=True, exist_ok=True)
        ours, theirs = socket.socketpair()
        with theirs, self._log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *WORKER_PROGRAM,
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno(), *([] if lock_fd is None else [lock_fd])],
                # Ctrl-C in the terminal goes to the scheduler, which then ends its workers.
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        self.line = Connection(ours.detach())
        self._send(setup)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def begin(self, plan: EpisodePlan) -> None:
        self.plan = plan
        # Until the worker reports its activity, it is starting up and may open a world.
        self._watchdog.expect(time.monotonic(), "starting")
        self._send(plan)

    def _send(self, message: Setup | EpisodePlan | None) -> None:
        # A worker that has just died is detected when its line is read.
        with contextlib.suppress(OSError):
            self.line.send(message)

    def news(self) -> list[Event]:
        """Read new messages; a dead or late worker is killed and reported."""
        events: list[Event] = []
        ended = not self.is_alive
        try:
            while self.plan is not None and self.line.poll():
                events += self._read(self.line.recv())
        except (EOFError, OSError):
            ended = True
        if self.plan is not None and ended:
            events.append(self._broken(Fault.EPISODE, self._exit_report()))
        elif self.plan is not None and self._watchdog.is_late(time.monotonic()):
            error = f"stuck while {self._watchdog.doing}: no progress for too long; ended"
            events.append(self._broken(Fault.EPISODE, error))
        return events

    def _read(self, message: WorkerMessage) -> list[Event]:
        assert self.plan is not None
        now_s = time.monotonic()
        match message:
            case OpeningSession():
                self._watchdog.expect(now_s, "opening a session")
            case EpisodeBegins():
                self._watchdog.expect(now_s, "beginning")
            case Beat(simulated_s=simulated_s, route_share=share, doing=doing):
                self._watchdog.beat(now_s, simulated_s, doing)
                return [
                    PoolProgress(
                        slot=self._slot,
                        episode_id=self.plan.episode_id,
                        simulated_s=simulated_s,
                        route_share=share,
                        doing=doing,
                    )
                ]
            case EpisodeDone(outcome=outcome):
                self._rest()
                return [Finished(slot=self._slot, outcome=outcome)]
            case EpisodeFault(fault=fault, error=error):
                return [self._broken(fault, error)]
        return []

    def _broken(self, fault: Fault, error: str) -> Broken:
        assert self.plan is not None
        name = self.plan.episode_id
        self._rest()
        self.kill()
        return Broken(slot=self._slot, episode_id=name, fault=fault, error=error)

    def _rest(self) -> None:
        self.plan = None
        self._watchdog.rest()

    def _exit_report(self) -> str:
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "the worker closed its line"
        how = f"signal {_signal_name(-code)}" if code < 0 else f"exit code {code}"
        said = _end_of(self._log, self._log_start)
        return f"the worker ended with {how}" + (f"; it said: {said}" if said else "")

    def ask_to_end(self) -> None:
        self._send(None)

    def wait_for_end(self, timeout_s: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(timeout_s, 0.0))

    def kill(self) -> None:
        """Kill the process and its server."""
        if self.is_alive:
            kill_tree(self.pid)
        self._process.wait()
        self.line.close()


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _end_of(path: Path, start: int) -> str:
    with path.open("rb") as log:
        log.seek(start)
        text = log.read().decode(errors="replace")
    return " ".join(text.split())[-_LOG_TAIL_CHARS:]
