"""A run in figures for a reader: rates, means and events per km, each with n and an interval."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from jaywalk.metrics.driving.aggregate import ZERO_WHEN_MISSING, Aggregate, aggregate
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore
from jaywalk.report.causes import decisive, in_words
from jaywalk.report.scored_runs import is_doubled

QuantityKind = Literal["rate", "mean", "per_km"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure of a run.

    Attributes:
        kind: A rate in percent (Wilson interval), a mean or ratio (BCa over scenarios) or
            events per km driven (exact Poisson interval), all with seeds nested in scenarios.
        n: Episodes that have a value; for events per km the events.
    """

    name: str
    kind: QuantityKind
    value: float
    low: float
    high: float
    n: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """All figures of one run."""

    label: str
    run: RunScore
    quantities: tuple[Quantity, ...]
    failures: tuple[tuple[str, int], ...]  # cause -> episodes, most frequent first
    driven_km: float

    @property
    def scored(self) -> int:
        """Episodes scored."""
        return len(self.run.episodes)

    @property
    def successes(self) -> int:
        """Episodes that succeeded."""
        return sum(episode.success for episode in self.run.episodes)

    def quantity(self, name: str, kind: QuantityKind) -> Quantity | None:
        """A figure by name, or None."""
        wanted = (q for q in self.quantities if q.name == name and q.kind == kind)
        return next(wanted, None)


def summarise(run: RunScore, label: str) -> RunSummary:
    """All figures of a run: those of ``jaywalk score``, in the order of a reader's interest."""
    found = aggregate(run)
    means = [q for name, figure in found.metrics.items() if (q := _mean(found, name, figure))]
    # What a reader looks for first stands first: scores, then what was hit, then the rest.
    scores = [q for q in means if q.name in ZERO_WHEN_MISSING]
    rest = [q for q in means if q.name not in ZERO_WHEN_MISSING]
    success = _quantity("success_rate", "rate", found.success)
    return RunSummary(
        label=label,
        run=run,
        quantities=(success, *scores, *_rates(found), *rest),
        failures=tuple(_failures(run.episodes)),
        driven_km=found.km,
    )


def _mean(found: Aggregate, name: str, figure: Figure) -> Quantity | None:
    """None for what no episode has, and for what is told per km already."""
    if not math.isfinite(figure.value) or is_doubled(name, set(found.rates_per_km)):
        return None
    return _quantity(name, "mean", figure)


def _quantity(name: str, kind: QuantityKind, figure: Figure) -> Quantity:
    return Quantity(
        name=name, kind=kind, value=figure.value, low=figure.low, high=figure.high, n=figure.n,
        note=figure.warning,
    )  # fmt: skip


def _rates(found: Aggregate) -> list[Quantity]:
    if found.km <= 0.0:
        return []
    return [
        Quantity(
            name=name, kind="per_km", value=rate.value, low=rate.low, high=rate.high, n=rate.n,
            note=rate.warning,
        )
        for name, rate in found.rates_per_km.items()
    ]  # fmt: skip


def _failures(episodes: tuple[EpisodeScore, ...]) -> list[tuple[str, int]]:
    causes: Counter[str] = Counter()
    for episode in episodes:
        if episode.success:
            continue
        event = decisive(episode)
        if episode.failure:
            causes["the agent failed"] += 1
        else:
            causes[in_words(event.kind) if event else episode.status or "not completed"] += 1
    return causes.most_common()
