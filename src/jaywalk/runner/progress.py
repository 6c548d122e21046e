"""How a run shows itself: a live table on a terminal, a line per episode in a pipe."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from jaywalk.core.printable import printable
from jaywalk.runner.crew import Broken, Progress
from jaywalk.runner.outcome import EpisodeOutcome
from jaywalk.runner.pool import QuickScore
from jaywalk.runner.tally import Tally


class PlainLines:
    """One line per finished or broken episode, tab-separated."""

    def __init__(self, tally: Tally, write: Callable[[str], None]) -> None:
        self.tally, self._write = tally, write

    def progress(self, event: Progress) -> None:
        """Nothing to say."""

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """``n/N  id  end reason  simulated s  wall s  score``."""
        self.tally.finished(outcome, score)
        self._write("\t".join([self._count(), *_cells(outcome, score)]))

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """What went wrong and whether it is tried again."""
        self.tally.broken(event, will_retry=will_retry)
        then = "will be tried again" if will_retry else "given up"
        error = " ".join(event.error.split())
        self._write("\t".join([self._count(), event.episode_id, f"{then}: {error}"]))

    def refresh(self) -> None:
        """Nothing to do."""

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

    def progress(self, event: Progress) -> None:
        """An episode goes on."""
        self.tally.progress(event)

    def finished(self, outcome: EpisodeOutcome, score: QuickScore | None) -> None:
        """A line above the table for what is worth one."""
        self.tally.finished(outcome, score)
        if outcome.failure:
            last = outcome.failure.strip().rsplit("\n", 1)[-1]
            self._print(f"{outcome.episode_id}: agent failed: {last}", "yellow")

    def broken(self, event: Broken, *, will_retry: bool) -> None:
        """A line above the table."""
        self.tally.broken(event, will_retry=will_retry)
        then = "will be tried again" if will_retry else "given up"
        self._print(f"{event.episode_id}: {then}: {event.error}", "yellow" if will_retry else "red")

    def refresh(self) -> None:
        """Draw."""
        self._live.update(self.view(), refresh=True)

    def view(self) -> RenderableType:
        """The table as it is now."""
        tally = self.tally
        counts = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
        cells = {
            "done": f"{tally.done}/{tally.total}",
            "failed": str(tally.failed),
            "agent failures": str(tally.agent_failures),
            "left": str(tally.left),
            "ETA": _duration(tally.eta_s(time.monotonic() - self._began_s)),
            "success % [95 %]": _rate(tally),
            "driving score [95 %]": _mean(tally),
            "without min. speed": _plain(tally.no_min_speed()),
        }
        for name in cells:
            counts.add_column(name, no_wrap=True)
        counts.add_row(*cells.values())
        running = Table(box=None, pad_edge=False, show_header=False)
        for one in tally.running.values():
            share = f"{100.0 * one.route_share:3.0f} %"
            running.add_row(
                "  ",
                Text(printable(one.episode_id)),
                share,
                f"{one.simulated_s:.0f} s",
                Text(printable(one.doing)),
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
        cells.append("agent failed: " + outcome.failure.strip().rsplit("\n", 1)[-1])
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


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
