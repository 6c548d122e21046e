"""Display of a run in progress: a live table on a terminal, one line per episode in a pipe.

``Tally`` keeps the counts and running scores.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

import jaywalk.record
from jaywalk.core.text import printable
from jaywalk.core.user_code import failure_line
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.runner.plan import EpisodeOutcome
from jaywalk.runner.pool import Broken, PoolProgress, QuickScore, Scorer
from jaywalk.runner.state import DONE, EpisodeRow
from jaywalk.stats.bootstrap import cluster_codes
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import Interval, rule_of_three, t_quantile

_LEAST_DRIVEN: Final = 0.1  # episodes, before an estimate is worth more than a guess
_OPENING_S: Final = 90.0  # a town opens for the first time, kernels compile
_SOON_S: Final = 15.0
_EPISODE_S: Final = 25.0


@dataclass(slots=True)
class Tally:
    """Counts and scores of a run; ``elapsed_s`` values come from the caller's monotonic clock."""

    total: int
    done: int = 0
    failed: int = 0
    agent_failures: int = 0
    retried: int = 0
    finished_now: int = 0  # in this session
    opened_s: float | None = None  # when the first episode drove
    scores: dict[str, QuickScore] = field(default_factory=dict)
    running: dict[str, PoolProgress] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Number of episodes neither done nor given up."""
        return self.total - self.done - self.failed

    def count_old(self, row: EpisodeRow) -> None:
        """Add an episode of an earlier session."""
        if row.state == DONE:
            self.done += 1
            self.agent_failures += bool(row.failure)
            if row.success is not None:
                shown = (row.driving_score, row.no_min_speed)
                score, faster = (math.nan if value is None else value for value in shown)
                self.scores[row.episode_id] = QuickScore(
                    success=row.success, driving_score=score, no_min_speed=faster
                )

    def progress(self, event: PoolProgress, elapsed_s: float = 0.0) -> None:
        """Note the progress of an episode, and when the first one drove."""
        self.running[event.episode_id] = event
        if self.opened_s is None and event.simulated_s > 0.0:
            self.opened_s = elapsed_s

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """Count a recorded episode."""
        self.running.pop(outcome.episode_id, None)
        self.done += 1
        self.finished_now += 1
        self.agent_failures += bool(outcome.failure)
        if score is not None:
            self.scores[outcome.episode_id] = score

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """Count a failed attempt."""
        self.running.pop(event.episode_id, None)
        if will_retry:
            self.retried += 1
        else:
            self.failed += 1

    def eta_s(self, elapsed_s: float) -> float | None:
        """Estimate the wall seconds left from what was driven in this session, parts included.

        None before a tenth of an episode was driven. The time in which towns open and kernels
        compile counts once.
        """
        parts = sum(min(one.route_share, 1.0) for one in self.running.values())
        driven = self.finished_now + parts
        if driven < _LEAST_DRIVEN:
            return None
        return (elapsed_s - (self.opened_s or 0.0)) / driven * max(self.left - parts, 0.0)

    def eta_text(self, elapsed_s: float) -> str:
        """Wall time left; ``about`` marks a guess before anything was measured."""
        measured = self.eta_s(elapsed_s)
        if measured is not None:
            return _duration(measured)
        opening_s = 0.0 if self.opened_s is not None else max(_OPENING_S - elapsed_s, _SOON_S)
        driving_s = self.left * _EPISODE_S / max(len(self.running), 1)
        return f"about {_duration(opening_s + driving_s)}"

    def success_rate(self) -> tuple[float, Interval] | None:
        """Share of successes, 0 to 1, with the same interval as in ``jaywalk score``."""
        if not self.scores:
            return None
        hits = [float(score.success) for score in self.scores.values()]
        routes = [_route(name) for name in self.scores]
        return sum(hits) / len(hits), clustered_wilson(hits, routes)

    def driving_score(self) -> tuple[float, Interval] | None:
        """Mean driving score with a quick t interval over routes; reports use the bootstrap."""
        rows = {name: score.driving_score for name, score in self.scores.items()}
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
        """Mean driving score without the minimum-speed factor; NaN if there are no scores."""
        values = [score.no_min_speed for score in self.scores.values()]
        kept = [value for value in values if math.isfinite(value)]
        return math.fsum(kept) / len(kept) if kept else math.nan


def _route(episode_id: str) -> str:
    """Return the route of ``<route>-s<seed>``: seeds of a route are not independent."""
    return episode_id.rpartition("-s")[0] or episode_id


def quick_scorer(say: Callable[[str], None]) -> Scorer:
    """Score finished episodes for the display: success is ours, the driving score is public.

    Args:
        say: Called with a message about a record that cannot be scored.
    """

    def score(folder: Path) -> QuickScore | None:
        try:
            from jaywalk.metrics.driving.protocols import score_episode

            record = jaywalk.record.open(folder)
            success = score_episode(record, "jaywalk").success
            metrics = score_episode(record, "leaderboard-2.1").metrics
            return QuickScore(
                success=success,
                driving_score=metrics["driving_score"],
                no_min_speed=metrics.get(NO_MIN_SPEED, math.nan),
            )
        except Exception as problem:  # a display never ends a run
            say(f"{folder.name} is recorded but cannot be scored: {problem}")
            return None

    return score


_BEAT_S: Final = 15.0


class PlainLines:
    """One line per finished or broken episode, tab-separated; a heartbeat in between."""

    def __init__(
        self,
        tally: Tally,
        write: Callable[[str], None],
        beat: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a display.

        Args:
            tally: Counts of the run.
            write: Called with the line of an episode.
            beat: Called with a line about progress after 15 s without another line.
            clock: Time in seconds.
        """
        self.tally, self._write, self._beat, self._clock = tally, write, beat, clock
        self._began_s = self._last_s = clock()

    def progress(self, event: PoolProgress) -> None:
        """Note the progress of an episode."""
        self.tally.progress(event, self._clock() - self._began_s)

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """Write ``n/N  id  end reason  simulated s  wall s  score``."""
        self._last_s = self._clock()
        self.tally.finished(outcome, score)
        self._write("\t".join([self._count(), *_cells(outcome, score)]))

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """Write the error and whether the episode will be retried."""
        self._last_s = self._clock()
        self.tally.broken(event, will_retry=will_retry)
        then = "will be tried again" if will_retry else "given up"
        error = " ".join(event.error.split())
        self._write("\t".join([self._count(), event.episode_id, f"{then}: {error}"]))

    def refresh(self) -> None:
        """Write a heartbeat after a while without a line: counts, ETA, and what is running."""
        now_s = self._clock()
        if now_s - self._last_s < _BEAT_S:
            return
        self._last_s = now_s
        running = [
            f"{episode.episode_id} {100.0 * episode.route_share:.0f} % "
            f"after {episode.simulated_s:.0f} s"
            for episode in self.tally.running.values()
        ]
        if self.tally.finished_now == 0 and not any(
            episode.simulated_s > 0.0 for episode in self.tally.running.values()
        ):
            running = ["opening the town; the first use compiles for one to two minutes"]
        eta = self.tally.eta_text(now_s - self._began_s)
        elapsed = _duration(now_s - self._began_s)
        self._beat(f"{self._count()} after {elapsed}, ETA {eta}: {', '.join(running)}")

    def _count(self) -> str:
        return f"{self.tally.done + self.tally.failed}/{self.tally.total}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        pass


