"""Rates of a run as ratios of sums: the one definition that every output uses.

Collisions per km are all collisions over all kilometres, not the mean of what each episode had per
km: a short episode would weigh as much as a long one. Intervals draw or count whole routes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.summary import EpisodeScore, scenario_of
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_rate, clustered_wilson
from jaywalk.stats.intervals import FEW_CLUSTERS, UNBOUNDED, Interval, poisson_rate

Part = Callable[[EpisodeScore], float]
Kind = Literal["events", "share", "mean", "time"]

PER_KM: Final = "_per_km"
RESAMPLES: Final = 10_000
_LEAST_KM: Final = 0.001
_NOT_NEGATIVE: Final = (0.0, math.inf)


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
        """Whether the interval rests on too few routes to be trusted."""
        return 0 < self.clusters < FEW_CLUSTERS

    def scaled(self, factor: float) -> Figure:
        """The same quantity in another unit."""
        return Figure(
            value=factor * self.value,
            low=factor * self.low,
            high=factor * self.high,
            n=self.n,
            warning=self.warning,
            clusters=self.clusters,
        )


NOTHING: Final = Figure(value=math.nan, low=math.nan, high=math.nan, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """What is summed over what.

    Attributes:
        kind: Events per exposure (Poisson with design effect), a share of counted things
            (Wilson with design effect), a mean over counted things or over time (BCa).
    """

    top: Part
    bottom: Part
    kind: Kind
    bounds: tuple[float, float] = _NOT_NEGATIVE


def _metric(name: str) -> Part:
    return lambda one: _finite(one.metrics.get(name))


def _count(*names: str) -> Part:
    return lambda one: float(sum(one.counts.get(name, 0) for name in names))


def _collisions(one: EpisodeScore) -> float:
    return float(sum(n for name, n in one.counts.items() if name.startswith("collisions_")))


def _judged_hits(one: EpisodeScore) -> float:
    """Hits with a known risk of injury."""
    hits = one.detail.get("hits")
    if hits is not None:
        return float(sum(math.isfinite(hit["injury_risk"]) for hit in hits))
    risk = one.metrics.get("pmais3_mean", math.nan)
    return round(_finite(one.metrics.get("serious_injuries_expected")) / risk) if risk > 0 else 0.0


def _forecasts(one: EpisodeScore) -> float:
    return float(sum(part["forecasts"] for part in one.detail.get("forecasts", ())))


def _times(name: str, weight: Part) -> Part:
    return lambda one: _finite(one.metrics.get(name)) * weight(one)


km_of: Final[Part] = _metric("driven_km")
_duration_s: Final = _metric("duration_s")
_TIME_SHARES: Final = (
    "standing_share",
    "uncomfortable_share",
    "uncomfortable_braking_share",
    "uncomfortable_speeding_up_share",
    "uncomfortable_lateral_share",
    "uncomfortable_jerk_share",
)


def _moving_s(one: EpisodeScore) -> float:
    """Time in which the ego drove, so that it could have a time to collision."""
    return _finite(one.detail.get("ttc", {}).get("moving_s"))


_FORECASTS: Final = ("forecast_ade_m", "forecast_fde_m", "forecast_best_ade_m")

POOLED: Final[Mapping[str, Pooled]] = MappingProxyType(
    {
        "collisions_per_km": Pooled(top=_collisions, bottom=km_of, kind="events"),
        "serious_injuries_per_km": Pooled(
            top=_metric("serious_injuries_expected"), bottom=km_of, kind="mean"
        ),
        "pmais3_mean": Pooled(
            top=_metric("serious_injuries_expected"),
            bottom=_judged_hits,
            kind="mean",
            bounds=(0.0, 1.0),
        ),
        "fpbr": Pooled(
            top=_count("false_braking_events"), bottom=_count("braking_events"), kind="share"
        ),
        "fpbr_habit": Pooled(
            top=_count("all_braking_without_person"),
            bottom=_count("all_braking_events"),
            kind="share",
        ),
        "short_ttc_time_share": Pooled(
            top=_times("short_ttc_time_share", _moving_s),
            bottom=_moving_s,
            kind="time",
            bounds=(0.0, 1.0),
        ),
        "mean_speed_mps": Pooled(
            top=lambda one: 1000.0 * km_of(one), bottom=_duration_s, kind="time"
        ),
        **{
            name: Pooled(top=_times(name, _forecasts), bottom=_forecasts, kind="mean")
            for name in _FORECASTS
        },
        **{
            name: Pooled(
                top=_times(name, _duration_s), bottom=_duration_s, kind="time", bounds=(0.0, 1.0)
            )
            for name in _TIME_SHARES
        },
    }
)


def pooled_rule(name: str, counts: Sequence[str] | frozenset[str]) -> Pooled | None:
    """How a metric is pooled; None for plain means over episodes."""
    stem = name.removesuffix(PER_KM)
    if stem != name and stem in counts:
        return Pooled(top=_count(stem), bottom=km_of, kind="events")
    return POOLED.get(name)


def bounds_of(name: str, values: Sequence[float]) -> tuple[float, float]:
    """Range of a metric, for intervals that stay inside; unbounded if a value lies outside."""
    bounds = _NOT_NEGATIVE
    if name.startswith(("driving_score", "route_completion", "success_rate")):
        bounds = (0.0, 100.0)
    elif name == "success" or name.endswith(("_share", "_penalty", "_rate", "_drive")):
        bounds = (0.0, 1.0)
    return bounds if all(bounds[0] <= value <= bounds[1] for value in values) else UNBOUNDED


def count_names(episodes: Sequence[EpisodeScore]) -> tuple[str, ...]:
    """Names of all counted events, in order."""
    return tuple(dict.fromkeys(name for one in episodes for name in one.counts))


def sums(rule: Pooled, episodes: Sequence[EpisodeScore]) -> tuple[FloatArray, FloatArray]:
    """What each episode adds above and below the line."""
    parts = [(float(rule.top(one)), float(rule.bottom(one))) for one in episodes]
    found = np.array(parts, dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def pooled(rule: Pooled, episodes: Sequence[EpisodeScore], *, resamples: int = RESAMPLES) -> Figure:
    """A ratio of sums over episodes with its interval over routes."""
    top, bottom = sums(rule, episodes)
    routes = [scenario_of(one) for one in episodes]
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
    found = bootstrap.ratio(
        top[kept], bottom[kept], labels, resamples=resamples, bounds=rule.bounds
    )
    is_counted = rule.kind == "mean" and rule.bottom is not km_of
    return figure_of(found, round(float(bottom.sum())) if is_counted else int(kept.sum()))


def share(top: FloatArray, bottom: FloatArray, routes: Sequence[str]) -> Figure:
    """Share of counted things, e.g. needless brakings of all; 0 to 1."""
    yes, all_of = top.astype(np.int64), bottom.astype(np.int64)
    flags = np.repeat(np.tile([1.0, 0.0], len(yes)), np.column_stack([yes, all_of - yes]).ravel())
    interval = clustered_wilson(flags, np.repeat(np.asarray(routes), all_of))
    k = len({route for route, n in zip(routes, all_of, strict=True) if n})
    return _figure(float(flags.mean()), interval, len(flags), k)


def figure_of(found: bootstrap.Estimate, n: int) -> Figure:
    """An estimate as a figure."""
    return Figure(
        value=found.value,
        low=found.interval.low,
        high=found.interval.high,
        n=n,
        warning=found.warning or "",
        clusters=found.n,
    )


def figure_json(figure: Figure) -> dict[str, Any]:
    """A figure as plain values."""
    value: dict[str, Any] = {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "clusters": figure.clusters,
        "few_clusters": figure.few_clusters,
    }
    return value | ({"warning": figure.warning} if figure.warning else {})


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


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0
