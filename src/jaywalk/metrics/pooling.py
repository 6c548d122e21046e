"""Rules that pool a metric of single episodes into one figure of a run.

A metric states its rule as a :class:`Pooling`; `metrics.driving.rates` computes the figure with its
interval. Each part of a ratio has a name from an episode's score: a count or another metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from jaywalk.metrics.driving.summary import EpisodeScore

Part = Callable[["EpisodeScore"], float]
PoolingKind = Literal["episodes", "apart", "events", "share", "mean", "time"]
NOT_NEGATIVE: Final = (0.0, math.inf)
SHARE: Final = (0.0, 1.0)
SAMPLES: Final = "metric_samples"  # key of a score's detail: name -> n of its MetricResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """Rule for one metric.

    Attributes:
        kind: ``episodes``: plain mean over the episodes in which it is valid. ``apart``: a total
            that a run states elsewhere. The others are ratios of sums: ``events`` per exposure
            (Poisson with design effect), a ``share`` of counted things (Wilson with design
            effect), a ``mean`` over counted things or over ``time`` (BCa).
        words: The rule in a few words, for the docs.
        top: Numerator of an episode; None: its value times ``bottom``.
        bottom: Denominator of an episode; None: the ``n`` of its result.
        bounds: Range of a ``mean`` or ``time``.
    """

    kind: PoolingKind
    words: str
    top: Part | None = None
    bottom: Part | None = None
    bounds: tuple[float, float] = NOT_NEGATIVE

    @property
    def is_ratio(self) -> bool:
        """Return whether the rule is a ratio of sums."""
        return self.kind not in ("episodes", "apart")

    def bound_to(self, name: str) -> Pooling:
        """Return the rule of the metric ``name``, whose value a weighted mean needs."""
        if not self.is_ratio or self.top is not None:
            return self
        weight = self.bottom or _samples_of(name)
        return replace(
            self,
            top=lambda score: _finite(score.metrics.get(name)) * weight(score),
            bottom=weight,
        )


def km_of(score: EpisodeScore) -> float:
    """Kilometres that an episode drove."""
    return _finite(score.metrics.get("driven_km"))


def part_of(name: str) -> Part:
    """Return a function that reads a count or a metric from a score; 0 where it has none."""
    if name == "driven_km":
        return km_of

    def read(score: EpisodeScore) -> float:
        if name in score.counts:
            return float(score.counts[name])
        return _finite(score.metrics.get(name))

    return read


MEAN: Final = Pooling(kind="episodes", words="mean over episodes")
APART: Final = Pooling(kind="apart", words="total, given as `km`")


def per_km(events: str | Part, words: str = "") -> Pooling:
    """Events per km driven: sum of events over sum of kilometres."""
    named, top = _named(events)
    return Pooling(kind="events", words=f"{words or named} / km", top=top, bottom=km_of)


def share_of(part: str, whole: str) -> Pooling:
    """Share of counted things: sum of one count over sum of another."""
    return Pooling(
        kind="share",
        words=f"{part} / {whole}",
        top=part_of(part),
        bottom=part_of(whole),
        bounds=SHARE,
    )


def ratio(
    top: str | Part,
    bottom: str | Part,
    *,
    words: str = "",
    over_time: bool = False,
    bounds: tuple[float, float] = NOT_NEGATIVE,
) -> Pooling:
    """Ratio of sums, e.g. injuries over hits.

    Args:
        top: Name of a count or metric, or a function of an episode's score.
        bottom: The same, below the line.
        words: The rule in words; needed where a part is a function.
        over_time: Whether ``bottom`` is time. Then ``n`` of the run counts episodes, else what is
            counted below the line.
        bounds: Range of the ratio.
    """
    above, top_part = _named(top)
    below, bottom_part = _named(bottom)
    return Pooling(
        kind="time" if over_time else "mean",
        words=words or f"{above} / {below}",
        top=top_part,
        bottom=bottom_part,
        bounds=bounds,
    )


def weighted_by(
    weight: str | Part,
    *,
    words: str = "",
    over_time: bool = False,
    bounds: tuple[float, float] = NOT_NEGATIVE,
) -> Pooling:
    """Mean over episodes, each weighted by a count, a metric or a function of its score."""
    named, bottom = _named(weight)
    return Pooling(
        kind="time" if over_time else "mean",
        words=f"mean weighted by {words or named}",
        bottom=bottom,
        bounds=bounds,
    )


WEIGHTED_BY_N: Final = Pooling(kind="mean", words="mean weighted by `n` of the results")


def _samples_of(name: str) -> Part:
    return lambda score: float(score.detail.get(SAMPLES, {}).get(name, 0))


def _named(part: str | Part) -> tuple[str, Part]:
    return (part, part_of(part)) if isinstance(part, str) else ("", part)


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0


SHARE_OF_TIME: Final = weighted_by(
    part_of("duration_s"), words="duration", over_time=True, bounds=SHARE
)
