"""``jaywalk bench fail2drive``: what the 200 routes cost, by a sample of them or all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jaywalk.bench.calibration import calibration_ms
from jaywalk.bench.run import Bench, EpisodeCost
from jaywalk.runner.crew import EPISODE_MODULE, Setup
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.selection import subset_of
from jaywalk.scenarios.suite import load_suite

AIM_SUITE_MIN: Final = 15.0
_CORES: Final = 2
_WATCHDOG_S: Final = 300.0
# One pair of each kind of cost: an obstacle, a minute's wait, a junction, people.
SAMPLE: Final = "5,1005,31,1031,57,1057,81,1081,85,1085"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail2DriveBenchmark:
    """Some routes of the suite, one worker with its server."""

    calibration_ms: float
    agent: str
    routes: tuple[str, ...]
    suite_routes: int
    episodes: tuple[EpisodeCost, ...]
    client_peak_mb: float
    server_peak_mb: float

    @property
    def cpu_s(self) -> float:
        """CPU seconds of client and server together, over all measured episodes."""
        return sum(one.client_cpu_s + one.server_cpu_s for one in self.episodes)

    @property
    def suite_min(self) -> float:
        """Minutes of the whole suite, one seed on two cores of its own, by these episodes."""
        return self.cpu_s / len(self.episodes) * self.suite_routes / _CORES / 60.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim next to what was measured."""
        minutes = self.suite_min
        return {
            "calibration_ms": self.calibration_ms,
            "agent": self.agent,
            "routes": list(self.routes),
            "suite_routes": self.suite_routes,
            "cpu_s_per_route": self.cpu_s / len(self.episodes),
            "simulated_per_cpu_s": sum(one.simulated_s for one in self.episodes) / self.cpu_s,
            "suite_min": minutes,
            "peak_memory_mb": {"client": self.client_peak_mb, "server": self.server_peak_mb},
            "episodes": [one.as_dict() for one in self.episodes],
            "aims": {
                "suite_min": {
                    "at_most": AIM_SUITE_MIN, "measured": minutes, "met": minutes <= AIM_SUITE_MIN,
                },
            },
        }  # fmt: skip


def bench_fail2drive(
    *,
    agent: str = "expert",
    subset: str = SAMPLE,
    module: str = EPISODE_MODULE,
    say: Callable[[str], None] = lambda _: None,
) -> Fail2DriveBenchmark:
    """Run some routes of the suite in one worker and measure it and its server.

    Args:
        agent: Who drives.
        subset: Ids of the routes; empty: all 200.
        module: Has ``World`` and ``run_episode``.
        say: Told what comes next, for people who wait.
    """
    suite = load_suite("fail2drive")
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
    return Fail2DriveBenchmark(
        calibration_ms=calibrated_ms,
        agent=agent,
        routes=tuple(item.id for item in items),
        suite_routes=len(suite.routes),
        episodes=tuple(episodes),
        client_peak_mb=client_mb,
        server_peak_mb=server_mb,
    )
