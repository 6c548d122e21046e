"""Execution of runs: episodes in, records out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.runner.job import RunRequest as RunRequest
    from jaywalk.runner.job import RunSummary as RunSummary
    from jaywalk.runner.job import run_request as run_request
    from jaywalk.runner.plan import AgentSpec as AgentSpec
    from jaywalk.runner.plan import EpisodePlan as EpisodePlan
    from jaywalk.runner.session import SimulatorSession as SimulatorSession

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "job": (
            "RunRequest",
            "RunSummary",
            "run_request",
        ),
        "plan": (
            "AgentSpec",
            "EpisodePlan",
        ),
        "session": ("SimulatorSession",),
    },
)
