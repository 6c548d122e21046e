"""Closed-loop rollouts from a recorded start, and the policies that drive them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.rollouts.inputs import read_cases as read_cases
    from jaywalk.rollouts.job import RolloutRequest as RolloutRequest
    from jaywalk.rollouts.job import run_rollouts as run_rollouts

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "inputs": ("read_cases",),
        "job": (
            "RolloutRequest",
            "run_rollouts",
        ),
    },
)
