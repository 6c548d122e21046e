"""Trial of an agent before a run: it is loaded and set up in its own process.

A broken agent is thus reported before the first episode, also if its import ends the process.
:func:`try_agent` starts the process as ``python -m jaywalk.runner._trial FD PARENT_PID``. It sets
the agent up on the stage of an episode, with the agent's sensors, and asks for no decision.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import IO, Any, Final, NoReturn

from jaywalk.core.address import parse_address
from jaywalk.core.errors import AgentUnreachableError, JaywalkError, PrerequisiteError, UsageError
from jaywalk.core.process import exit_with_parent
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.watchdog import (
    AgentTimeout,
    Watchdog,
    agent_time_limit_s,
    kill_tree,
    time_limit,
)

_LOADING: Final = "loading"
_STAGING: Final = "preparing a world for"  # not the agent's work; failures are left to the run
_SETTING_UP: Final = "setting up"
_PARTICIPLE: Final = {_LOADING: "loaded", _SETTING_UP: "set up"}
_TAIL_CHARS: Final = 600
_END_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Result of the child; ``cause`` is empty for an agent that works."""

    cause: str = ""
    unreachable: bool = False


def try_agent(plan: EpisodePlan, *, server: str, watchdog_s: float) -> None:
    """Load an agent and set it up on the stage of an episode, in its own process.

    A failure to open a world or to stage the route is not
    reported here: the run reports it.

    Raises:
        UsageError: The agent cannot be loaded or set up; the message names file, line and cause.
        PrerequisiteError: No agent answers at its address.
    """
    name = plan.agent.name
    doing, verdict, ending = _run_child(plan, server, watchdog_s)
    if verdict is None:
        if doing == _STAGING:
            return
        verdict = _Verdict(cause=ending)
    if verdict.unreachable:
        raise PrerequisiteError(verdict.cause)
    if verdict.cause:
        raise UsageError(
            f"The agent {name} cannot be {_PARTICIPLE[doing]}: {verdict.cause} "
            "Fix it and run the same command again; "
            f"'jaywalk check --agent {shlex.quote(name)}' checks more."
        )


def _run_child(
    plan: EpisodePlan, server: str, watchdog_s: float
) -> tuple[str, _Verdict | None, str]:
    """Return what the child did last, its verdict if it gave one, and else how it ended."""
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryFile() as log:
        with theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "jaywalk.runner._trial",
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        line = Connection(ours.detach())
        try:
            doing, verdict, late = _follow(line, (plan, server, watchdog_s), watchdog_s)
            if verdict is not None:
                return doing, verdict, ""
            if late:
                return doing, None, "it did not finish and was ended."
            code = process.wait(_END_S)
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return doing, None, f"its process ended with {how}{_words(log)}."
        finally:
            line.close()
            if process.poll() is None:
                kill_tree(process.pid)
            process.wait()


def _follow(line: Connection, job: Any, watchdog_s: float) -> tuple[str, _Verdict | None, bool]:
    watchdog = Watchdog(limit_s=watchdog_s)
    doing = _LOADING
    watchdog.beat(time.monotonic(), 0.0, doing)
    try:
        line.send(job)
        while not watchdog.is_late(time.monotonic()):
            if not line.poll(0.2):
                continue
            message = line.recv()
            # Plain values: the child's module is __main__, whose classes cannot be unpickled here.
            if isinstance(message, dict):
                return doing, _Verdict(**message), False
            doing = message
            if doing == _STAGING:
                watchdog.expect(time.monotonic(), doing)
            else:
                watchdog.beat(time.monotonic(), 0.0, doing)
    except (EOFError, OSError):
        return doing, None, False
    return doing, None, True


def _words(log: IO[bytes]) -> str:
    log.seek(0)
    text = " ".join(log.read().decode(errors="replace").split())
    return f"; it printed: {text[-_TAIL_CHARS:]}" if text else ""


def _main(fd: int, parent_pid: int) -> NoReturn:
    exit_with_parent(parent_pid)
    os.set_inheritable(fd, False)
    line = Connection(fd)
    plan, server, watchdog_s = line.recv()
    with contextlib.suppress(OSError):
        line.send(asdict(_tried(line, plan, server, watchdog_s)))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # the wheel's threads sometimes hang or abort at interpreter exit


def _tried(line: Connection, plan: EpisodePlan, server: str, watchdog_s: float) -> _Verdict:
    from jaywalk.agents.adapters.sensor_rig import check_driver_sensors
    from jaywalk.agents.load import failure_cause, make_driver
    from jaywalk.runner._episode import briefing_of
    from jaywalk.runner.live_episode import LiveEpisode
    from jaywalk.runner.session import SimulatorSession

    limit_s = agent_time_limit_s(watchdog_s, setting_up=True)
    try:
        with time_limit(limit_s):
            driver = make_driver(plan.agent.name)
    except (Exception, AgentTimeout) as problem:
        return _Verdict(cause=failure_cause(problem, plan.agent.name))
    line.send(_STAGING)
    try:
        world = _open(SimulatorSession, plan, server)
        episode = LiveEpisode(plan, world, None)
    except (JaywalkError, RuntimeError):
        traceback.print_exc()
        return _Verdict()
    line.send(_SETTING_UP)
    try:
        with time_limit(limit_s):
            driver.setup(briefing_of(episode))
            check_driver_sensors(list(driver.sensors()))
    except AgentUnreachableError as problem:
        return _Verdict(cause=str(problem), unreachable=True)
    except (Exception, AgentTimeout) as problem:
        return _Verdict(cause=failure_cause(problem, plan.agent.name, plan.agent.arguments))
    finally:
        with contextlib.suppress(Exception, AgentTimeout), time_limit(limit_s):
            driver.close()
        with contextlib.suppress(Exception):
            episode.finish("agent tried")
            world.close()
    return _Verdict()


def _open(kind: Any, plan: EpisodePlan, server: str) -> Any:
    return kind.attach(*parse_address(server)) if server else kind.embedded(seed=plan.seed)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
