"""A run in figures: means over scenarios, success rate and rates per kilometre, with intervals.

Seeds of one scenario resemble each other, so intervals come from scenarios, not from episodes:
BCa bootstrap of scenarios for means, Wilson with the design effect for rates, exact Poisson for
counts per kilometre.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.metrics.driving.inspected import inspection_of
from jaywalk.metrics.driving.penalties import PROTOCOLS
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.driving.summary import jsonable
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import poisson_rate

_LEAST_KM: Final = 0.001
_SUMMED: Final = frozenset({"driven_km"})  # totals, not means
ZERO_WHEN_MISSING: Final = ("driving_score", "route_completion", "infraction_penalty")
_SEED: Final = re.compile(r"-s-?\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its 95 % interval; ``n`` counts episodes."""

    value: float
    low: float
    high: float
    n: int
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Events a kilometre with the exact Poisson interval."""

    events: int
    per_km: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRow:
    """One scenario over its seeds."""

    scenario: str
    n: int
    successes: int
    driving_score: float
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
        rates_per_km: By name of the event.
        km: Kilometres driven.
    """

    run: RunScore
    missing_count_as_zero: bool
    success: Figure
    successes: int
    metrics: dict[str, Figure]
    rates_per_km: dict[str, Rate]
    km: float
    scenarios: tuple[ScenarioRow, ...]


def aggregate(run: RunScore, *, resamples: int = 10_000) -> Aggregate:
    """Figures of a run; the protocol says whether a missing episode counts as zero."""
    rules = PROTOCOLS.get(run.protocol)
    zero = rules is not None and rules.missing == "zero"
    absent = [_SEED.sub("", name) for name in run.missing] if zero else []
    names = list(dict.fromkeys(name for one in run.episodes for name in one.metrics))
    km = math.fsum(_finite(one.metrics.get("driven_km")) for one in run.episodes)
    return Aggregate(
        run=run,
        missing_count_as_zero=zero,
        success=_success(run.episodes, absent),
        successes=sum(one.success for one in run.episodes),
        metrics={
            name: _mean(run.episodes, name, absent, resamples)
            for name in names
            if name not in _SUMMED
        },
        rates_per_km=_rates(run.episodes, km),
        km=km,
        scenarios=_by_scenario(run.episodes),
    )


def _mean(
    episodes: Sequence[EpisodeScore], name: str, absent: Sequence[str], resamples: int
) -> Figure:
    rows = [
        (one.metrics[name], scenario_of(one))
        for one in episodes
        if math.isfinite(one.metrics.get(name, math.nan))
    ]
    if name in ZERO_WHEN_MISSING:
        rows += [(0.0, label) for label in absent]
    if not rows:
        return Figure(value=math.nan, low=math.nan, high=math.nan, n=0)
    found = bootstrap.mean(
        [value for value, _ in rows], [label for _, label in rows], resamples=resamples
    )
    return Figure(
        value=found.value,
        low=found.interval.low,
        high=found.interval.high,
        n=len(rows),
        warning=found.warning or "",
    )


def _success(episodes: Sequence[EpisodeScore], absent: Sequence[str]) -> Figure:
    hits = [float(one.success) for one in episodes] + [0.0] * len(absent)
    if not hits:
        return Figure(value=math.nan, low=math.nan, high=math.nan, n=0)
    interval = clustered_wilson(hits, [scenario_of(one) for one in episodes] + list(absent))
    return Figure(
        value=100.0 * float(np.mean(hits)),
        low=100.0 * interval.low,
        high=100.0 * interval.high,
        n=len(hits),
    )


def _rates(episodes: Sequence[EpisodeScore], km: float) -> dict[str, Rate]:
    names = dict.fromkeys(name for one in episodes for name in one.counts)
    exposure = max(_LEAST_KM, km)
    rates = {}
    for name in names:
        events = sum(one.counts.get(name, 0) for one in episodes)
        interval = poisson_rate(events, exposure)
        rates[name] = Rate(
            events=events, per_km=events / exposure, low=interval.low, high=interval.high
        )
    return rates


def _by_scenario(episodes: Sequence[EpisodeScore]) -> tuple[ScenarioRow, ...]:
    groups: dict[str, list[EpisodeScore]] = {}
    for one in episodes:
        groups.setdefault(scenario_of(one), []).append(one)
    return tuple(
        ScenarioRow(
            scenario=name,
            n=len(group),
            successes=sum(one.success for one in group),
            driving_score=_average(group, "driving_score"),
            route_completion=_average(group, "route_completion"),
            events=sum(len(one.infractions) for one in group),
            statuses=tuple(one.status for one in group),
        )
        for name, group in groups.items()
    )


def _average(group: Sequence[EpisodeScore], name: str) -> float:
    values = [one.metrics.get(name, math.nan) for one in group]
    kept = [value for value in values if math.isfinite(value)]
    return float(np.mean(kept)) if kept else math.nan


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0


def as_json(found: Aggregate) -> dict[str, Any]:
    """What ``jaywalk score RUN --json`` prints; rates in percent, NaN as null."""
    run = found.run
    success = _figure(found.success)
    value: dict[str, Any] = {
        "protocol": run.protocol,
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
        "missing_count_as_zero": found.missing_count_as_zero,
        "metrics": {name: _figure(figure) for name, figure in found.metrics.items()},
        "km": found.km,
        "rates_per_km": {
            name: {"value": r.per_km, "low": r.low, "high": r.high, "events": r.events}
            for name, r in found.rates_per_km.items()
        },
        "success": {"sr": success.pop("value"), **success, "successes": found.successes},
        "per_scenario": [_scenario(row) for row in found.scenarios],
        "episodes": [_episode(one) for one in run.episodes],
        "warnings": list(run.warnings),
    }
    plain: dict[str, Any] = jsonable(value)
    return plain


def _figure(figure: Figure) -> dict[str, Any]:
    value: dict[str, Any] = {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
    }
    return value | ({"warning": figure.warning} if figure.warning else {})


def _scenario(row: ScenarioRow) -> dict[str, Any]:
    return {
        "scenario": row.scenario,
        "n": row.n,
        "successes": row.successes,
        "sr": 100.0 * row.successes / row.n,
        "driving_score": row.driving_score,
        "route_completion": row.route_completion,
        "events": row.events,
        "statuses": list(row.statuses),
    }


def _episode(one: EpisodeScore) -> dict[str, Any]:
    return {
        "episode_id": one.episode_id,
        "scenario": one.scenario,
        "seed": one.seed,
        "agent": one.agent,
        "status": one.status,
        "success": one.success,
        "metrics": dict(one.metrics),
        "counts": dict(one.counts),
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
            for event in one.infractions
        ],
        "failure": one.failure,
        "folder": one.folder,
    }
