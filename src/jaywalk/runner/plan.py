"""What is to be run: one plan per episode, derived from suite, agent, seeds and options alone.

What an episode comes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaywalk.record.episode import Code
from jaywalk.scenarios.suite import Suite, SuiteRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOutcome:
    """An episode that has been recorded; an agent's failure is one, too."""

    episode_id: str
    end_reason: str
    failure: str  # what the agent raised, with its traceback
    record_hash: str
    simulated_s: float
    wall_s: float
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Who drives: a registered name or a file, with its arguments."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePlan:
    """One episode; equal plans give equal records on the same server."""

    suite: str
    variant: str
    item: SuiteRoute
    seed: int
    agent: AgentSpec
    traffic: str = "own"  # or "traffic-manager"
    motions: str = ""  # folder of the people's motion library, "" for ours
    motions_sha256: str = ""  # of what is in it
    opendrive: str | None = None  # text of a town the server does not have by name
    code: Code = field(default_factory=Code)  # of the run; the worker adds its own sources

    @property
    def motions_name(self) -> str:
        """What a record calls the motion library: by content, wherever it lies; "" for ours."""
        if not self.motions:
            return ""
        return f"{Path(self.motions).name} sha256:{self.motions_sha256[:16]}"

    @property
    def episode_id(self) -> str:
        """Unique in a run and safe as a folder name."""
        return f"{self.item.id}-s{self.seed}"


def plan_episodes(
    suite: Suite,
    agent: AgentSpec,
    seeds: Sequence[int],
    *,
    traffic: str = "own",
    motions: str = "",
    motions_sha256: str = "",
    opendrive: str | None = None,
    code: Code | None = None,
) -> list[EpisodePlan]:
    """All episodes of a run: routes in the suite's order, each with every seed."""
    return [
        EpisodePlan(
            suite=suite.name,
            variant=suite.variant,
            item=item,
            seed=seed,
            agent=agent,
            traffic=traffic,
            motions=motions,
            motions_sha256=motions_sha256,
            opendrive=opendrive,
            code=code or Code(),
        )
        for item in suite.routes
        for seed in seeds
    ]
