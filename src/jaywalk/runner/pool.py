"""The scheduler: hands episodes to a crew until all are done or given up.

Who runs episodes for a scheduler, and what they report.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

from jaywalk.core.errors import PrerequisiteError
from jaywalk.runner._folder import adopt
from jaywalk.runner.plan import EpisodeOutcome, EpisodePlan
from jaywalk.runner.state import RunState

EPISODE_MODULE: Final = "jaywalk.runner._episode"


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
class PoolProgress:
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


Event = PoolProgress | Finished | Broken


@dataclass(frozen=True, slots=True)
class OpeningWorld:
    """A worker begins to open a world."""


@dataclass(frozen=True, slots=True)
class EpisodeBegins:
    """A worker has a world and begins the episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A worker's episode goes on."""

    simulated_s: float
    route_share: float
    doing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeDone:
    """A worker has recorded its episode."""

    outcome: EpisodeOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFault:
    """A worker's attempt failed; the worker ends after this message."""

    fault: Fault
    error: str


# Messages of a worker to its parent. The parent sends a Setup, then an EpisodePlan each, then None.
WorkerMessage = OpeningWorld | EpisodeBegins | Beat | EpisodeDone | EpisodeFault


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


DEFAULT_RETRIES: Final = 2
_WAIT_S: Final = 0.5
# After this many failures in a row to open a world or reach the agent, the episode is not to blame.
_MAX_CONSECUTIVE_STARTUP_FAILURES: Final = 3
_LACKING: Final = {Fault.WORLD: "world can be opened", Fault.AGENT: "agent can be reached"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickScore:
    """What the live table shows of an episode; scores may be NaN.

    Attributes:
        no_min_speed: Driving score without the minimum-speed factor.
    """

    success: bool
    driving_score: float
    no_min_speed: float = math.nan


# Record folder -> score, or None where it cannot be scored.
Scorer = Callable[[Path], QuickScore | None]


class Watcher(Protocol):
    """Is told how a run goes."""

    def progress(self, event: PoolProgress) -> None:
        """An episode goes on."""

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """An episode has been recorded."""

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """An attempt came to nothing."""

    def refresh(self) -> None:
        """Time has passed."""


class Pool:
    """Runs plans on a crew: retries faults, keeps the state, tells a watcher."""

    def __init__(
        self,
        run_folder: Path,
        state: RunState,
        crew: Crew,
        watcher: Watcher,
        *,
        retries: int = DEFAULT_RETRIES,
        score: Scorer | None = None,
    ) -> None:
        self._folder, self._state, self._crew = run_folder, state, crew
        self._watcher, self._score = watcher, score
        self._tries_allowed = retries + 1
        self._tries: dict[str, int] = {}
        self._running: dict[int, EpisodePlan] = {}
        self._seed_of_slot: dict[int, int] = {}
        self._startup_failures = 0

    def run(self, plans: Sequence[EpisodePlan]) -> None:
        """Run all; returns when each is done or given up.

        Interrupted by any exception it puts the episodes in flight back.

        Raises:
            PrerequisiteError: No world can be opened at all, or no agent be reached.
        """
        # Seed by seed: a run cut short has seen every route, and servers are kept longer.
        order = sorted(plans, key=lambda plan: plan.seed)
        queue = deque(order)
        try:
            while queue or self._running:
                self._hand_out(queue)
                for event in self._crew.wait(_WAIT_S):
                    if isinstance(event, PoolProgress):
                        self._watcher.progress(event)
                    elif isinstance(event, Finished):
                        self._take(event)
                    else:
                        self._handle(event, queue)
                self._watcher.refresh()
        except BaseException:
            self._crew.close(at_once=True)
            for plan in self._running.values():
                self._state.put_back(plan.episode_id)
            raise

    def _hand_out(self, queue: deque[EpisodePlan]) -> None:
        for slot in range(self._crew.size):
            if queue and slot not in self._running:
                plan = self._next_for(slot, queue)
                self._tries[plan.episode_id] = self._tries.get(plan.episode_id, 0) + 1
                self._crew.start(slot, plan)
                self._state.begin(plan.episode_id, self._crew.name(slot))
                self._running[slot], self._seed_of_slot[slot] = plan, plan.seed

    def _next_for(self, slot: int, queue: deque[EpisodePlan]) -> EpisodePlan:
        """The first with the seed of the slot's server, else the first."""
        wanted = self._seed_of_slot.get(slot)
        chosen = next((plan for plan in queue if plan.seed == wanted), queue[0])
        queue.remove(chosen)
        return chosen

    def _take(self, event: Finished) -> None:
        del self._running[event.slot]
        self._startup_failures = 0
        self._keep(event.outcome)

    def _keep(self, outcome: EpisodeOutcome) -> None:
        self._state.finish(outcome)
        score = self._score(outcome.folder) if self._score is not None else None
        if score is not None:
            self._state.note_score(
                outcome.episode_id, score.success, score.driving_score, score.no_min_speed
            )
        self._watcher.finished(outcome, score)

    def _handle(self, event: Broken, queue: deque[EpisodePlan]) -> None:
        plan = self._running.pop(event.slot)
        name = plan.episode_id
        # It may have died after the record was in place.
        outcome = adopt(self._folder, name, lambda text: None)
        if outcome is not None:
            self._keep(outcome)
            return
        hopeless = event.fault in (Fault.WORLD, Fault.AGENT)
        self._startup_failures = self._startup_failures + 1 if hopeless else 0
        again = event.fault is not Fault.PLAN and self._tries[name] < self._tries_allowed
        if again:
            self._state.put_back(name, event.error)
            queue.append(plan)
        else:
            self._state.give_up(name, event.error)
        self._watcher.broken(event, will_retry=again)
        if self._startup_failures >= _MAX_CONSECUTIVE_STARTUP_FAILURES:
            raise PrerequisiteError(
                f"No {_LACKING[event.fault]}; the last of {self._startup_failures} tries said: "
                f"{event.error}"
            )
