"""Who runs episodes for a scheduler, and what they report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.plan import EpisodePlan

EPISODE_MODULE: Final = "jaywalk.runner.episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What every worker of a run has to know.

    Attributes:
        run_folder: Where records go.
        server: ``HOST:PORT`` of a running server; "" for an embedded one per worker.
        module: Has ``World`` and ``run_episode``.
        watchdog_s: Wall seconds an episode may stand still.
    """

    run_folder: Path
    server: str = ""
    module: str = EPISODE_MODULE
    watchdog_s: float


class Fault(Enum):
    """What went wrong, as far as the next step depends on it."""

    EPISODE = "episode"  # crash, lost server, stuck: worth another try
    WORLD = "world"  # no world to run in: if it stays so, nothing can be run
    AGENT = "agent"  # nobody listens where a remote agent should: likewise
    PLAN = "plan"  # the plan itself cannot be run; another try would end the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """An episode goes on."""

    slot: int
    episode_id: str
    simulated_s: float
    route_share: float
    doing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """An episode has been recorded."""

    slot: int
    outcome: EpisodeOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """An attempt came to nothing."""

    slot: int
    episode_id: str
    fault: Fault
    error: str


Event = Progress | Finished | Broken


class Crew(Protocol):
    """A number of slots, each running one episode at a time."""

    @property
    def size(self) -> int:
        """Number of slots."""

    def name(self, slot: int) -> str:
        """Who works in a slot now, for the run's state."""

    def start(self, slot: int, plan: EpisodePlan) -> None:
        """Begin an episode in a free slot."""

    def wait(self, timeout_s: float) -> list[Event]:
        """What happened; returns early when something does."""

    def close(self, *, at_once: bool = False) -> None:
        """End all workers with their servers; ``at_once`` gives up what they are doing."""
