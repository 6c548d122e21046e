"""Fail2Drive: driving score, success rate and their harmonic mean on pairs of routes.

Every route of the Base split has a twin of the Generalization split, whose number is 1000 higher.
All rows of all seeds are pooled; routes without a row are left out of the means and reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.driving.fail2drive_split import (
    CATEGORIES,
    GENERALIZATION_OFFSET,
    SPLITS,
    Route,
    published_split,
)
from jaywalk.metrics.driving.penalties import PROTOCOLS, is_success
from jaywalk.metrics.driving.results import UNSCORED, Finding, ResultSet, RouteRecord
from jaywalk.metrics.driving.summary import (
    ends,
    finding_lines,
    flags_and_warnings,
    listed,
    one_method,
)
from jaywalk.stats.bootstrap import bca
from jaywalk.stats.clustered import clustered_wilson

Rounding = Literal["none", "parser"]
FloatArray = NDArray[np.float64]

_PROTOCOL = PROTOCOLS["fail2drive"]
_SETUP_FAILED = "Failed - Agent couldn't be set up"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    route: Route
    driving_score: float
    success: bool


def score(
    results: ResultSet,
    *,
    routes: Mapping[int, Route] | None = None,
    rounding: Rounding = "none",
    success_requires_completion: bool = False,
    resamples: int = 10_000,
) -> dict[str, Any]:
    """Score a set of Fail2Drive results.

    Args:
        results: Records of one method.
        routes: Routes of the split by number; default: the published 200.
        rounding: ``parser`` rounds driving score and success rate of the two halves to one
            decimal before the harmonic mean and the changes, as the benchmark's parser does.
        success_requires_completion: Count only routes driven to their end as successes.
        resamples: Bootstrap samples of the intervals.

    Returns:
        The scores as plain values, ready for JSON except that NaN is still NaN.
    """
    split = published_split() if routes is None else routes
    method = one_method(results)
    kept, findings = _select(results.records, split)
    rows = [_row(split[number], record, success_requires_completion) for number, record in kept]
    flags, disagreeing, warnings = flags_and_warnings(
        _PROTOCOL, results, [record for _, record in kept]
    )
    missing, seeds = _missing(kept, split, results.records)
    warnings = finding_lines(findings) + _missing_warning(missing) + _id_warning(kept) + warnings
    return {
        "protocol": _PROTOCOL.name,
        "method": method,
        "n_records": len(rows),
        "missing": missing,
        **_main_table(rows, rounding),
        "categories": _categories(rows),
        "classes": _classes(rows),
        "warnings": warnings,
        "seeds": seeds,
        "rounding": rounding,
        "success_requires_completion": success_requires_completion,
        "flags": flags,
        "disagreements": disagreeing,
        "intervals": _intervals(rows, resamples),
    }


def harmonic_mean(a: float, b: float) -> float:
    """Harmonic mean; 0 if either is 0, NaN if either is negative or NaN."""
    if math.isnan(a) or math.isnan(b) or a < 0.0 or b < 0.0:
        return math.nan
    if a == 0.0 or b == 0.0:
        return 0.0
    return 2.0 / (1.0 / a + 1.0 / b)


def change_percent(old: float, new: float) -> float:
    """Relative change in percent; NaN if the old value is 0."""
    return 100.0 * new / old - 100.0 if old != 0.0 else math.nan


def _select(
    records: Sequence[RouteRecord], split: Mapping[int, Route]
) -> tuple[list[tuple[int, RouteRecord]], list[Finding]]:
    """Records that count, and a finding for each that does not."""
    kept: list[tuple[int, RouteRecord]] = []
    findings: list[Finding] = []
    seen: set[tuple[str, int, int]] = set()
    for record in records:
        number = record.number
        if record.status == _SETUP_FAILED:
            problem = "the agent could not be set up; the protocol leaves such routes out"
        elif number is None or number not in split:
            problem = "its route is not in the split"
        elif (record.seed, number, record.repetition) in seen:
            problem = "a second record of the same route and seed; the first counts"
        else:
            seen.add((record.seed, number, record.repetition))
            kept.append((number, record))
            continue
        findings.append(Finding(kind=UNSCORED, source=record.source, text=problem))
    return kept, findings


def _missing(
    kept: Sequence[tuple[int, RouteRecord]],
    split: Mapping[int, Route],
    records: Sequence[RouteRecord],
) -> tuple[list[str], list[str]]:
    """Routes without a row, seed by seed, and the names of the seeds."""
    seeds = sorted({_seed_name(record) for record in records})
    have = {(_seed_name(record), number) for number, record in kept}
    missing = [
        f"{seed}/{route.name}" if seed else route.name
        for seed in seeds
        for number, route in sorted(split.items())
        if (seed, number) not in have
    ]
    return missing, seeds


def _seed_name(record: RouteRecord) -> str:
    return record.seed if record.repetition == 0 else f"{record.seed}rep{record.repetition}"


def _missing_warning(missing: Sequence[str]) -> list[str]:
    if not missing:
        return []
    return [f"INCOMPLETE: no record of {listed(missing)}; they are left out of the means"]


def _id_warning(kept: Sequence[tuple[int, RouteRecord]]) -> list[str]:
    other = [
        record.source
        for number, record in kept
        if (match := re.match(r"^RouteScenario_(\d+)_", record.route_id)) is not None
        and int(match[1]) != number
    ]
    if not other:
        return []
    return [f"note: the route id differs from the file name, which is used: {listed(other)}"]


def _row(route: Route, record: RouteRecord, requires_completion: bool) -> _Row:
    success = is_success(_PROTOCOL, record, requires_completion=requires_completion)
    return _Row(route=route, driving_score=record.driving_score, success=success)


def _main_table(rows: Sequence[_Row], rounding: Rounding) -> dict[str, Any]:
    base, generalization = (
        _half([row for row in rows if row.route.split == name], rounding) for name in SPLITS
    )
    changes = {key: change_percent(base[key], generalization[key]) for key in ("ds", "sr", "hm")}
    return {"base": base, "generalization": generalization, "change_percent": changes}


def _half(rows: Sequence[_Row], rounding: Rounding) -> dict[str, Any]:
    if not rows:
        return {"ds": math.nan, "sr": math.nan, "hm": math.nan, "n": 0}
    ds = float(np.mean([row.driving_score for row in rows]))
    sr = 100.0 * float(np.mean([row.success for row in rows]))
    if rounding == "parser":
        ds, sr = float(np.round(ds, 1)), float(np.round(sr, 1))
    return {"ds": ds, "sr": sr, "hm": harmonic_mean(ds, sr), "n": len(rows)}


def _group(rows: Sequence[_Row]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Both halves of some rows, never rounded; None where one half has no row."""
    base, generalization = (
        _half([row for row in rows if row.route.split == name], "none") for name in SPLITS
    )
    return (base, generalization) if base["n"] and generalization["n"] else None


