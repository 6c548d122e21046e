"""Figures of a run: means over scenarios, success rate and rates per kilometre, with intervals.

Seeds of one scenario resemble each other, so intervals are over scenarios, not over episodes:
BCa bootstrap of scenarios for means, Wilson and exact Poisson intervals with the design effect for
shares and events per kilometre. Ratios are ratios of sums, see `rates`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.metrics.driving.inspected import inspection_of
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED, PROTOCOLS
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.metrics.driving.rates import (
    NOTHING,
    PER_KM,
    RESAMPLES,
    Figure,
    bounds_of,
    count_names,
    figure_json,
    figure_of,
    pooled,
    pooling_of,
    share,
)
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, jsonable, scenario_of
from jaywalk.metrics.pooling import km_of, per_km
from jaywalk.metrics.spec import spec_of
from jaywalk.stats import bootstrap

_SEED: Final = re.compile(r"-s-?\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRow:
    """One scenario over its seeds."""

    scenario: str
    n: int
    successes: int
    driving_score: float
    driving_score_no_min_speed: float  # nan where the protocol has no such factor
    route_completion: float
    events: int
    statuses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A run under one protocol.

    Attributes:
        missing_count_as_zero: Whether announced episodes without a score are in the means as 0.
        success: In percent.
        metrics: By name; scores and completion in percent.
        rates_per_km: By name of the event; ``n`` counts events.
        km: Kilometres driven.
    """

    run: RunScore
    missing_count_as_zero: bool
    success: Figure
    successes: int
    metrics: dict[str, Figure]
    rates_per_km: dict[str, Figure]
    km: float
    scenarios: tuple[ScenarioRow, ...]

    @property
    def few_clusters(self) -> bool:
        """Return whether there are too few scenarios to trust the intervals."""
        return self.success.few_clusters

    @property
    def shown(self) -> dict[str, Figure]:
        """Metrics except those that success and events per km already show."""
        return {
            name: figure
            for name, figure in self.metrics.items()
            if name != "success" and name.removesuffix(PER_KM) not in self.rates_per_km
        }


def aggregate(run: RunScore, *, resamples: int = RESAMPLES) -> Aggregate:
    """Figures of a run; the protocol says whether a missing episode counts as zero."""
    rules = PROTOCOLS.get(run.protocol)
    zero = rules is not None and rules.missing == "zero"
    absent = [_SEED.sub("", name) for name in run.missing] if zero else []
    names = list(dict.fromkeys(name for episode in run.episodes for name in episode.metrics))
    success = _success(run.episodes, absent)
    metrics = {
        name: _metric(run.episodes, name, absent, resamples)
        for name in names
        if spec_of(name).pooling.kind != "apart"
    }
    if "success" in metrics:
        metrics["success"] = success.scaled(0.01)
    return Aggregate(
        run=run,
        missing_count_as_zero=zero,
        success=success,
        successes=sum(episode.success for episode in run.episodes),
        metrics=metrics,
        rates_per_km=_rates(run.episodes),
        km=math.fsum(km_of(episode) for episode in run.episodes),
        scenarios=_by_scenario(run.episodes),
    )


def _metric(
    episodes: Sequence[EpisodeScore], name: str, absent: Sequence[str], resamples: int
) -> Figure:
    rule = pooling_of(name, count_names(episodes))
    if rule.is_ratio:
        return pooled(rule, episodes, resamples=resamples)
    results = [(episode.result(name).value, scenario_of(episode)) for episode in episodes]
    rows = [(value, label) for value, label in results if value is not None]
    if spec_of(name).zero_if_missing:
        rows += [(0.0, label) for label in absent]
    if not rows:
        return NOTHING
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    bounds = bounds_of(name, values)
    return figure_of(
        bootstrap.mean(values, labels, resamples=resamples, bounds=bounds), len(values)
    )


