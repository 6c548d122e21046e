"""Intervals of shares and event rates whose rows come in clusters (the seeds of a route).

Rows of one cluster resemble each other, so they carry less information than independent ones. All
intervals here divide the sample size by a design effect before they apply a formula for
independent rows, as Korn and Graubard propose: the ratio of the variance between clusters to that
of independent rows, never below 1, times ``(t / z) ** 2`` because few clusters estimate it badly.

The module also compares two runs in pairs: differences, exact tests, Holm's correction and power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import binomtest

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.stats.bootstrap import Estimate, cluster_codes, few_clusters_note, paired_difference
from jaywalk.stats.intervals import (
    FEW_CLUSTERS,
    Interval,
    poisson_rate,
    t_quantile,
    wilson,
    z_quantile,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignTest:
    """Two-sided sign test of paired values.

    Attributes:
        higher: Pairs in which ``b`` is above ``a``.
        lower: Pairs in which ``b`` is below ``a``.
        ties: Pairs within the tolerance; they say nothing and are left out.
        p_value: Probability of a split at least this uneven if both were alike; 1 without pairs.
    """

    higher: int
    lower: int
    ties: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Difference ``b - a`` over pairs: its mean with interval, and the sign test by cluster."""

    difference: Estimate
    sign: SignTest


def sign_test(a: ArrayLike, b: ArrayLike, *, tolerance: float = 0.0) -> SignTest:
    """Sign test of ``b`` against ``a``, pair by pair; pairs must be independent."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise UsageError(f"a and b must pair up, got shapes {first.shape} and {second.shape}")
    return _sign_of(second - first, tolerance)


def mcnemar(gained: int, lost: int) -> float:
    """Exact two-sided McNemar test of paired outcomes that flipped; 1 without a flip."""
    if gained < 0 or lost < 0:
        raise UsageError(f"flips cannot be negative, got {gained} and {lost}")
    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given.

    Rejecting where they are at most 0.05 keeps the chance of any false rejection in the set
    below 5 %, for any dependence between the tests.
    """
    if any(not 0.0 <= p <= 1.0 for p in p_values):
        raise UsageError(f"p values must lie between 0 and 1, got {list(p_values)}")
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def detectable_difference(
    difference: Estimate, *, power: float = 0.8, level: float = 0.95
) -> float:
    """Smallest true difference that a t test of this size and spread finds with ``power``.

    ``(t(1 - alpha / 2) + t(power)) * standard error`` with ``clusters - 1`` degrees of freedom.
    Where all clusters agree, the interval's wider half stands in for the spread. NaN where there
    is no interval.
    """
    degrees = difference.n - 1
    if degrees < 1 or math.isnan(difference.interval.low):
        return math.nan
    quantile = float(special.stdtrit(degrees, 0.5 + level / 2.0))
    error = difference.standard_error
    if not error > 0.0:
        ends = difference.interval
        error = max(ends.high - difference.value, difference.value - ends.low) / quantile
    return (quantile + float(special.stdtrit(degrees, power))) * error


def compare_paired(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    tolerance: float = 1e-9,
    **options: Any,
) -> PairedComparison:
    """Compare paired rows; seeds of one scenario share a cluster and count as one in the test.

    Args:
        a: Values of the first run, one per row.
        b: Values of the second run on the same scenario and seed.
        clusters: Scenario of each row; default: each row its own.
        tolerance: Mean difference of a cluster up to which it is a tie.
        **options: ``resamples``, ``level``, ``seed``, ``bounds`` of `stats.bootstrap.bca`.
    """
    difference = paired_difference(a, b, clusters, **options)
    rows = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    codes, n = cluster_codes(np.arange(rows.size) if clusters is None else clusters)
    means = np.bincount(codes, weights=rows, minlength=n) / np.bincount(codes, minlength=n)
    return PairedComparison(difference=difference, sign=_sign_of(means, tolerance))


def _sign_of(differences: np.ndarray[Any, np.dtype[np.float64]], tolerance: float) -> SignTest:
    if not np.all(np.isfinite(differences)):
        raise UsageError("a pair holds NaN or infinity; decide about missing values first")
    higher = int(np.count_nonzero(differences > tolerance))
    lower = int(np.count_nonzero(differences < -tolerance))
    decided = higher + lower
    p_value = float(binomtest(higher, decided).pvalue) if decided else 1.0
    return SignTest(
        higher=higher, lower=lower, ties=int(differences.size) - decided, p_value=p_value
    )


