"""Scores of result files from other evaluators under a public protocol.

CARLA Leaderboard 1.0, 2.0 and 2.1 give a mean driving score, completion and infractions per
kilometre. A record keeps its written score if its penalty follows from its messages under the
chosen rules. Other records, made under other rules, are scored again from their messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.metrics.driving import bench2drive
from jaywalk.metrics.driving.penalties import (
    PROTOCOLS,
    Protocol,
    driving_score,
    infraction_score,
    protocol_named,
    score_without_min_speed,
)
from jaywalk.metrics.driving.results import INFRACTIONS, ResultSet, RouteRecord, read_results
from jaywalk.metrics.driving.summary import ends, flags_and_warnings, jsonable, listed, one_method
from jaywalk.metrics.generalization import _public as fail2drive
from jaywalk.metrics.generalization.split import read_split
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_rate, design_effect
from jaywalk.stats.intervals import FEW_CLUSTERS, poisson_rate


def score_results(
    path: Path,
    protocol: str,
    *,
    method: str | None = None,
    routes: Path | None = None,
    rounding: str = "none",
    requires_completion: bool = False,
) -> dict[str, Any]:
    """Score result files.

    Args:
        path: Folder, archive or JSON file.
        protocol: Name of the rules.
        method: Which system, where the files hold several.
        routes: Route file, folder or archive that was driven.
        rounding: ``parser`` rounds before the harmonic mean, as the parser of Fail2Drive does.
        requires_completion: A success must reach the end of its route.

    Returns:
        Scores, intervals and warnings as JSON values.

    Raises:
        UsageError: The protocol cannot score result files, or an option is not for it.
    """
    if protocol == "jaywalk":
        raise UsageError(
            "Protocol 'jaywalk' needs a recorded run, result files do not say enough. "
            f"Choose with --protocol: {', '.join(PROTOCOLS)}."
        )
    rules = protocol_named(protocol)
    if rounding != "none" and rules.name != "fail2drive":
        raise UsageError("--rounding parser belongs to --protocol fail2drive.")
    if requires_completion and rules.success_forgives is None:
        raise UsageError(f"--success-requires-completion: {rules.name} has no success rate.")
    results = read_results(path, method)
    scored: dict[str, Any]
    if rules.name == "fail2drive":
        scored = fail2drive.score(
            results,
            routes=None if routes is None else read_split(routes),
            rounding="parser" if rounding == "parser" else "none",
            success_requires_completion=requires_completion,
        )
    elif rules.name == "bench2drive":
        scored = bench2drive.score(
            results,
            routes=None if routes is None else bench2drive.read_routes(routes),
            success_requires_completion=requires_completion,
        )
    else:
        scored = score_leaderboard(results, rules)
    values: dict[str, Any] = jsonable(scored)
    return values


_MIN_KM = 0.001


def score_leaderboard(
    results: ResultSet, protocol: Protocol, *, resamples: int = 10_000
) -> dict[str, Any]:
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
            f"scored again under {protocol.name}, their penalty is of other rules: {listed(again)}"
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