def _success(episodes: Sequence[EpisodeScore], absent: Sequence[str]) -> Figure:
    hits = np.array([float(episode.success) for episode in episodes] + [0.0] * len(absent))
    if not len(hits):
        return NOTHING
    routes = [scenario_of(episode) for episode in episodes] + list(absent)
    return share(hits, np.ones(len(hits)), routes).scaled(100.0)


def _rates(episodes: Sequence[EpisodeScore]) -> dict[str, Figure]:
    return {name: pooled(per_km(name), episodes) for name in count_names(episodes)}


def _by_scenario(episodes: Sequence[EpisodeScore]) -> tuple[ScenarioRow, ...]:
    groups: dict[str, list[EpisodeScore]] = {}
    for episode in episodes:
        groups.setdefault(scenario_of(episode), []).append(episode)
    return tuple(
        ScenarioRow(
            scenario=name,
            n=len(group),
            successes=sum(one.success for one in group),
            driving_score=_average(group, "driving_score"),
            driving_score_no_min_speed=_average(group, NO_MIN_SPEED),
            route_completion=_average(group, "route_completion"),
            events=sum(len(one.infractions) for one in group),
            statuses=tuple(one.status for one in group),
        )
        for name, group in groups.items()
    )


def _average(group: Sequence[EpisodeScore], name: str) -> float:
    kept = [value for one in group if (value := one.result(name).value) is not None]
    return float(np.mean(kept)) if kept else math.nan


def as_json(scored: Aggregate) -> dict[str, Any]:
    """Return the output of ``jaywalk score RUN --json``; rates in percent, NaN as null."""
    run = scored.run
    success: dict[str, Any] = {**figure_json(scored.success)}
    value: dict[str, Any] = {
        "protocol": run.protocol,
        "protocol_version": protocol_version(run.protocol),
        "run": run.name,
        "agent": run.agent,
        "agent_version": run.agent_version,
        "suite": run.suite,
        "code": run.code,
        "mixed_code": run.mixed_code,
        "inspected": inspection_of(run),
        "n": len(run.episodes),
        "expected": run.expected,
        "missing": list(run.missing),
        "status": "complete" if run.is_complete else "INCOMPLETE",
        "missing_count_as_zero": scored.missing_count_as_zero,
        "clusters": scored.success.clusters,
        "few_clusters": scored.few_clusters,
        "metrics": {name: figure_json(figure) for name, figure in scored.metrics.items()},
        "km": scored.km,
        "rates_per_km": {
            name: figure_json(rate) | {"events": rate.n}
            for name, rate in scored.rates_per_km.items()
        },
        "success": {"sr": success.pop("value"), **success, "successes": scored.successes},
        "per_scenario": [_scenario(row) for row in scored.scenarios],
        "episodes": [_episode(episode) for episode in run.episodes],
        "warnings": list(run.warnings),
    }
    plain: dict[str, Any] = jsonable(value)
    return plain


def _scenario(row: ScenarioRow) -> dict[str, Any]:
    return {
        "scenario": row.scenario,
        "n": row.n,
        "successes": row.successes,
        "sr": 100.0 * row.successes / row.n,
        "driving_score": row.driving_score,
        NO_MIN_SPEED: row.driving_score_no_min_speed,
        "route_completion": row.route_completion,
        "events": row.events,
        "statuses": list(row.statuses),
    }


def _episode(score: EpisodeScore) -> dict[str, Any]:
    return {
        "episode_id": score.episode_id,
        "scenario": score.scenario,
        "seed": score.seed,
        "agent": score.agent,
        "status": score.status,
        "success": score.success,
        "metrics": dict(score.metrics),
        "counts": dict(score.counts),
        "infractions": [
            {
                "kind": event.kind,
                "tick": event.tick,
                "time_s": event.time_s,
                "x_m": event.x_m,
                "y_m": event.y_m,
                "message": event.message,
                "other": event.other,
                "value": event.value,
                "factor": event.factor,
            }
            for event in score.infractions
        ],
        "failure": score.failure,
        "folder": score.folder,
    }
