"""Stands in for ``jaywalk.runner._episode``: tiny records, and every way to fail.

What an episode does is the beginning of its route's id: ``ok``, ``slow``, ``agent-fails``,
``random`` (never twice the same), ``bad-plan``, ``crash-always``, ``hang-always``; and those that
go wrong once and are fine at the next try: ``crash-once``, ``raise-once``, ``server-dies-once``,
``hang-once``, ``crash-late-once``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from record_scenes import write_episode

import jaywalk.runner.local
from jaywalk.core.errors import AgentUnreachableError, DataError, InfrastructureError
from jaywalk.record import record_hash
from jaywalk.runner.plan import AgentSpec, EpisodeOutcome, EpisodePlan
from jaywalk.scenarios.formats.route_xml import parse_routes
from jaywalk.scenarios.suite import Suite, SuiteRoute

_SERVER = (
    "import os, sys, time; from jaywalk.core.process import exit_with_parent;"
    "exit_with_parent(int(sys.argv[1])); print('ready', flush=True); time.sleep(600)"
)
_ROUTE = """<routes><route id="{id}" town="Harbour"><waypoints>
<position x="0" y="0" z="0"/><position x="{x}" y="0" z="0"/></waypoints></route></routes>"""


WORKER = (str(Path(__file__).parent / "programs/fake_worker.py"),)


@contextmanager
def fake_workers() -> Iterator[None]:
    """Workers that this process starts run the episodes of this module."""
    real = jaywalk.runner.local.WORKER_PROGRAM
    jaywalk.runner.local.WORKER_PROGRAM = WORKER
    try:
        yield
    finally:
        jaywalk.runner.local.WORKER_PROGRAM = real


def fake_suite(*ids: str, town: str = "Harbour") -> Suite:
    """A suite with a route for each id."""
    items = []
    for number, name in enumerate(ids):
        text = _ROUTE.format(id=number, x=100 + number).replace("Harbour", town)
        items.append(SuiteRoute(id=name, route=parse_routes(text, name).routes[0]))
    return Suite(name="test/fake-v1", routes=tuple(items))


def write_routes(folder: Path, *ids: str) -> Path:
    """A file of routes; an episode does what the route's id says."""
    path = folder / "r.xml"
    routes = [_ROUTE.format(id=name, x=100 + n)[8:-9] for n, name in enumerate(ids)]
    path.write_text(f"<routes>{''.join(routes)}</routes>")
    return path


def fake_agent(**arguments: object) -> AgentSpec:
    return AgentSpec(name="cruise", arguments=arguments)


class SimulatorSession:
    """A process that sleeps."""

    def __init__(self, process: subprocess.Popen[str] | None) -> None:
        self.process = process

    @classmethod
    def embedded(cls, *, seed: int) -> SimulatorSession:
        if os.environ.get("FAKE_NO_WORLD"):
            raise InfrastructureError("no server today")
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(os.getpid())], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        return cls(process)

    @classmethod
    def attach(cls, host: str, port: int) -> SimulatorSession:
        return cls(None)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def run_episode(
    plan: EpisodePlan, world: SimulatorSession, run_folder: Path, heartbeat, watchdog_s: float
) -> EpisodeOutcome:
    name = plan.episode_id
    with (run_folder / "started.log").open("a") as log:
        server = world.process.pid if world.process else 0
        log.write(f"{name} {os.getpid()} {server}\n")
    kind = plan.item.id.removeprefix("r-").removeprefix("harbour-")  # of routes from files
    heartbeat(0.0, 0.0, "loading")
    if "once" not in kind or _first_time(run_folder / "markers" / name):
        _go_wrong(kind, world, heartbeat)
    if kind.startswith("slow"):
        for step in range(8):
            heartbeat(0.1 * step, step / 8, "driving")
            time.sleep(0.05)
        _wait_for_the_kill(run_folder)
    failure = "Traceback ...\nValueError: boom" if kind.startswith("agent-fails") else ""
    folder = run_folder / "episodes" / name
    reason = "agent failed" if failure else "route completed"
    write_episode(
        folder,
        ticks=12,
        vehicles=1,
        walkers=1,
        seed=plan.seed,
        scenario=plan.item.id,
        variant=str(time.time_ns()) if kind == "random" else "",
        end_reason=reason,
        failure=failure,
        wall={"seconds": time.time() % 1.0},
    )
    if kind.startswith("crash-late-once"):
        os.kill(os.getpid(), signal.SIGKILL)
    return EpisodeOutcome(
        episode_id=name,
        end_reason=reason,
        failure=failure,
        record_hash=record_hash(folder),
        simulated_s=0.55,
        wall_s=0.1,
        folder=folder,
    )


def _wait_for_the_kill(run_folder: Path) -> None:
    """Once ``$FAKE_LET_THROUGH`` records are there, the others never come to an end."""
    enough = int(os.environ.get("FAKE_LET_THROUGH", 10**9))
    while len(list((run_folder / "episodes").glob("[!.]*"))) >= enough:
        time.sleep(0.05)


def _first_time(marker: Path) -> bool:
    if marker.exists():
        return False
    marker.parent.mkdir(exist_ok=True)
    marker.touch()
    return True


def _go_wrong(kind: str, world: SimulatorSession, heartbeat) -> None:
    if kind.startswith(("crash-once", "crash-always")):
        print("last words of the worker", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind.startswith("raise-once"):
        raise InfrastructureError("connection lost")
    if kind.startswith("no-agent"):
        raise AgentUnreachableError("nobody listens at ws://127.0.0.1:9")
    if kind.startswith("bad-plan"):
        raise DataError("the route does not fit into the town")
    if kind.startswith("server-dies-once"):
        os.kill(world.process.pid, signal.SIGKILL)
        world.process.wait()
        raise RuntimeError("time-out while waiting for the simulator")
    if kind.startswith("hang"):
        while True:
            heartbeat(1.0, 0.5, "driving")  # alive, but going nowhere
            time.sleep(0.1)
