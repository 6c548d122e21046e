"""``jaywalk bench habit``: what episodes of the suite ``habit`` cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.bench.suite_sample import SuiteSample, at_least, at_most
from jaywalk.runner.crew import EPISODE_MODULE

AIM_SIMULATED_PER_CPU_S: Final = 6.0
AIM_SUITE_MIN: Final = 45.0
# Every eleventh route, from the fourth on: of the eleven such samples the one whose episodes last
# as long as the suite's do on average (``expert``, 330 episodes; from the first on: 1.35 times).
SAMPLE: Final = "4,15,26,37,48,59,70,81,92,103"
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
        minutes = at_most(AIM_SUITE_MIN, self.suite_min)
        aims = {"simulated_per_cpu_s": per_cpu_s, "suite_min": minutes}
        return self.measured() | {"suite_min": self.suite_min, "aims": aims}


def bench_habit(
    *,
    agent: str = "expert",
    subset: str = SAMPLE,
    module: str = EPISODE_MODULE,
    say: Callable[[str], None] = lambda _: None,
) -> HabitBenchmark:
    """Drive some routes of the suite, ``all`` of them if asked; see ``SuiteSample.drive``."""
    return HabitBenchmark.drive("habit", agent=agent, subset=subset, module=module, say=say)
