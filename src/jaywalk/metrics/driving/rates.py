"""Rates of a run as ratios of sums, the definition that all outputs use.

Collisions per km are all collisions divided by all kilometres. The mean of the rates of episodes
would give a short episode the same weight as a long one. Intervals draw or count whole routes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NotRequired, TypedDict

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.summary import EpisodeScore, scenario_of
from jaywalk.metrics.pooling import Pooling, km_of, per_km
from jaywalk.metrics.spec import METRICS, spec_of
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_rate, clustered_wilson
from jaywalk.stats.intervals import FEW_CLUSTERS, UNBOUNDED, Interval, poisson_rate

PER_KM: Final = "_per_km"
RESAMPLES: Final = 10_000
_LEAST_KM: Final = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its 95 % interval.

    Attributes:
        n: Episodes behind the number; of ratios of counts what is counted below the line (hits,
            brakings, forecasts), of events per km the events.
        clusters: Routes the interval rests on.
    """

    value: float
    low: float
    high: float
    n: int
    warning: str = ""
    clusters: int = 0

    @property
    def few_clusters(self) -> bool:
        """Return whether the interval rests on too few routes to be trusted."""
        return 0 < self.clusters < FEW_CLUSTERS

    def scaled(self, factor: float) -> Figure:
        """Return the quantity in another unit, multiplied by ``factor``."""
        return Figure(
            value=factor * self.value,
            low=factor * self.low,
            high=factor * self.high,
            n=self.n,
            warning=self.warning,
            clusters=self.clusters,
        )


NOTHING: Final = Figure(value=math.nan, low=math.nan, high=math.nan, n=0)


def pooling_of(name: str, counts: Collection[str]) -> Pooling:
    """Rule of a metric; unknown ones named after a count are its rate per km."""
    stem = name.removesuffix(PER_KM)
    if name not in METRICS and stem != name and stem in counts:
        return per_km(stem)
    return spec_of(name).pooling


def bounds_of(name: str, values: Sequence[float]) -> tuple[float, float]:
    """Range of a metric, for intervals that stay inside; unbounded if a value lies outside."""
    low, high = spec_of(name).bounds
    return (low, high) if all(low <= value <= high for value in values) else UNBOUNDED


def count_names(episodes: Sequence[EpisodeScore]) -> tuple[str, ...]:
    """Names of all counted events, in order."""
    return tuple(dict.fromkeys(name for episode in episodes for name in episode.counts))


def sums(rule: Pooling, episodes: Sequence[EpisodeScore]) -> tuple[FloatArray, FloatArray]:
    """Return the numerator and the denominator of each episode."""
    assert rule.top is not None, f"'{rule.words}' is not a ratio"
    assert rule.bottom is not None, f"'{rule.words}' is not a ratio"
    parts = [(float(rule.top(episode)), float(rule.bottom(episode))) for episode in episodes]
    found = np.array(parts, dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def pooled(
    rule: Pooling, episodes: Sequence[EpisodeScore], *, resamples: int = RESAMPLES
) -> Figure:
    """A ratio of sums over episodes with its interval over routes."""
    top, bottom = sums(rule, episodes)
    routes = [scenario_of(episode) for episode in episodes]
    if rule.kind == "events":
        return _events(top, bottom, routes)
    if not bottom.sum() > 0.0:
        return NOTHING
    if rule.kind == "share":
        return share(top, bottom, routes)
    if rule.bottom is km_of and not top.sum() > 0.0:
        # Nothing was hit. A hit adds at most one injury, so the bound on hits holds.
        return _events(top, bottom, routes)
    kept = bottom > 0.0
    labels = [route for route, keep in zip(routes, kept, strict=True) if keep]
    ratio = bootstrap.ratio(
        top[kept], bottom[kept], labels, resamples=resamples, bounds=rule.bounds
    )
    is_counted = rule.kind == "mean" and rule.bottom is not km_of
    return figure_of(ratio, round(float(bottom.sum())) if is_counted else int(kept.sum()))


def share(top: FloatArray, bottom: FloatArray, routes: Sequence[str]) -> Figure:
    """Share of counted things, e.g. needless brakings of all; 0 to 1."""
    yes, all_of = top.astype(np.int64), bottom.astype(np.int64)
    flags = np.repeat(np.tile([1.0, 0.0], len(yes)), np.column_stack([yes, all_of - yes]).ravel())
    interval = clustered_wilson(flags, np.repeat(np.asarray(routes), all_of))
    k = len({route for route, n in zip(routes, all_of, strict=True) if n})
    return _figure(float(flags.mean()), interval, len(flags), k)


def figure_of(estimate: bootstrap.Estimate, n: int) -> Figure:
    """An estimate as a figure."""
    return Figure(
        value=estimate.value,
        low=estimate.interval.low,
        high=estimate.interval.high,
        n=n,
        warning=estimate.warning or "",
        clusters=estimate.n,
    )


class FigureValues(TypedDict):
    """A figure as JSON prints it."""

    value: float
    low: float
    high: float
    n: int
    clusters: int
    few_clusters: bool
    warning: NotRequired[str]


def figure_json(figure: Figure) -> FigureValues:
    """A figure as plain values."""
    values: FigureValues = {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "clusters": figure.clusters,
        "few_clusters": figure.few_clusters,
    }
    if figure.warning:
        values["warning"] = figure.warning
    return values


def _events(top: FloatArray, km: FloatArray, routes: Sequence[str]) -> Figure:
    events, total = float(top.sum()), float(km.sum())
    if total < _LEAST_KM:
        interval, total = poisson_rate(events, _LEAST_KM), _LEAST_KM
    else:
        interval = clustered_rate(top, km, routes)
    return _figure(events / total, interval, round(events), len(set(routes)))


def _figure(value: float, interval: Interval, n: int, clusters: int) -> Figure:
    note = bootstrap.few_clusters_note(clusters) if 0 < clusters < FEW_CLUSTERS else ""
    return Figure(
        value=value, low=interval.low, high=interval.high, n=n, clusters=clusters, warning=note
    )
