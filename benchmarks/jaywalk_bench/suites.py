"""Some routes of a suite, driven by one worker with its server: what they cost.

``jaywalk bench fail2drive``: what the 200 routes cost, by a sample of them or all.

``jaywalk bench habit``: what episodes of the suite ``habit`` cost.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.pool import Setup
from jaywalk.runner.selection import subset_of
from jaywalk.scenarios.suite import load_suite, with_people_model
from jaywalk_bench.calibration import calibration_ms
from jaywalk_bench.run import Bench, EpisodeCost

ALL: Final = "all"
_CORES: Final = 2
_WATCHDOG_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSample:
    """What was measured."""

    calibration_ms: float
    agent: str
    suite: str
    routes: tuple[str, ...]
    suite_routes: int
    episodes: tuple[EpisodeCost, ...]
    client_peak_mb: float
    server_peak_mb: float

    @classmethod
    def drive(
        cls,
        suite_name: str,
        *,
        agent: str,
        subset: str,
        people_model: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> Self:
        """Run the routes in one worker and measure it and its server.

        Args:
            suite_name: A registered suite.
            agent: Who drives.
            subset: Ids of the routes; ``all``: every one.
            people_model: Model of the people; "": that of the suite.
            say: Told what comes next, for people who wait.
        """
        suite = with_people_model(load_suite(suite_name), people_model)
        items = subset_of(suite, "" if subset == ALL else subset).routes
        say("pure-Python calibration loop")
        calibrated_ms = calibration_ms()
        episodes: list[EpisodeCost] = []
        with tempfile.TemporaryDirectory(prefix="jaywalk-bench-") as folder:
            setup = Setup(run_folder=Path(folder), watchdog_s=_WATCHDOG_S)
            bench = Bench(setup, AgentSpec(name=agent), suite=suite)
            try:
                say("a first episode in each town, not measured (a suite meets it once a worker)")
                for town, item in {item.route.town: item for item in items}.items():
                    bench.run(item, name=f"warm-up-{town}")
                for item in items:
                    say(f"{item.id} in {item.route.town}")
                    episodes.append(bench.run(item, name=item.id))
                client_mb, server_mb = bench.peak_mb()
            finally:
                bench.close()
        return cls(
            calibration_ms=calibrated_ms,
            agent=agent,
            suite=suite.name,
            routes=tuple(item.id for item in items),
            suite_routes=len(suite.routes),
            episodes=tuple(episodes),
            client_peak_mb=client_mb,
            server_peak_mb=server_mb,
        )

    @property
    def cpu_s(self) -> float:
        """CPU seconds of client and server together, over all measured episodes."""
        return sum(episode.client_cpu_s + episode.server_cpu_s for episode in self.episodes)

    @property
    def simulated_per_cpu_s(self) -> float:
        """Simulated seconds per CPU second of client and server together, over all episodes."""
        return sum(episode.simulated_s for episode in self.episodes) / self.cpu_s

    def whole_suite_min(self, seeds: int) -> float:
        """Minutes of the whole suite on two cores of its own, by these episodes."""
        each_s = self.cpu_s / len(self.episodes)
        return each_s * self.suite_routes * seeds / _CORES / 60.0

    def measured(self) -> dict[str, Any]:
        """For JSON, without aims."""
        return {
            "calibration_ms": self.calibration_ms,
            "agent": self.agent,
            "suite": self.suite,
            "routes": list(self.routes),
            "suite_routes": self.suite_routes,
            "cpu_s_per_route": self.cpu_s / len(self.episodes),
            "simulated_per_cpu_s": self.simulated_per_cpu_s,
            "peak_memory_mb": {"client": self.client_peak_mb, "server": self.server_peak_mb},
            "episodes": [episode.as_dict() for episode in self.episodes],
        }


def at_most(limit: float, measured: float) -> dict[str, Any]:
    """An aim for JSON."""
    return {"at_most": limit, "measured": measured, "met": measured <= limit}


def at_least(limit: float, measured: float) -> dict[str, Any]:
    """An aim for JSON."""
    return {"at_least": limit, "measured": measured, "met": measured >= limit}


FAIL2DRIVE_AIM_SUITE_MIN: Final = 15.0
# One pair of each kind of cost: an obstacle, a minute's wait, a junction, people.
FAIL2DRIVE_SAMPLE: Final = "5,1005,31,1031,57,1057,81,1081,85,1085"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail2DriveBenchmark(SuiteSample):
    """Some routes of the suite, beside its aim."""

    @property
    def suite_min(self) -> float:
        """Minutes of the whole suite, one seed on two cores of its own, by these episodes."""
        return self.whole_suite_min(1)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim next to what was measured."""
        aims = {"suite_min": at_most(FAIL2DRIVE_AIM_SUITE_MIN, self.suite_min)}
        return self.measured() | {"suite_min": self.suite_min, "aims": aims}


def bench_fail2drive(
    *,
    agent: str = "expert",
    subset: str = FAIL2DRIVE_SAMPLE,
    say: Callable[[str], None] = lambda _: None,
) -> Fail2DriveBenchmark:
    """Drive some routes of the suite, ``all`` of them if asked; see ``SuiteSample.drive``."""
    return Fail2DriveBenchmark.drive("fail2drive", agent=agent, subset=subset, say=say)


AIM_SIMULATED_PER_CPU_S: Final = 6.0
HABIT_AIM_SUITE_MIN: Final = 45.0
# Every eleventh route, from the fourth on: of the eleven such samples the one whose episodes last
# as long as the suite's do on average (``expert``, 330 episodes; from the first on: 1.35 times).
HABIT_SAMPLE: Final = "4,15,26,37,48,59,70,81,92,103"
_SEEDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitBenchmark(SuiteSample):
    """Some routes of the suite, beside its aims."""

    @property
    def suite_min(self) -> float:
        """CPU minutes of the whole suite with three seeds on two cores, by these episodes."""
        return self.whole_suite_min(_SEEDS)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aims next to what was measured."""
        per_cpu_s = at_least(AIM_SIMULATED_PER_CPU_S, self.simulated_per_cpu_s)
        minutes = at_most(HABIT_AIM_SUITE_MIN, self.suite_min)
        aims = {"simulated_per_cpu_s": per_cpu_s, "suite_min": minutes}
        return self.measured() | {"suite_min": self.suite_min, "aims": aims}


def bench_habit(
    *,
    agent: str = "expert",
    subset: str = HABIT_SAMPLE,
    people_model: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> HabitBenchmark:
    """Drive some routes of the suite, ``all`` of them if asked; see ``SuiteSample.drive``."""
    return HabitBenchmark.drive(
        "habit", agent=agent, subset=subset, people_model=people_model, say=say
    )
