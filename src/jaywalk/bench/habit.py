"""``jaywalk bench habit``: what episodes of the suite ``habit`` cost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.bench.calibration import calibration_ms
from jaywalk.bench.run import Bench, EpisodeCost
from jaywalk.runner.crew import EPISODE_MODULE, Setup
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.selection import subset_of
from jaywalk.scenarios.suite import load_suite

AIM_SIMULATED_PER_CPU_S: Final = 6.0
AIM_SUITE_MIN: Final = 45.0
_SEEDS: Final = 3
_CORES: Final = 2
_WATCHDOG_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitBenchmark:
    """Some routes of the suite, one worker with its server."""

    calibration_ms: float
    agent: str
    routes: tuple[str, ...]
    suite_routes: int
    episodes: tuple[EpisodeCost, ...]
    client_peak_mb: float
    server_peak_mb: float

    @property
    def simulated_per_cpu_s(self) -> float:
        """Simulated seconds per CPU second of client and server together, over all episodes."""
        spent = sum(one.client_cpu_s + one.server_cpu_s for one in self.episodes)
        return sum(one.simulated_s for one in self.episodes) / spent

    @property
    def suite_min(self) -> float:
        """CPU minutes of the whole suite with three seeds on two cores, by these episodes."""
        spent = sum(one.client_cpu_s + one.server_cpu_s for one in self.episodes)
        each_s = spent / len(self.episodes)
        return each_s * self.suite_routes * _SEEDS / _CORES / 60.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aims next to what was measured."""
        per_cpu_s, minutes = self.simulated_per_cpu_s, self.suite_min
        return {
            "calibration_ms": self.calibration_ms,
            "agent": self.agent,
            "routes": list(self.routes),
            "simulated_per_cpu_s": per_cpu_s,
            "suite_min": minutes,
            "peak_memory_mb": {"client": self.client_peak_mb, "server": self.server_peak_mb},
            "episodes": [one.as_dict() for one in self.episodes],
            "aims": {
                "simulated_per_cpu_s": {
                    "at_least": AIM_SIMULATED_PER_CPU_S, "measured": per_cpu_s,
                    "met": per_cpu_s >= AIM_SIMULATED_PER_CPU_S,
                },
                "suite_min": {
                    "at_most": AIM_SUITE_MIN, "measured": minutes, "met": minutes <= AIM_SUITE_MIN,
                },
            },
        }  # fmt: skip


def bench_habit(
    *,
    agent: str = "expert",
    subset: str = "2,3",
    module: str = EPISODE_MODULE,
    say: Callable[[str], None] = lambda _: None,
) -> HabitBenchmark:
    """Run some routes of the suite in one worker and measure it and its server.

    Args:
        agent: Who drives.
        subset: Ids of the routes.
        module: Has ``World`` and ``run_episode``.
        say: Told what comes next, for people who wait.
    """
    suite = load_suite("habit")
    items = subset_of(suite, subset).routes
    say("pure-Python calibration loop")
    calibrated_ms = calibration_ms()
    episodes: list[EpisodeCost] = []
    with tempfile.TemporaryDirectory(prefix="jaywalk-bench-") as folder:
        setup = Setup(run_folder=Path(folder), module=module, watchdog_s=_WATCHDOG_S)
        bench = Bench(setup, AgentSpec(name=agent), suite=suite.name)
        try:
            say("a first episode, not measured (compiles if the cache is cold)")
            bench.run(items[0], name="warm-up")
            for item in items:
                say(f"{item.id} in {item.route.town}")
                episodes.append(bench.run(item, name=item.id))
            client_mb, server_mb = bench.peak_mb()
        finally:
            bench.close()
    return HabitBenchmark(
        calibration_ms=calibrated_ms,
        agent=agent,
        routes=_names(items),
        suite_routes=len(suite.routes),
        episodes=tuple(episodes),
        client_peak_mb=client_mb,
        server_peak_mb=server_mb,
    )


def _names(items: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(item.id) for item in items)
