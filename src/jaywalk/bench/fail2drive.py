"""``jaywalk bench fail2drive``: what the 200 routes cost, by a sample of them or all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.bench.suite_sample import SuiteSample, at_most
from jaywalk.runner.crew import EPISODE_MODULE

AIM_SUITE_MIN: Final = 15.0
# One pair of each kind of cost: an obstacle, a minute's wait, a junction, people.
SAMPLE: Final = "5,1005,31,1031,57,1057,81,1081,85,1085"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail2DriveBenchmark(SuiteSample):
    """Some routes of the suite, beside its aim."""

    @property
    def suite_min(self) -> float:
        """Minutes of the whole suite, one seed on two cores of its own, by these episodes."""
        return self.whole_suite_min(1)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aim next to what was measured."""
        aims = {"suite_min": at_most(AIM_SUITE_MIN, self.suite_min)}
        return self.measured() | {"suite_min": self.suite_min, "aims": aims}


def bench_fail2drive(
    *,
    agent: str = "expert",
    subset: str = SAMPLE,
    module: str = EPISODE_MODULE,
    say: Callable[[str], None] = lambda _: None,
) -> Fail2DriveBenchmark:
    """Drive some routes of the suite, ``all`` of them if asked; see ``SuiteSample.drive``."""
    return Fail2DriveBenchmark.drive(
        "fail2drive", agent=agent, subset=subset, module=module, say=say
    )
