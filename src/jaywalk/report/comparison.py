"""Runs against a baseline, paired by scenario and seed: differences, tests, power, flips.

Ratios are ratios of sums on each side, as `metrics.driving.rates` defines them. Specs mark the
primary metrics before any results are known; the p values of these metrics are corrected together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.metrics.driving.rates import bounds_of, count_names, pooling_of, sums
from jaywalk.metrics.driving.summary import EpisodeScore, RunScore, scenario_of
from jaywalk.metrics.pooling import Pooling, km_of, per_km
from jaywalk.metrics.spec import spec_of
from jaywalk.report.scored_runs import (
    ScoredRun,
    episodes_by_pair,
    is_doubled,
    run_labels,
    what_was_tested,
)
from jaywalk.report.summary import cause_of
from jaywalk.stats.bootstrap import Estimate, Statistic, bca, cluster_codes
from jaywalk.stats.clustered import (
    SignTest,
    compare_paired,
    detectable_difference,
    holm,
    mcnemar,
    sign_test,
    success_difference,
)
from jaywalk.stats.intervals import FEW_CLUSTERS, Interval, poisson_rate

SUCCESS = "success_rate"
POWER: Final = 0.8
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Candidate minus baseline in one quantity, over the pairs that have it.

    Attributes:
        baseline: Value of the baseline over these pairs.
        candidate: Value of the candidate over the same pairs.
        value: ``candidate - baseline``.
        low: Lower end of its interval over scenarios; NaN where none exists.
        high: Upper end.
        n_pairs: Pairs with a value on both sides.
        n_scenarios: Scenarios those belong to.
        sign: Sign test over scenarios.
        detectable: Smallest true difference found with 80 % power at the 5 % level; NaN if unknown.
        primary: Whether the metric is of the declared primary set.
        p_holm: Its p value after Holm's correction over that set; None for other metrics.
        warning: Why the interval is weaker than asked for.
    """

    name: str
    baseline: float
    candidate: float
    value: float
    low: float
    high: float
    n_pairs: int
    n_scenarios: int
    sign: SignTest
    detectable: float
    primary: bool
    p_holm: float | None = None
    warning: str = ""

    @property
    def few_clusters(self) -> bool:
        """Return whether there are too few scenarios to trust the interval."""
        return self.n_scenarios < FEW_CLUSTERS

    @property
    def is_clear(self) -> bool:
        """Return whether the interval excludes zero."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A pair that one run passed and the other failed."""

    scenario: str
    seed: int | None
    to_success: bool  # of the candidate
    cause: str  # of the failure, whichever side it is on
    baseline_id: str
    candidate_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOfRuns:
    """One run against the baseline."""

    baseline: str
    candidate: str
    n_pairs: int
    expected: int
    unpaired: tuple[str, ...]
    metrics: tuple[Difference, ...]
    rates_per_km: tuple[Difference, ...]
    flips: tuple[Flip, ...]

    @property
    def gained(self) -> int:
        """Pairs that flipped to success."""
        return sum(flip.to_success for flip in self.flips)

    @property
    def lost(self) -> int:
        """Pairs that flipped to failure."""
        return len(self.flips) - self.gained

    @property
    def flip_p_value(self) -> float:
        """Exact McNemar test of the flips; takes the seeds of a scenario as independent."""
        return mcnemar(self.gained, self.lost)

    @property
    def is_complete(self) -> bool:
        """Return whether both sides have every announced episode."""
        return not self.unpaired and self.n_pairs == self.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All runs against the first."""

    protocol: str
    level: float
    pairs: tuple[PairOfRuns, ...]
    warnings: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether all pairs of runs are complete."""
        return all(pair.is_complete for pair in self.pairs)

    @property
    def primary(self) -> tuple[Difference, ...]:
        """All tests that are corrected together, of all candidates."""
        found = (d for pair in self.pairs for d in (*pair.metrics, *pair.rates_per_km))
        return tuple(d for d in found if d.primary)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; values that do not exist are null."""
        return {
            "protocol": self.protocol,
            "protocol_version": protocol_version(self.protocol),
            "complete": self.is_complete,
            "level": self.level,
            "primary": list(dict.fromkeys(d.name for d in self.primary)),
            "primary_tests": len(self.primary),
            "power": POWER,
            "comparisons": [_pair_json(pair) for pair in self.pairs],
            "warnings": list(self.warnings),
        }


def compare_runs(
    runs: Sequence[ScoredRun], *, allow_mixed: bool = False, level: float = 0.95
) -> Comparison:
    """Compare every run with the first.

    Args:
        runs: Two or more, scored.
        allow_mixed: Compare runs of different protocols, suites or scenario versions too; what
            differs becomes a warning.
        level: Confidence level of the intervals.

    Raises:
        UsageError: Fewer than two runs, or they differ in what was tested.
        DataError: Two runs have no scenario and seed in common.
    """
    if len(runs) < 2:
        raise UsageError("Nothing to compare: give two or more runs.")
    scores = [run.score for run in runs]
    labels = run_labels(scores)
    warnings = [
        f"{label}: {text}" for label, s in zip(labels, scores, strict=True) for text in s.warnings
    ]
    pairs = []
    for label, run in zip(labels[1:], runs[1:], strict=True):
        problems = _differences_of_test(runs[0], run)
        if problems and not allow_mixed:
            raise UsageError(
                f"'{labels[0]}' and '{label}' were not given the same test: {'; '.join(problems)}. "
                "Run both on the same versions, or add --allow-mixed to compare them all the same."
            )
        warnings += [f"{labels[0]} and {label} differ: {problem}" for problem in problems]
        pairs.append(_compare_two(scores[0], run.score, (labels[0], label), level))
    return Comparison(
        protocol=scores[0].protocol, level=level, pairs=_corrected(pairs), warnings=tuple(warnings)
    )


def _corrected(pairs: Sequence[PairOfRuns]) -> tuple[PairOfRuns, ...]:
    """Holm's correction over the primary metrics of all candidates."""
    groups = [group for pair in pairs for group in (pair.metrics, pair.rates_per_km)]
    raw = [d.sign.p_value for group in groups for d in group if d.primary]
    adjusted = iter(holm(raw))
    done = iter(
        [
            tuple(replace(d, p_holm=next(adjusted)) if d.primary else d for d in group)
            for group in groups
        ]
    )
    return tuple(replace(p, metrics=next(done), rates_per_km=next(done)) for p in pairs)


