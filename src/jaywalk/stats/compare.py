"""Paired comparison of two runs: difference with interval, and the sign test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
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
        **options: ``resamples``, ``level``, ``seed`` of `jaywalk.stats.bootstrap.bca`.
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
