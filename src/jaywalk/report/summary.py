"""A run in figures: rates, means and events per km, each with n and an interval.

Scenarios are the units; the seeds of one scenario are nested in it. Where a protocol says that a
missing episode counts as zero, it does so here too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore
from jaywalk.report.causes import decisive, in_words
from jaywalk.report.scored_runs import is_doubled, scenario_of
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import poisson_rate

QuantityKind = Literal["rate", "mean", "per_km"]

_SUMMED: Final = frozenset({"driven_km"})  # a total, told beside the rates
_ZERO_WHEN_MISSING: Final = frozenset({"driving_score", "route_completion", "infraction_penalty"})
_SEED: Final = re.compile(r"-s-?\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure of a run.

    Attributes:
        kind: A rate in percent (Wilson interval), a mean (BCa over scenarios) or events per km
            driven (exact Poisson interval).
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


def summarise(run: RunScore, label: str, level: float = 0.95) -> RunSummary:
    """All figures of a run."""
    means = _means(run, level)
    # What a reader looks for first stands first: scores, then what was hit, then the rest.
    scores = [q for q in means if q.name in _ZERO_WHEN_MISSING]
    rest = [q for q in means if q.name not in _ZERO_WHEN_MISSING]
    return RunSummary(
        label=label,
        run=run,
        quantities=(_success(run, level), *scores, *_rates(run, level), *rest),
        failures=tuple(_failures(run.episodes)),
        driven_km=_driven_km(run),
    )


def missing_scenarios(run: RunScore) -> list[str]:
    """Scenarios of missing episodes that count as zero under the run's protocol."""
    rules = PROTOCOLS.get(run.protocol)
    if rules is None or rules.missing != "zero":
        return []
    return [_SEED.sub("", name) for name in run.missing]


def _success(run: RunScore, level: float) -> Quantity:
    absent = missing_scenarios(run)
    won = [float(episode.success) for episode in run.episodes] + [0.0] * len(absent)
    scenarios = [scenario_of(episode) for episode in run.episodes] + absent
    found = clustered_wilson(won, scenarios, level)
    value = 100.0 * sum(won) / len(won) if won else math.nan
    return Quantity(
        name="success_rate",
        kind="rate",
        value=value,
        low=100.0 * found.low,
        high=100.0 * found.high,
        n=len(won),
    )


def _means(run: RunScore, level: float) -> list[Quantity]:
    names = dict.fromkeys(name for episode in run.episodes for name in episode.metrics)
    counts = {name for episode in run.episodes for name in episode.counts}
    absent = missing_scenarios(run)
    found = []
    for name in names:
        rows = [e for e in run.episodes if math.isfinite(e.metrics.get(name, math.nan))]
        if not rows or name in _SUMMED or is_doubled(name, counts):
            continue
        values = [e.metrics[name] for e in rows]
        scenarios = [scenario_of(e) for e in rows]
        if name in _ZERO_WHEN_MISSING:
            values += [0.0] * len(absent)
            scenarios += absent
        estimate = bootstrap.mean(values, scenarios, level=level)
        found.append(
            Quantity(
                name=name,
                kind="mean",
                value=estimate.value,
                low=estimate.interval.low,
                high=estimate.interval.high,
                n=len(values),
                note=estimate.warning or "",
            )
        )
    return found


def _rates(run: RunScore, level: float) -> list[Quantity]:
    km = _driven_km(run)
    if km <= 0.0:
        return []
    events: Counter[str] = Counter()
    for episode in run.episodes:
        events.update(episode.counts)
    found = []
    for name, count in events.items():
        interval = poisson_rate(count, km, level)
        found.append(
            Quantity(
                name=name,
                kind="per_km",
                value=count / km,
                low=interval.low,
                high=interval.high,
                n=count,
            )
        )
    return found


def _driven_km(run: RunScore) -> float:
    driven = [episode.metrics.get("driven_km", math.nan) for episode in run.episodes]
    return float(sum(km for km in driven if math.isfinite(km)))


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
