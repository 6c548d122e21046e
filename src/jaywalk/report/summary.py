"""Summary of a run: rates, means and events per km, each with n and an interval.

The module also describes in a few words why an episode failed, and finds the decisive moment. Each
protocol names infractions with its own keys. The keys of the Leaderboard family have descriptions
here; any other key is shown as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from jaywalk.metrics.driving.aggregate import Aggregate, aggregate
from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.driving.summary import EpisodeScore, Infraction, RunScore
from jaywalk.metrics.spec import spec_of
from jaywalk.report.scored_runs import is_doubled

_WORDS: Final = {
    "collisions_pedestrian": "hit a person",
    "collisions_vehicle": "hit a vehicle",
    "collisions_layout": "hit an obstacle",
    "collisions_person": "hit a person",
    "collisions_animal": "hit an animal",
    "collisions_static": "hit an object",
    "hit_while_standing": "was hit while standing",
    "red_light": "ran a red light",
    "stop_infraction": "ran a stop sign",
    "outside_route_lanes": "left its lanes",
    "route_dev": "left the route",
    "vehicle_blocked": "stood still too long",
    "route_timeout": "ran out of time",
    "scenario_timeouts": "did not get past the scenario in time",
    "scenario_timeout": "did not get past the scenario in time",
    "min_speed_infractions": "drove too slowly",
    "yield_emergency_vehicle_infractions": "did not yield to an emergency vehicle",
    "stop": "passed a stop sign",
    "endangered": "endangered somebody",
    "route_incomplete": "did not complete the route",
    "agent_failure": "the agent failed",
}
# Earlier entries outrank later ones; the first word found in a key decides.
_RANKS: Final = (
    ("pedestrian", "person", "people", "walker"),
    ("collision", "contact", "hit"),
    ("red_light", "stop"),
    ("endanger", "encroach", "yield"),
    ("route_dev", "outside", "lane"),
    ("blocked", "timeout", "time_out", "route_incomplete"),
)
_SLIGHT: Final = ("min_speed", "hit_while_standing")


def in_words(kind: str) -> str:
    """An infraction's kind in words, e.g. ``hit a person``."""
    return _WORDS.get(kind, kind.replace("_", " "))


def rank_of(kind: str) -> int:
    """Return the severity rank of a kind of infraction; 0 is the gravest."""
    if any(word in kind for word in _SLIGHT):
        return len(_RANKS) + 1
    for rank, words in enumerate(_RANKS):
        if any(word in kind for word in words):
            return rank
    return len(_RANKS)


def decisive(score: EpisodeScore) -> Infraction | None:
    """The gravest infraction, the earliest of equals; None if there was none."""
    return min(score.infractions, key=lambda i: (rank_of(i.kind), i.tick), default=None)


def cause_of(score: EpisodeScore) -> str:
    """Describe in a few words why an episode failed; empty for a success."""
    if score.success:
        return ""
    if score.failure:
        return f"the agent failed: {score.failure}"
    event = decisive(score)
    if event is None:
        return score.status or "not completed"
    more = len(score.infractions) - 1
    return f"{in_words(event.kind)} at {event.time_s:.1f} s" + (f" (+{more} more)" if more else "")


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
class ReportSummary:
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


def summarise(run: RunScore, label: str) -> ReportSummary:
    """All figures of a run: those of ``jaywalk score``, in the order of a reader's interest."""
    scored = aggregate(run)
    means = [q for name, figure in scored.metrics.items() if (q := _mean(scored, name, figure))]
    # The most important quantities come first: scores, then hits, then the rest.
    scores = [q for q in means if spec_of(q.name).zero_if_missing]
    rest = [q for q in means if not spec_of(q.name).zero_if_missing]
    success = _quantity("success_rate", "rate", scored.success)
    return ReportSummary(
        label=label,
        run=run,
        quantities=(success, *scores, *_rates(scored), *rest),
        failures=tuple(_failures(run.episodes)),
        driven_km=scored.km,
    )


def _mean(found: Aggregate, name: str, figure: Figure) -> Quantity | None:
    """Return the mean of a metric; None if no episode has it or a rate per km already shows it."""
    if not math.isfinite(figure.value) or is_doubled(name, set(found.rates_per_km)):
        return None
    return _quantity(name, "mean", figure)


def _quantity(name: str, kind: QuantityKind, figure: Figure) -> Quantity:
    return Quantity(
        name=name,
        kind=kind,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n=figure.n,
        note=figure.warning,
    )


def _rates(scored: Aggregate) -> list[Quantity]:
    if scored.km <= 0.0:
        return []
    return [
        Quantity(
            name=name,
            kind="per_km",
            value=rate.value,
            low=rate.low,
            high=rate.high,
            n=rate.n,
            note=rate.warning,
        )
        for name, rate in scored.rates_per_km.items()
    ]


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
