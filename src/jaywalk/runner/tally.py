"""Counts and running scores of a run in progress."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from jaywalk.runner.crew import Broken, Progress
from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.pool import QuickScore
from jaywalk.runner.state import DONE, EpisodeRow
from jaywalk.stats.intervals import Interval, rule_of_three, wilson


@dataclass(slots=True)
class Tally:
    """How a run stands; ``elapsed_s`` values come from the caller's monotonic clock."""

    total: int
    done: int = 0
    failed: int = 0
    agent_failures: int = 0
    retried: int = 0
    finished_now: int = 0  # in this session
    scores: dict[str, QuickScore] = field(default_factory=dict)
    running: dict[str, Progress] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Episodes neither done nor given up."""
        return self.total - self.done - self.failed

    def count_old(self, row: EpisodeRow) -> None:
        """Take in an episode of an earlier session."""
        if row.state == DONE:
            self.done += 1
            self.agent_failures += bool(row.failure)
            if row.success is not None:
                score = math.nan if row.driving_score is None else row.driving_score
                self.scores[row.episode_id] = QuickScore(success=row.success, driving_score=score)

    def progress(self, event: Progress) -> None:
        """An episode goes on."""
        self.running[event.episode_id] = event

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """An episode has been recorded."""
        self.running.pop(outcome.episode_id, None)
        self.done += 1
        self.finished_now += 1
        self.agent_failures += bool(outcome.failure)
        if score is not None:
            self.scores[outcome.episode_id] = score

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """An attempt came to nothing."""
        self.running.pop(event.episode_id, None)
        if will_retry:
            self.retried += 1
        else:
            self.failed += 1

    def eta_s(self, elapsed_s: float) -> float | None:
        """Wall seconds left if the rest goes as what was finished in this session."""
        if self.finished_now == 0:
            return None
        return elapsed_s / self.finished_now * self.left

    def success_rate(self) -> tuple[float, Interval] | None:
        """Share of successes with its Wilson interval, both 0 to 1."""
        n = len(self.scores)
        if n == 0:
            return None
        successes = sum(score.success for score in self.scores.values())
        return successes / n, wilson(successes, n)

    def driving_score(self) -> tuple[float, Interval] | None:
        """Mean driving score with a quick t interval; reports have the bootstrap's."""
        values = np.array([s.driving_score for s in self.scores.values()], float)
        values = values[np.isfinite(values)]
        if values.size == 0:
            return None
        mean = float(values.mean())
        half = math.inf
        if values.size > 1 and not np.ptp(values):
            return mean, rule_of_three(mean, values.size, (0.0, 100.0))
        if values.size > 1:
            quantile = float(special.stdtrit(values.size - 1, 0.975))
            half = quantile * float(values.std(ddof=1)) / math.sqrt(values.size)
        # A driving score lies between 0 and 100.
        return mean, Interval(max(mean - half, 0.0), min(mean + half, 100.0), 0.95)
