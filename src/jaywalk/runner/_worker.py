"""Worker process: keeps a session open and runs the episodes it receives, one after another.

Started by :mod:`jaywalk.runner.local` as ``python -m jaywalk.runner._worker FD PARENT_PID``. It
communicates over the inherited socket and ends when that closes. It also ends after any fault, so
that the next episode begins in a fresh process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, NoReturn, Protocol, Self, TypeVar

from jaywalk.core.address import parse_address
from jaywalk.core.errors import (
    AgentUnreachableError,
    InfrastructureError,
    JaywalkError,
    PrerequisiteError,
)
from jaywalk.core.process import exit_with_parent
from jaywalk.runner.plan import EpisodeOutcome, EpisodePlan
from jaywalk.runner.pool import (
    Beat,
    EpisodeBegins,
    EpisodeDone,
    EpisodeFault,
    Fault,
    OpeningSession,
    Setup,
    WorkerMessage,
)

# Errors that a retry may avoid; all others concern the plan itself.
_RETRYABLE_ERRORS = (InfrastructureError, PrerequisiteError)


class _ParentIsGone(BaseException):
    """Parent ended. Not an Exception, so that no handler takes it for a failure of the agent."""


class Session(Protocol):
    """Connection to a server, as :class:`~jaywalk.runner.session.SimulatorSession`."""

    @classmethod
    def embedded(cls, *, seed: int) -> Self:
        """Start a server."""

    @classmethod
    def attach(cls, host: str, port: int) -> Self:
        """Use a running server."""

    def close(self) -> None:
        """Disconnect, and end a server that was started."""


S = TypeVar("S", bound=Session)
Heartbeat = Callable[[float, float, str], None]
# The signature of jaywalk.runner._episode.run_episode.
EpisodeRunner = Callable[[EpisodePlan, S, Path, Heartbeat, float], EpisodeOutcome]


class _SessionKeeper(Generic[S]):
    """Holder of an open session; a server has one seed, so each seed needs another session."""

    def __init__(self, setup: Setup, sessions: type[S]) -> None:
        self._setup, self._sessions = setup, sessions
        self._session: S | None = None
        self._seed: int | None = None

    def has_session(self, seed: int) -> bool:
        """Return True if a session for this seed is already open."""
        return self._session is not None and (bool(self._setup.server) or self._seed == seed)

    def session(self, seed: int) -> S:
        """Return the open session; opens one if needed."""
        if self._session is None or not self.has_session(seed):
            self.close()
            if self._setup.server:
                self._session = self._sessions.attach(*parse_address(self._setup.server))
            else:
                self._session = self._sessions.embedded(seed=seed)
            self._seed = seed
        return self._session

    def close(self) -> None:
        """Close the session, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None


def main(fd: int, parent_pid: int, sessions: type[S], run_episode: EpisodeRunner[S]) -> NoReturn:
    """Serve episodes until the parent ends the connection.

    Args:
        fd: Inherited socket to the parent.
        parent_pid: The worker ends with this process.
        sessions: Opens the connections to servers.
        run_episode: Runs one episode.
    """
    exit_with_parent(parent_pid)
    os.set_inheritable(fd, False)
    line = Connection(fd)
    code = 0
    try:
        setup: Setup = line.recv()
        keeper = _SessionKeeper(setup, sessions)
        while (plan := line.recv()) is not None:
            if not _serve(line, setup, keeper, run_episode, plan):
                code = 1
                break
        with contextlib.suppress(Exception):
            keeper.close()
    except (EOFError, _ParentIsGone):
        code = 2  # there is no parent to report to
    # The wheel's threads sometimes hang or abort at interpreter exit; all files are written by now.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve(
    line: Connection,
    setup: Setup,
    keeper: _SessionKeeper[S],
    run_episode: EpisodeRunner[S],
    plan: EpisodePlan,
) -> bool:
    """Run one episode and report it; return False after a fault."""

    def send(message: WorkerMessage) -> None:
        try:
            line.send(message)
        except OSError as problem:
            raise _ParentIsGone from problem

    def beat(simulated_s: float, route_share: float, doing: str) -> None:
        send(Beat(simulated_s=float(simulated_s), route_share=float(route_share), doing=doing))

    fault = Fault.SESSION
    try:
        if not keeper.has_session(plan.seed):
            send(OpeningSession())
        session = keeper.session(plan.seed)
        fault = Fault.EPISODE
        send(EpisodeBegins())
        outcome = run_episode(plan, session, setup.run_folder, beat, setup.watchdog_s)
    except Exception as problem:
        traceback.print_exc()
        if fault is Fault.EPISODE and _is_about_the_plan(problem):
            fault = Fault.PLAN
        elif isinstance(problem, AgentUnreachableError):
            fault = Fault.AGENT
        send(EpisodeFault(fault=fault, error=f"{type(problem).__name__}: {problem}"))
        return False
    send(EpisodeDone(outcome=outcome))
    return True


def _is_about_the_plan(problem: Exception) -> bool:
    return isinstance(problem, JaywalkError) and not isinstance(problem, _RETRYABLE_ERRORS)


if __name__ == "__main__":
    from jaywalk.runner._episode import run_episode
    from jaywalk.runner.session import SimulatorSession

    main(int(sys.argv[1]), int(sys.argv[2]), SimulatorSession, run_episode)