class LiveTable:
    """Counts, running scores and the episodes in flight, redrawn in place."""

    def __init__(self, tally: Tally, title: str, console: Console) -> None:
        self.tally, self._title = tally, title
        self._began_s = time.monotonic()
        self._live = Live(console=console, refresh_per_second=4, auto_refresh=False)

    def progress(self, event: PoolProgress) -> None:
        """Note the progress of an episode."""
        self.tally.progress(event, time.monotonic() - self._began_s)

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """Print a line above the table for noteworthy outcomes."""
        self.tally.finished(outcome, score)
        if outcome.failure:
            self._print(
                f"{outcome.episode_id}: agent failed: {failure_line(outcome.failure)}", "yellow"
            )

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """Print a line above the table."""
        self.tally.broken(event, will_retry=will_retry)
        then = "will be tried again" if will_retry else "given up"
        self._print(f"{event.episode_id}: {then}: {event.error}", "yellow" if will_retry else "red")

    def refresh(self) -> None:
        """Redraw the table."""
        self._live.update(self.view(), refresh=True)

    def view(self) -> RenderableType:
        """Return the current table."""
        tally = self.tally
        counts = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
        cells = {
            "done": f"{tally.done}/{tally.total}",
            "failed": str(tally.failed),
            "agent failures": str(tally.agent_failures),
            "left": str(tally.left),
            "ETA": tally.eta_text(time.monotonic() - self._began_s),
            "success % [95 %]": _rate(tally),
            "driving score [95 %]": _mean(tally),
            "without min. speed": _plain(tally.no_min_speed()),
        }
        for name in cells:
            counts.add_column(name, no_wrap=True)
        counts.add_row(*cells.values())
        running = Table(box=None, pad_edge=False, show_header=False)
        for episode in tally.running.values():
            share = f"{100.0 * episode.route_share:3.0f} %"
            running.add_row(
                "  ",
                Text(printable(episode.episode_id)),
                share,
                f"{episode.simulated_s:.0f} s",
                Text(printable(episode.doing)),
            )
        return Group(Text(self._title, style="bold"), counts, running)

    def _print(self, text: str, style: str) -> None:
        self._live.console.print(Text(printable(text, layout=False), style=style))

    def __enter__(self) -> Self:
        self._live.start()
        self.refresh()
        return self

    def __exit__(self, *problem: object) -> None:
        self.tally.running.clear()
        self.refresh()
        self._live.stop()


def _cells(outcome: EpisodeOutcome, score: QuickScore | None) -> list[str]:
    cells = [
        outcome.episode_id,
        outcome.end_reason or "-",
        f"{outcome.simulated_s:.1f} s simulated",
        f"{outcome.wall_s:.1f} s",
    ]
    if score is not None:
        verdict = "success" if score.success else "no success"
        points = f"driving score {_plain(score.driving_score)}"
        if math.isfinite(score.no_min_speed):
            points += f" ({score.no_min_speed:.1f} without minimum speed)"
        cells += [verdict, points]
    if outcome.failure:
        cells.append("agent failed: " + failure_line(outcome.failure))
    return [printable(cell, layout=False) for cell in cells]


def _rate(tally: Tally) -> str:
    found = tally.success_rate()
    if found is None:
        return "-"
    rate, interval = found
    return f"{100 * rate:.0f} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def _mean(tally: Tally) -> str:
    found = tally.driving_score()
    if found is None:
        return "-"
    mean, interval = found
    return f"{mean:.1f} [{interval.low:.1f}, {interval.high:.1f}]"


def _plain(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "-"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