def _compare_two(a: RunScore, b: RunScore, labels: tuple[str, str], level: float) -> PairOfRuns:
    first, second = episodes_by_pair(a), episodes_by_pair(b)
    keys = [key for key in first if key in second]
    if not keys:
        raise DataError(
            f"'{labels[0]}' and '{labels[1]}' have no scenario and seed in common, e.g. "
            f"{_some(first)} against {_some(second)}. Run the same suite with the same seeds."
        )
    rows = [(first[key], second[key]) for key in keys]
    alone = [_named(key) for key in (*first, *second) if (key in first) != (key in second)]
    missing = {name for run in (a, b) for name in run.missing}
    return PairOfRuns(
        baseline=labels[0],
        candidate=labels[1],
        n_pairs=len(rows),
        expected=max(a.expected, b.expected, len({*first, *second})),
        unpaired=tuple(sorted({*alone, *missing})),
        metrics=_metric_differences(rows, level),
        rates_per_km=_rate_differences(rows, level),
        flips=tuple(_flip(one, other) for one, other in rows if one.success != other.success),
    )


Rows = Sequence[tuple[EpisodeScore, EpisodeScore]]


def _metric_differences(rows: Rows, level: float) -> tuple[Difference, ...]:
    differences = [_success_difference(rows, level)]
    everyone = [score for pair in rows for score in pair]
    names = dict.fromkeys(name for score in everyone for name in score.metrics)
    counts = count_names(everyone)
    for name in names:
        if is_doubled(name, set(counts)):
            continue
        rule = pooling_of(name, counts)
        difference = (
            _ratio_difference(name, rule, rows, level)
            if rule.is_ratio
            else _mean_difference(name, rows, level)
        )
        differences += [difference] if difference is not None else []
    return tuple(differences)


