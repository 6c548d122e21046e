"""Paired comparison of two runs: differences, exact tests, Holm's correction, power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.stats import binomtest

from jaywalk.core.errors import UsageError
from jaywalk.stats.bootstrap import Estimate, cluster_codes, paired_difference


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
    below 5 %, whatever the tests have to do with each other.
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
        a: Values of the first run, one a row.
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