def _categories(rows: Sequence[_Row]) -> dict[str, Any]:
    out = {}
    for category, classes in CATEGORIES.items():
        both = _group([row for row in rows if row.route.class_name in classes])
        if both is not None:
            out[category] = _change(*both)
    return out


def _classes(rows: Sequence[_Row]) -> dict[str, Any]:
    category_of = {name: category for category, names in CATEGORIES.items() for name in names}
    out = {}
    for name in sorted({row.route.class_name for row in rows}):
        both = _group([row for row in rows if row.route.class_name == name])
        if both is not None:
            out[name] = {
                "category": category_of.get(name),
                **_change(*both),
                "base": both[0],
                "generalization": both[1],
            }
    return out


def _change(base: dict[str, Any], generalization: dict[str, Any]) -> dict[str, Any]:
    return {
        "base_hm": base["hm"],
        "generalization_hm": generalization["hm"],
        "change_percent": change_percent(base["hm"], generalization["hm"]),
        "base_n": base["n"],
        "generalization_n": generalization["n"],
    }


def _intervals(rows: Sequence[_Row], resamples: int) -> dict[str, Any]:
    """95 % intervals; pairs of routes are drawn, so that a change stays paired."""
    pairs = sorted({row.route.number % GENERALIZATION_OFFSET for row in rows})
    code = {pair: index for index, pair in enumerate(pairs)}
    sums = {name: np.zeros((3, len(pairs))) for name in SPLITS}
    for row in rows:
        column = code[row.route.number % GENERALIZATION_OFFSET]
        sums[row.route.split][:, column] += (row.driving_score, 100.0 * row.success, 1.0)
    out: dict[str, Any] = {"level": 0.95}
    values = {}
    for name in SPLITS:
        half = [row for row in rows if row.route.split == name]
        rate = clustered_wilson([r.success for r in half], [r.route.number for r in half])
        values[name] = _statistics(sums[name])
        out[name] = {
            "ds": _ends_of(values[name]["ds"], len(pairs), resamples),
            "sr": ends(rate.scaled(100.0)),
            "hm": _ends_of(values[name]["hm"], len(pairs), resamples),
        }
    out["change_percent"] = {
        key: _ends_of(
            _relative(values["base"][key], values["generalization"][key]), len(pairs), resamples
        )
        for key in ("ds", "sr", "hm")
    }
    return out


_Statistic = Callable[[FloatArray], FloatArray]


def _statistics(sums: FloatArray) -> dict[str, _Statistic]:
    """Driving score, success rate and harmonic mean as functions of multiplicities."""

    def mean(row: int) -> _Statistic:
        def statistic(weights: FloatArray) -> FloatArray:
            n = weights @ sums[2]
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(n > 0.0, (weights @ sums[row]) / n, np.nan)

        return statistic

    ds, sr = mean(0), mean(1)

    def hm(weights: FloatArray) -> FloatArray:
        a, b = ds(weights), sr(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((a > 0.0) & (b > 0.0), 2.0 * a * b / (a + b), a * b * 0.0)

    return {"ds": ds, "sr": sr, "hm": hm}


def _relative(old: _Statistic, new: _Statistic) -> _Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        below = old(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below > 0.0, 100.0 * new(weights) / below - 100.0, np.nan)

    return statistic


def _ends_of(statistic: _Statistic, clusters: int, resamples: int) -> list[float]:
    return ends(bca(statistic, clusters, resamples=resamples).interval)
