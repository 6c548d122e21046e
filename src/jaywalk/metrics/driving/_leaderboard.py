"""CARLA Leaderboard 1.0, 2.0 and 2.1: mean driving score, completion and infractions per kilometre.

A record keeps its written score if its penalty follows from its messages under the chosen rules.
Other records, made under other rules, are scored again from their messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jaywalk.metrics.driving.penalties import (
    Protocol,
    driving_score,
    infraction_score,
    score_without_min_speed,
)
from jaywalk.metrics.driving.results import INFRACTIONS, ResultSet, RouteRecord
from jaywalk.metrics.driving.summary import ends, flags_and_warnings, listed, one_method
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_rate, design_effect
from jaywalk.stats.intervals import FEW_CLUSTERS, poisson_rate

_MIN_KM = 0.001


def score(results: ResultSet, protocol: Protocol, *, resamples: int = 10_000) -> dict[str, Any]:
    """Score a set of results under one version of the Leaderboard's rules.

    Routes announced in the files without a record count as zero.

    Returns:
        Plain values; scores and completion in percent. NaN is still NaN.
    """
    method = one_method(results)
    records = results.records
    penalties, rescored = _penalties(protocol, records)
    flags, disagreeing, warnings = flags_and_warnings(protocol, results, records)
    n = max(results.announced.get(method, 0), len(records))
    absent = [0.0] * (n - len(records))
    scores = [
        record.driving_score if not again else driving_score(record.completion_percent, penalty)
        for record, penalty, again in zip(records, penalties, rescored, strict=True)
    ] + absent
    clusters = [_cluster(record) for record in records] + [
        f"absent {i}" for i in range(len(absent))
    ]
    missing = [f"{len(absent)} routes announced without a record"] if absent else []
    again = [record.source for record, new in zip(records, rescored, strict=True) if new]
    notes = [f"INCOMPLETE: {missing[0]}; they count as zero"] if missing else []
    if again:
        notes.append(
            f"scored anew under {protocol.name}, their penalty is of other rules: {listed(again)}"
        )
    mean = bootstrap.mean(scores, clusters, resamples=resamples, bounds=(0.0, 100.0))
    if mean.few_clusters:
        notes.append(f"only {mean.n} routes, fewer than {FEW_CLUSTERS}: intervals are widened")
    return {
        "protocol": protocol.name,
        "protocol_version": protocol.version,
        "method": method,
        "n_records": len(records),
        "n": n,
        "missing": missing,
        "ds": mean.value,
        "ds_no_min_speed": _no_min_speed(protocol, records, scores, n),
        "rc": math.fsum(record.completion_percent for record in records) / n,
        "penalty": math.fsum(penalties) / n,
        **_rates(records),
        "warnings": notes + warnings,
        "flags": flags,
        "disagreements": disagreeing,
        "intervals": {
            "level": 0.95,
            "clusters": mean.n,
            "few_clusters": mean.few_clusters,
            "ds": ends(mean.interval),
        },
    }


def _no_min_speed(
    protocol: Protocol, records: Sequence[RouteRecord], scores: Sequence[float], n: int
) -> float:
    """Mean driving score without the minimum-speed factor; nan where the rules have none."""
    if not protocol.min_speed:
        return math.nan
    scored = [
        replace(record, driving_score=value)
        for record, value in zip(records, scores[: len(records)], strict=True)
    ]
    return math.fsum(score_without_min_speed(protocol, record) for record in scored) / n


def _penalties(
    protocol: Protocol, records: Sequence[RouteRecord]
) -> tuple[list[float], list[bool]]:
    penalties, rescored = [], []
    for record in records:
        derived = infraction_score(protocol, record)
        again = not abs(derived.value - record.penalty) <= derived.tolerance
        penalties.append(derived.value if again else record.penalty)
        rescored.append(again)
    return penalties, rescored


def _cluster(record: RouteRecord) -> str:
    """Return the cluster of a record: seeds and repetitions of one route share it."""
    return record.source if record.number is None else str(record.number)


def _rates(records: Sequence[RouteRecord]) -> dict[str, Any]:
    """Return infractions per km: exact Poisson intervals with the design effect of routes."""
    driven = np.nan_to_num([r.route_length_m * r.completion_percent / 1e5 for r in records])
    km = max(_MIN_KM, float(driven.sum()))
    routes = [_cluster(record) for record in records]
    rates = {}
    for key in INFRACTIONS:
        events = np.array([len(record.messages(key)) for record in records], dtype=np.float64)
        is_driven = driven.sum() >= _MIN_KM
        interval = (
            clustered_rate(events, driven, routes)
            if is_driven
            else poisson_rate(float(events.sum()), km)
        )
        rates[key] = {
            "events": int(events.sum()),
            "per_km": float(events.sum()) / km,
            "interval": ends(interval),
            "design_effect": design_effect(events, driven, routes),
        }
    return {"driven_km": km, "infractions": rates}
