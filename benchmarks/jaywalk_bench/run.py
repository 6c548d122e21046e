"""``jaywalk bench run``: what an episode costs, with everything that takes part in it."""

from __future__ import annotations

import math
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import carla
import polars as pl
import psutil

import jaywalk.record
from jaywalk.core.errors import PrerequisiteError
from jaywalk.runner.local import LocalWorkers
from jaywalk.runner.plan import AgentSpec, EpisodeOutcome, EpisodePlan
from jaywalk.runner.pool import Broken, Finished, PoolProgress, Setup
from jaywalk.scenarios.formats.route_xml import Keypoint, Route
from jaywalk.scenarios.suite import Suite, SuiteRoute
from jaywalk.town.town import load_town
from jaywalk_bench.calibration import calibration_ms

AIM_SIMULATED_PER_CPU_S: Final = 12.0
_TICKS_PER_S: Final = 20.0
_WATCHDOG_S: Final = 300.0
_LENGTH_M: Final = 500.0
_KEYPOINTS: Final = 20
# (vehicles, people): the main one, then what is needed to tell what one more of each costs.
_MAIN: Final = (30, 30)
_CROWDS: Final = (_MAIN, (0, 0), (60, 30), (30, 60))


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeCost:
    """One episode, from the first call to the written record, and its driving alone."""

    vehicles: int  # other than the ego
    people: int
    simulated_s: float
    wall_s: float
    client_cpu_s: float
    server_cpu_s: float
    driving_cpu_ms_per_tick: float  # client and server together

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per wall second."""
        return self.simulated_s / self.wall_s

    @property
    def simulated_per_cpu_s(self) -> float:
        """Simulated seconds per CPU second of client and server together."""
        return self.simulated_s / (self.client_cpu_s + self.server_cpu_s)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **asdict(self),
            "real_time_factor": self.real_time_factor,
            "simulated_per_cpu_s": self.simulated_per_cpu_s,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBenchmark:
    """Everything measured in one go; ``episodes`` begins with the main one."""

    calibration_ms: float
    agent: str
    town: str
    episodes: tuple[EpisodeCost, ...]
    client_peak_mb: float
    server_peak_mb: float

    @property
    def main(self) -> EpisodeCost:
        """30 vehicles and 30 people."""
        return self.episodes[0]

    def costs_per_actor_us(self) -> dict[str, float]:
        """CPU microseconds per tick of one more vehicle, person, or actor of either kind."""
        main, empty, vehicles, people = self.episodes

        def slope(first: EpisodeCost, other: EpisodeCost) -> float:
            more = first.vehicles + first.people - other.vehicles - other.people
            if more == 0:
                return math.nan
            return 1e3 * (first.driving_cpu_ms_per_tick - other.driving_cpu_ms_per_tick) / more

        return {
            "vehicle": slope(vehicles, main),
            "person": slope(people, main),
            "actor": slope(main, empty),
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim next to what was measured."""
        reached = self.main.simulated_per_cpu_s
        return {
            "calibration_ms": self.calibration_ms,
            "agent": self.agent,
            "town": self.town,
            "real_time_factor": self.main.real_time_factor,
            "simulated_per_cpu_s": reached,
            "peak_memory_mb": {"client": self.client_peak_mb, "server": self.server_peak_mb},
            "cost_per_actor_us": {
                name: None if math.isnan(cost) else cost
                for name, cost in self.costs_per_actor_us().items()
            },
            "episodes": [episode.as_dict() for episode in self.episodes],
            "aims": {
                "simulated_per_cpu_s": {
                    "at_least": AIM_SIMULATED_PER_CPU_S,
                    "measured": reached,
                    "met": reached >= AIM_SIMULATED_PER_CPU_S,
                }
            },
        }


def bench_run(
    *,
    agent: str = "cruise",
    town: str = "Harbour",
    say: Callable[[str], None] = lambda _: None,
) -> RunBenchmark:
    """Run episodes in one worker and measure it and its server.

    Args:
        agent: Who drives.
        town: Where.
        say: Told what comes next, for people who wait.
    """
    say("pure-Python calibration loop")
    calibrated_ms = calibration_ms()
    item = minute_route(town)
    with tempfile.TemporaryDirectory(prefix="jaywalk-bench-") as folder:
        setup = Setup(run_folder=Path(folder), watchdog_s=_WATCHDOG_S)
        bench = Bench(setup, AgentSpec(name=agent))
        try:
            say("a first episode, not measured (compiles if the cache is cold)")
            bench.run(replace(item, vehicles=_MAIN[0], people=_MAIN[1]), name="warm-up")
            episodes = []
            for vehicles, people in _CROWDS:
                say(f"{vehicles} vehicles, {people} people")
                crowd = replace(item, vehicles=vehicles, people=people)
                episodes.append(bench.run(crowd, name=f"{vehicles}-{people}"))
            client_mb, server_mb = bench.peak_mb()
        finally:
            bench.close()
    return RunBenchmark(
        calibration_ms=calibrated_ms,
        agent=agent,
        town=town,
        episodes=tuple(episodes),
        client_peak_mb=client_mb,
        server_peak_mb=server_mb,
    )


