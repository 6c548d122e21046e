"""Counts and running scores of a run in progress."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from jaywalk.runner.crew import Broken, Progress
from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.pool import QuickScore
from jaywalk.runner.state import DONE, EpisodeRow
from jaywalk.stats.bootstrap import cluster_codes
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import Interval, rule_of_three, t_quantile


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
                shown = (row.driving_score, row.no_min_speed)
                score, faster = (math.nan if one is None else one for one in shown)
                self.scores[row.episode_id] = QuickScore(
                    success=row.success, driving_score=score, no_min_speed=faster
                )

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
        """Share of successes, 0 to 1, with the interval that ``jaywalk score`` prints."""
        if not self.scores:
            return None
        hits = [float(score.success) for score in self.scores.values()]
        routes = [_route(name) for name in self.scores]
        return sum(hits) / len(hits), clustered_wilson(hits, routes)

    def driving_score(self) -> tuple[float, Interval] | None:
        """Mean driving score with a quick t interval over routes; reports have the bootstrap's."""
        rows = {name: one.driving_score for name, one in self.scores.items()}
        rows = {name: value for name, value in rows.items() if math.isfinite(value)}
        if not rows:
            return None
        values = np.array(list(rows.values()))
        codes, k = cluster_codes([_route(name) for name in rows])
        mean = float(values.mean())
        half = math.inf
        if k > 1 and not np.ptp(values):
            return mean, rule_of_three(mean, k, (0.0, 100.0))
        if k > 1:
            sums = np.bincount(codes, weights=values - mean)
            error = math.sqrt(k / (k - 1.0) * float((sums**2).sum())) / values.size
            half = t_quantile(k) * error
        # A driving score lies between 0 and 100.
        return mean, Interval(max(mean - half, 0.0), min(mean + half, 100.0), 0.95)

    def no_min_speed(self) -> float:
        """Mean driving score without the minimum-speed factor; NaN without any."""
        values = [one.no_min_speed for one in self.scores.values()]
        kept = [value for value in values if math.isfinite(value)]
        return math.fsum(kept) / len(kept) if kept else math.nan


def _route(episode_id: str) -> str:
    """Route of ``<route>-s<seed>``: seeds of a route resemble each other."""
    return episode_id.rpartition("-s")[0] or episode_id