def _success_difference(rows: Rows, level: float) -> Difference:
    a, b = (np.array([float(pair[side].success) for pair in rows]) for side in (0, 1))
    scenarios = np.array([scenario_of(one) for one, _ in rows])
    estimate = _percent(success_difference(a, b, scenarios, level))
    sign = compare_paired(a, b, scenarios, resamples=1).sign
    sides = 100.0 * float(a.mean()), 100.0 * float(b.mean())
    return _difference(SUCCESS, sides, estimate, len(rows), sign)


def _percent(estimate: Estimate) -> Estimate:
    return replace(
        estimate,
        value=100.0 * estimate.value,
        interval=estimate.interval.scaled(100.0),
        standard_error=100.0 * estimate.standard_error,
    )


def _mean_difference(name: str, rows: Rows, level: float) -> Difference | None:
    """Difference of means over the pairs that have the metric on both sides."""
    values = [
        (one.result(name).value, other.result(name).value, scenario_of(one)) for one, other in rows
    ]
    kept = [row for row in values if row[0] is not None and row[1] is not None]
    if not kept:
        return None
    a, b = np.array([row[:2] for row in kept], float).T
    bounds = _of_difference(bounds_of(name, [*a, *b]))
    compared = compare_paired(a, b, np.array([row[2] for row in kept]), level=level, bounds=bounds)
    sides = float(a.mean()), float(b.mean())
    return _difference(name, sides, compared.difference, len(kept), compared.sign)


def _of_difference(bounds: tuple[float, float]) -> tuple[float, float]:
    """Bounds of a difference of two quantities within ``bounds``."""
    return bounds[0] - bounds[1], bounds[1] - bounds[0]


def _rate_differences(rows: Rows, level: float) -> tuple[Difference, ...]:
    """Every counted event per km driven."""
    if any(sum(km_of(pair[side]) for pair in rows) <= 0.0 for side in (0, 1)):
        return ()
    names = count_names([score for pair in rows for score in pair])
    differences = []
    for name in names:
        one = _ratio_difference(name, per_km(name), rows, level)
        differences += [one] if one is not None else []
    return tuple(differences)


def _ratio_difference(name: str, rule: Pooling, rows: Rows, level: float) -> Difference | None:
    """Return the difference of ratios of sums, resampled by scenario; None if a side has none."""
    above, below = zip(*(sums(rule, [pair[side] for pair in rows]) for side in (0, 1)), strict=True)
    if min(below[0].sum(), below[1].sum()) <= 0.0:
        return None
    counts = (below[0] > 0.0) | (below[1] > 0.0)  # the others carry no information
    labels = [scenario_of(one) for (one, _), keep in zip(rows, counts, strict=True) if keep]
    codes, n = cluster_codes(labels)
    top = [np.bincount(codes, part[counts], n).astype(np.float64) for part in above]
    bottom = [np.bincount(codes, part[counts], n).astype(np.float64) for part in below]
    statistic = _ratio_statistic(top, bottom)
    estimate = bca(statistic, n, level=level, bounds=_of_difference(rule.bounds))
    if rule.bottom is km_of and np.array_equal(top[0], top[1]):
        # No scenario has an event on one side alone, so resamples say nothing about the spread.
        # A hit adds at most one injury, so the bound on events holds for injuries too.
        estimate = _no_event_differs(estimate, bottom, level)
    sides = float(top[0].sum() / bottom[0].sum()), float(top[1].sum() / bottom[1].sum())
    sign = _ratio_sign(top, bottom, is_counted=rule.kind == "events")
    return _difference(name, sides, estimate, int(counts.sum()), sign)


def _ratio_sign(
    top: Sequence[FloatArray], bottom: Sequence[FloatArray], *, is_counted: bool
) -> SignTest:
    """Run the sign test over scenarios with the ratio on both sides; equal events are a tie."""
    both = (bottom[0] > 0.0) & (bottom[1] > 0.0)
    a, b = (t[both] / d[both] for t, d in zip(top, bottom, strict=True))
    if is_counted:
        b = np.where(top[0][both] == top[1][both], a, b)
    return sign_test(a, b, tolerance=1e-12)


def _no_event_differs(estimate: Estimate, km: Sequence[FloatArray], level: float) -> Estimate:
    """The estimate with the exact Poisson bound on events that one side alone has: none seen."""
    below, above = (poisson_rate(0, float(one.sum()), level).high for one in km)
    interval = Interval(estimate.value - below, estimate.value + above, level)
    return replace(estimate, interval=interval, standard_error=0.0)


