"""Scheduler that gives episodes to workers until all are done or given up.

``Workers`` is the interface of the workers; the message and event classes are their reports.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Settings that every worker of a run needs.

    Attributes:
        run_folder: Folder for the records.
        server: ``HOST:PORT`` of a running server; "" for an embedded one per worker.
        watchdog_s: Wall seconds without progress after which an episode is ended.
    """

    run_folder: Path
    server: str = ""
    watchdog_s: float


class Fault(Enum):
    """Kind of a fault, which decides the next step."""

    EPISODE = "episode"  # crash, lost server or no progress: retry
    SESSION = "session"  # no server could be reached: if this persists, no episode can run
    AGENT = "agent"  # no remote agent listens at its address: likewise
    PLAN = "plan"  # the plan itself cannot be run; a retry would fail too


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolProgress:
    """Progress of an episode."""

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
    """An attempt failed."""

    slot: int
    episode_id: str
    fault: Fault
    error: str


Event = PoolProgress | Finished | Broken


@dataclass(frozen=True, slots=True)
class OpeningSession:
    """A worker begins to start a server or to connect to one."""


@dataclass(frozen=True, slots=True)
class EpisodeBegins:
    """A worker has a session and begins the episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """Heartbeat of a worker's episode."""

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


# Messages of a worker to its parent. The parent sends a Setup, then each EpisodePlan, then None.
WorkerMessage = OpeningSession | EpisodeBegins | Beat | EpisodeDone | EpisodeFault


class Workers(Protocol):
    """A set of slots, each running one episode at a time."""

    @property
    def size(self) -> int:
        """Number of slots."""

    def name(self, slot: int) -> str:
        """Name of the worker in a slot, for the run's state."""

    def start(self, slot: int, plan: EpisodePlan) -> None:
        """Begin an episode in a free slot."""

    def wait(self, timeout_s: float) -> list[Event]:
        """Return events; returns before the timeout if there are any."""

    def close(self, *, at_once: bool = False) -> None:
        """End all workers with their servers; ``at_once`` aborts their episodes."""


DEFAULT_RETRIES: Final = 2
_WAIT_S: Final = 0.5
# After this many failures in a row to open a session or reach the agent, no episode can run.
_MAX_CONSECUTIVE_STARTUP_FAILURES: Final = 3
_LACKING: Final = {Fault.SESSION: "world can be opened", Fault.AGENT: "agent can be reached"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickScore:
    """Scores of an episode in the live table; they may be NaN.

    Attributes:
        no_min_speed: Driving score without the minimum-speed factor.
    """

    success: bool
    driving_score: float
    no_min_speed: float = math.nan


# Maps a record folder to its score, or None if it cannot be scored.
Scorer = Callable[[Path], QuickScore | None]


class Watcher(Protocol):
    """Observer of a run's progress."""

    def progress(self, event: PoolProgress) -> None:
        """Handle the progress of an episode."""

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """Handle a recorded episode."""

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """Handle a failed attempt."""

    def refresh(self) -> None:
        """Update the display; called regularly."""


class Pool:
    """Runs plans on workers: retries faults, keeps the state, notifies a watcher."""

    def __init__(
        self,
        run_folder: Path,
        state: RunState,
        workers: Workers,
        watcher: Watcher,
        *,
        retries: int = DEFAULT_RETRIES,
        score: Scorer | None = None,
    ) -> None:
        self._folder, self._state, self._workers = run_folder, state, workers
        self._watcher, self._score = watcher, score
        self._tries_allowed = retries + 1
        self._tries: dict[str, int] = {}
        self._running: dict[int, EpisodePlan] = {}
        self._seed_of_slot: dict[int, int] = {}
        self._startup_failures = 0

    def run(self, plans: Sequence[EpisodePlan]) -> None:
        """Run all plans; return when each is done or given up.

        On any exception, the episodes in flight are marked as pending again.

        Raises:
            PrerequisiteError: No world can be opened at all, or no agent can be reached.
        """
        # Seed by seed: an interrupted run has covered every route, and servers are kept longer.
        order = sorted(plans, key=lambda plan: plan.seed)
        queue = deque(order)
        try:
            while queue or self._running:
                self._hand_out(queue)
                for event in self._workers.wait(_WAIT_S):
                    if isinstance(event, PoolProgress):
                        self._watcher.progress(event)
                    elif isinstance(event, Finished):
                        self._take(event)
                    else:
                        self._handle(event, queue)
                self._watcher.refresh()
        except BaseException:
            self._workers.close(at_once=True)
            for plan in self._running.values():
                self._state.put_back(plan.episode_id)
            raise

    def _hand_out(self, queue: deque[EpisodePlan]) -> None:
        for slot in range(self._workers.size):
            if queue and slot not in self._running:
                plan = self._next_for(slot, queue)
                self._tries[plan.episode_id] = self._tries.get(plan.episode_id, 0) + 1
                self._workers.start(slot, plan)
                self._state.begin(plan.episode_id, self._workers.name(slot))
                self._running[slot], self._seed_of_slot[slot] = plan, plan.seed

    def _next_for(self, slot: int, queue: deque[EpisodePlan]) -> EpisodePlan:
        """Return the first plan with the seed of the slot's server, else the first plan."""
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
        # The worker may have died after the record was in place.
        outcome = adopt(self._folder, name, lambda text: None)
        if outcome is not None:
            self._keep(outcome)
            return
        hopeless = event.fault in (Fault.SESSION, Fault.AGENT)
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
