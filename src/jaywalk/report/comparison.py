"""Runs against a baseline, paired by scenario and seed: differences, sign tests, flips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.metrics.driving.scorecard import EpisodeScore, RunScore, scenario_of
from jaywalk.report.causes import cause_of
from jaywalk.report.scored_runs import (
    ScoredRun,
    episodes_by_pair,
    is_doubled,
    run_labels,
    what_was_tested,
)
from jaywalk.stats.bootstrap import FloatArray, Statistic, bca, cluster_codes
from jaywalk.stats.compare import SignTest, compare_paired, sign_test

SUCCESS = "success_rate"
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Candidate minus baseline in one quantity, over the pairs that have it.

    Attributes:
        baseline: Value of the baseline over these pairs.
        candidate: Value of the candidate over the same pairs.
        value: ``candidate - baseline``.
        low: Lower end of its BCa interval over scenarios; NaN where none exists.
        high: Upper end.
        n_pairs: Pairs with a value on both sides.
        n_scenarios: Scenarios those belong to.
        sign: Sign test over scenarios.
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
    warning: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero."""
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
    def is_complete(self) -> bool:
        """Whether every announced episode was there on both sides."""
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
        """Whether nothing is missing anywhere."""
        return all(pair.is_complete for pair in self.pairs)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; values that do not exist are null."""
        return {
            "protocol": self.protocol,
            "protocol_version": protocol_version(self.protocol),
            "complete": self.is_complete,
            "level": self.level,
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
    warnings = [f"{label}: {text}" for label, s in zip(labels, scores, strict=True)
                for text in s.warnings]  # fmt: skip
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
        protocol=scores[0].protocol, level=level, pairs=tuple(pairs), warnings=tuple(warnings)
    )


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
    success = [(100.0 * one.success, 100.0 * other.success) for one, other in rows]
    scenarios = [scenario_of(one) for one, _ in rows]
    found = [_difference(SUCCESS, success, scenarios, level)]
    names = dict.fromkeys(name for pair in rows for score in pair for name in score.metrics)
    counts = {name for pair in rows for score in pair for name in score.counts}
    for name in names:
        if is_doubled(name, counts):
            continue
        values = [
            (one.metrics.get(name, math.nan), other.metrics.get(name, math.nan))
            for one, other in rows
        ]
        kept = [k for k, (x, y) in enumerate(values) if math.isfinite(x) and math.isfinite(y)]
        if kept:
            places = [scenarios[k] for k in kept]
            found.append(_difference(name, [values[k] for k in kept], places, level))
    return tuple(found)


def _difference(
    name: str, values: Sequence[tuple[float, float]], scenarios: Sequence[str], level: float
) -> Difference:
    a, b = np.array(values, float).T
    compared = compare_paired(a, b, np.array(scenarios), level=level)
    estimate = compared.difference
    return Difference(
        name=name,
        baseline=float(a.mean()),
        candidate=float(b.mean()),
        value=estimate.value,
        low=estimate.interval.low,
        high=estimate.interval.high,
        n_pairs=len(values),
        n_scenarios=estimate.n,
        sign=compared.sign,
        warning=estimate.warning or "",
    )


def _rate_differences(rows: Rows, level: float) -> tuple[Difference, ...]:
    """Events per km driven: a ratio of sums on each side, scenarios drawn together."""
    codes, n = cluster_codes([scenario_of(one) for one, _ in rows])

    def sums(side: int, of: Any) -> FloatArray:
        weights = np.array([float(of(pair[side])) for pair in rows])
        return np.bincount(codes, weights=weights, minlength=n).astype(np.float64)

    km = [sums(side, lambda s: _finite(s.metrics.get("driven_km", 0.0))) for side in (0, 1)]
    if min(km[0].sum(), km[1].sum()) <= 0.0:
        return ()
    found = []
    for name in dict.fromkeys(name for pair in rows for score in pair for name in score.counts):
        events = [sums(side, lambda s, name=name: s.counts.get(name, 0)) for side in (0, 1)]
        estimate = bca(_rate_difference(events, km), n, level=level)
        found.append(
            Difference(
                name=name,
                baseline=float(events[0].sum() / km[0].sum()),
                candidate=float(events[1].sum() / km[1].sum()),
                value=estimate.value,
                low=estimate.interval.low,
                high=estimate.interval.high,
                n_pairs=len(rows),
                n_scenarios=n,
                sign=sign_test(events[0], events[1]),
                warning=estimate.warning or "",
            )
        )
    return tuple(found)


def _rate_difference(events: Sequence[FloatArray], km: Sequence[FloatArray]) -> Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = ((weights @ e) / (weights @ d) for e, d in zip(events, km, strict=True))
        return np.asarray(b - a)

    return statistic


def _flip(one: EpisodeScore, other: EpisodeScore) -> Flip:
    return Flip(
        scenario=scenario_of(one),
        seed=one.seed,
        to_success=other.success,
        cause=cause_of(one if other.success else other),
        baseline_id=one.episode_id,
        candidate_id=other.episode_id,
    )


def _differences_of_test(a: ScoredRun, b: ScoredRun) -> list[str]:
    """Why the two are not the same test, one line a reason; empty when they are."""
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


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


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
        "sign_test": asdict(d.sign),
        "warning": d.warning or None,
    }


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