def minute_route(town: str) -> SuiteRoute:
    """About a minute of town: half a kilometre from the first spawn point that has so much ahead.

    At forks the first way that the map names is taken.
    """
    loaded = load_town(town)
    for pose in loaded.spawn_points:
        point = loaded.carla_map.get_waypoint(carla.Location(pose.x, pose.y, pose.z))
        points = [point.transform.location]
        for _ in range(_KEYPOINTS):
            ahead = point.next(_LENGTH_M / _KEYPOINTS)
            if not ahead:
                break
            point = ahead[0]
            points.append(point.transform.location)
        else:
            return SuiteRoute(id="minute", route=_route_through(points, loaded.name))
    raise PrerequisiteError(f"{town} has no {_LENGTH_M:g} m of road ahead of any spawn point.")


def _route_through(points: list[Any], town: str) -> Route:
    return Route(
        attributes=(("id", "0"), ("town", town)),
        keypoints=tuple(
            Keypoint(attributes=tuple((key, str(getattr(point, key))) for key in "xyz"))
            for point in points
        ),
    )


_SUITE: Final = Suite(name="bench", routes=())


class Bench:
    """One worker, measured from outside."""

    def __init__(self, setup: Setup, agent: AgentSpec, suite: Suite = _SUITE) -> None:
        self._setup, self._agent, self._suite = setup, agent, suite
        self._workers = LocalWorkers(setup, 1)

    def run(self, item: SuiteRoute, name: str) -> EpisodeCost:
        """Run one episode under a name of its own and measure it."""
        item = replace(item, id=name)
        plan = EpisodePlan.of_suite(self._suite, item, seed=1, agent=self._agent)
        self._workers.start(0, plan)
        began_s, before = time.perf_counter(), self._cpu_s()
        samples: list[tuple[float, float]] = []
        outcome = self._wait(samples)
        after = self._cpu_s()
        wall_s = time.perf_counter() - began_s
        actors = jaywalk.record.open(outcome.folder).actors
        kinds = actors.group_by("kind").agg(pl.len()).collect()
        count = dict(zip(kinds["kind"], kinds["len"], strict=True))
        return EpisodeCost(
            vehicles=count.get("vehicle", 1) - 1,
            people=count.get("walker", 0),
            simulated_s=outcome.simulated_s,
            wall_s=wall_s,
            client_cpu_s=after[0] - before[0],
            server_cpu_s=after[1] - before[1],
            driving_cpu_ms_per_tick=_slope_ms_per_tick(samples),
        )

    def _wait(self, samples: list[tuple[float, float]]) -> EpisodeOutcome:
        while True:
            for event in self._workers.wait(0.5):
                if isinstance(event, Broken):
                    raise PrerequisiteError(f"The episode could not be run: {event.error}")
                if isinstance(event, Finished):
                    return event.outcome
                if isinstance(event, PoolProgress) and event.simulated_s > 0.0:
                    samples.append((event.simulated_s, sum(self._cpu_s())))

    def _processes(self) -> tuple[psutil.Process, list[psutil.Process]]:
        host, _, pid = self._workers.name(0).rpartition(":")
        assert host == socket.gethostname()
        client = psutil.Process(int(pid))
        return client, client.children(recursive=True)

    def _cpu_s(self) -> tuple[float, float]:
        """CPU seconds of the worker and of what it started, which is the server."""
        client, below = self._processes()
        return _cpu_of(client), sum(map(_cpu_of, below))

    def peak_mb(self) -> tuple[float, float]:
        """Peak resident memory of the worker and of the server, in MB (10^6 bytes)."""
        client, below = self._processes()
        return _peak_of(client), sum(map(_peak_of, below))

    def close(self) -> None:
        """End worker and server."""
        self._workers.close()


def _cpu_of(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _peak_of(process: psutil.Process) -> float:
    status = Path(f"/proc/{process.pid}/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) * 1024.0 / 1e6
    return float(process.memory_info().rss) / 1e6


def _slope_ms_per_tick(samples: list[tuple[float, float]]) -> float:
    """CPU per tick between the first and the last heartbeat of the driving."""
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return math.nan
    (first_s, first_cpu_s), (last_s, last_cpu_s) = samples[0], samples[-1]
    return 1e3 * (last_cpu_s - first_cpu_s) / ((last_s - first_s) * _TICKS_PER_S)
