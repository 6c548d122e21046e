"""Worker process: keeps a world open and runs the episodes it receives, one after another.

Started by :mod:`jaywalk.runner.local` as ``python -m jaywalk.runner._worker FD PARENT_PID``. It
communicates over the inherited socket and ends when that closes. It also ends after any fault, so
that the next episode begins in a fresh process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import sys
import traceback
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, NoReturn

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
    OpeningWorld,
    Setup,
    WorkerMessage,
)

# Errors that a retry may avoid; all others concern the plan itself.
_RETRYABLE_ERRORS = (InfrastructureError, PrerequisiteError)


class _ParentIsGone(BaseException):
    """Parent ended. Not an Exception, so that no handler takes it for a failure of the agent."""


class _WorldKeeper:
    """Holder of an open world; the seed of a server is fixed, so each seed needs another world."""

    def __init__(self, setup: Setup, module: ModuleType) -> None:
        self._setup, self.module = setup, module
        self._world: Any = None
        self._seed: int | None = None

    def has_world(self, seed: int) -> bool:
        """Return True if a world for this seed is already open."""
        return self._world is not None and (bool(self._setup.server) or self._seed == seed)

    def world(self, seed: int) -> Any:
        """Return the open world; opens one if needed."""
        if not self.has_world(seed):
            self.close()
            if self._setup.server:
                self._world = self.module.SimulatorSession.attach(
                    *parse_address(self._setup.server)
                )
            else:
                self._world = self.module.SimulatorSession.embedded(seed=seed)
            self._seed = seed
        return self._world

    def close(self) -> None:
        """Close the world, if one is open."""
        if self._world is not None:
            self._world.close()
            self._world = None


def main(fd: int, parent_pid: int) -> NoReturn:
    """Serve episodes until the parent ends the connection."""
    exit_with_parent(parent_pid)
    os.set_inheritable(fd, False)
    line = Connection(fd)
    code = 0
    try:
        setup: Setup = line.recv()
        keeper = _WorldKeeper(setup, importlib.import_module(setup.module))
        while (plan := line.recv()) is not None:
            if not _serve(line, setup, keeper, plan):
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


def _serve(line: Connection, setup: Setup, keeper: _WorldKeeper, plan: EpisodePlan) -> bool:
    """Run one episode and report it; return False after a fault."""

    def tell(message: WorkerMessage) -> None:
        try:
            line.send(message)
        except OSError as problem:
            raise _ParentIsGone from problem

    def beat(simulated_s: float, route_share: float, doing: str) -> None:
        tell(Beat(simulated_s=float(simulated_s), route_share=float(route_share), doing=doing))

    fault = Fault.WORLD
    try:
        if not keeper.has_world(plan.seed):
            tell(OpeningWorld())
        world = keeper.world(plan.seed)
        fault = Fault.EPISODE
        tell(EpisodeBegins())
        found = keeper.module.run_episode(plan, world, setup.run_folder, beat, setup.watchdog_s)
    except Exception as problem:
        traceback.print_exc()
        if fault is Fault.EPISODE and _is_about_the_plan(problem):
            fault = Fault.PLAN
        elif isinstance(problem, AgentUnreachableError):
            fault = Fault.AGENT
        tell(EpisodeFault(fault=fault, error=f"{type(problem).__name__}: {problem}"))
        return False
    # Use the runner's own types, so that the parent need not import modules of the worker.
    names = [field.name for field in dataclasses.fields(EpisodeOutcome)]
    outcome = EpisodeOutcome(**{name: getattr(found, name) for name in names})
    tell(EpisodeDone(outcome=outcome))
    return True


def _is_about_the_plan(problem: Exception) -> bool:
    return isinstance(problem, JaywalkError) and not isinstance(problem, _RETRYABLE_ERRORS)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