def _difference(
    name: str, sides: tuple[float, float], estimate: Estimate, n_pairs: int, sign: SignTest
) -> Difference:
    return Difference(
        name=name,
        baseline=sides[0],
        candidate=sides[1],
        value=estimate.value,
        low=estimate.interval.low,
        high=estimate.interval.high,
        n_pairs=n_pairs,
        n_scenarios=estimate.n,
        sign=sign,
        detectable=detectable_difference(estimate, power=POWER),
        primary=spec_of(name).primary,
        warning=estimate.warning or "",
    )


def _ratio_statistic(top: Sequence[FloatArray], bottom: Sequence[FloatArray]) -> Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = ((weights @ t) / (weights @ d) for t, d in zip(top, bottom, strict=True))
        return np.asarray(b - a)

    return statistic


def _flip(first: EpisodeScore, other: EpisodeScore) -> Flip:
    return Flip(
        scenario=scenario_of(first),
        seed=first.seed,
        to_success=other.success,
        cause=cause_of(first if other.success else other),
        baseline_id=first.episode_id,
        candidate_id=other.episode_id,
    )


def _differences_of_test(a: ScoredRun, b: ScoredRun) -> list[str]:
    """Return the reasons why two runs are different tests, one line each; empty for equal tests."""
    problems = []
    for what in ("protocol", "suite"):
        mine, theirs = getattr(a.score, what), getattr(b.score, what)
        if mine != theirs:
            problems.append(f"{what} '{mine}' against '{theirs}'")
    first, second = episodes_by_pair(a.score), episodes_by_pair(b.score)
    by_reason: dict[str, list[str]] = {}
    for key in (key for key in first if key in second):
        mine_of, theirs_of = what_was_tested(a, first[key]), what_was_tested(b, second[key])
        for what in mine_of.keys() & theirs_of.keys():
            mine, theirs = mine_of[what], theirs_of[what]
            if mine != theirs and f"{what} '{mine}' against '{theirs}'" not in problems:
                reason = f"{what} '{mine}' against '{theirs}'"
                by_reason.setdefault(reason, []).append(_named(key))
    for reason, names in sorted(by_reason.items()):
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        problems.append(f"{reason} in {', '.join(names[:_MOST_NAMED])}{more}")
    return problems


def _named(key: tuple[str, int | None]) -> str:
    return key[0] if key[1] is None else f"{key[0]}-s{key[1]}"


def _some(found: dict[tuple[str, int | None], EpisodeScore]) -> str:
    return ", ".join(_named(key) for key in list(found)[:_MOST_NAMED]) or "none at all"


def _pair_json(pair: PairOfRuns) -> dict[str, Any]:
    return {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "complete": pair.is_complete,
        "n_pairs": pair.n_pairs,
        "expected": pair.expected,
        "unpaired": list(pair.unpaired),
        "metrics": {d.name: _difference_json(d) for d in pair.metrics},
        "rates_per_km": {d.name: _difference_json(d) for d in pair.rates_per_km},
        "flips": {"gained": pair.gained, "lost": pair.lost, "p_value": pair.flip_p_value},
        "flipped": [
            {
                "scenario": flip.scenario,
                "seed": flip.seed,
                "baseline": "failure" if flip.to_success else "success",
                "candidate": "success" if flip.to_success else "failure",
                "cause": flip.cause,
            }
            for flip in pair.flips
        ],
    }


def _difference_json(d: Difference) -> dict[str, Any]:
    return {
        "baseline": _or_none(d.baseline),
        "candidate": _or_none(d.candidate),
        "difference": _or_none(d.value),
        "interval": [_or_none(d.low), _or_none(d.high)],
        "n_pairs": d.n_pairs,
        "n_scenarios": d.n_scenarios,
        "few_clusters": d.few_clusters,
        "sign_test": asdict(d.sign),
        "p_value": d.sign.p_value,
        "p_holm": d.p_holm,
        "primary": d.primary,
        "direction": spec_of(d.name).direction,
        "minimum_detectable_difference": _or_none(d.detectable),
        "warning": d.warning or None,
    }


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