def clustered_wilson(successes: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval:
    """Wilson interval of a share, with the number of rows divided by the design effect.

    Never more than the rows, never fewer than there would be if all rows of a cluster were
    copies; with one row per cluster it is the plain Wilson interval.
    """
    rows = np.asarray(successes, dtype=np.float64)
    if rows.size == 0:
        return wilson(0, 0, level)
    p = float(rows.mean())
    effective = _effective_rows(rows, clusters, p * (1.0 - p), level)
    return wilson(p * effective, effective, level)


def clustered_rate(
    events: ArrayLike, exposure: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> Interval:
    """Interval of ``sum(events) / sum(exposure)``: exact Poisson with the design effect.

    Args:
        events: Events of each row.
        exposure: Exposure of each row (km, hours, ...).
        clusters: Cluster of each row.
        level: Confidence level.

    Returns:
        Without events, or with one cluster, the plain exact Poisson interval.
    """
    counts = np.asarray(events, dtype=np.float64)
    spans = np.asarray(exposure, dtype=np.float64)
    codes, k = cluster_codes(clusters)
    if counts.shape != spans.shape or counts.shape != codes.shape:
        raise UsageError(
            f"events, exposure and clusters must pair up, got shapes {counts.shape}, "
            f"{spans.shape} and {codes.shape}"
        )
    factor = design_effect(counts, spans, clusters)
    if k > 1 and counts.sum() > 0:
        factor *= (t_quantile(k, level) / z_quantile(level)) ** 2
    return poisson_rate(float(counts.sum()) / factor, float(spans.sum()) / factor, level)


def design_effect(events: ArrayLike, exposure: ArrayLike, clusters: ArrayLike) -> float:
    """Variance of a pooled event rate between clusters over that of a Poisson count, at least 1.

    Without events, or with a single cluster, there is nothing to estimate it from: 1.
    """
    counts = np.asarray(events, dtype=np.float64)
    spans = np.asarray(exposure, dtype=np.float64)
    codes, k = cluster_codes(clusters)
    total, whole = float(counts.sum()), float(spans.sum())
    if k < 2 or total <= 0.0 or whole <= 0.0:
        return 1.0
    residual = counts - total / whole * spans
    sums = np.bincount(codes, weights=residual, minlength=k)
    return max(1.0, k / (k - 1.0) * float((sums**2).sum()) / total)


def success_difference(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Difference of two paired success rates, ``b - a``, with the interval of Bonett and Price.

    It adds one gained and one lost pair, so it has a width when no pair differs. The number of
    pairs is divided by the design effect of clusters.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    labels = np.arange(first.size) if clusters is None else clusters
    rows = second - first
    k = cluster_codes(labels)[1]
    if rows.size == 0:
        return Estimate(math.nan, Interval(math.nan, math.nan, level), 0, "no pairs")
    gained, lost = float(np.mean(rows > 0)), float(np.mean(rows < 0))
    n = _effective_rows(rows, labels, gained + lost - (gained - lost) ** 2, level)
    up, down = (gained * n + 1.0) / (n + 2.0), (lost * n + 1.0) / (n + 2.0)
    error = math.sqrt((up + down - (up - down) ** 2) / (n + 2.0))
    half = z_quantile(level) * error
    interval = Interval(max(up - down - half, -1.0), min(up - down + half, 1.0), level)
    warning = few_clusters_note(k) if k < FEW_CLUSTERS else None
    return Estimate(gained - lost, interval, k, warning, error)


def _effective_rows(rows: FloatArray, clusters: ArrayLike, variance: float, level: float) -> float:
    """Rows over the design effect of their mean; ``variance`` is that of one independent row."""
    codes, k = cluster_codes(clusters)
    n = rows.size
    sizes = np.bincount(codes, minlength=k)
    fewest = n**2 / float((sizes**2).sum())  # all rows of a cluster alike
    if variance <= 0.0 or k < 2:
        return min(fewest, float(n))
    sums = np.bincount(codes, weights=rows - rows.mean(), minlength=k)
    effect = max(1.0, k / (k - 1.0) * float((sums**2).sum()) / (n * variance))
    effect *= (t_quantile(k, level) / z_quantile(level)) ** 2
    return min(max(n / effect, fewest), float(n))
