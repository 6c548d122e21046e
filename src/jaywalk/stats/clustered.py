"""Intervals of shares and event rates whose rows come in clusters (the seeds of a route).

Rows of one cluster resemble each other, so they carry less information than independent ones. All
intervals here divide the sample size by a design effect before they apply a formula for
independent rows, as Korn and Graubard propose: the ratio of the variance between clusters to that
of independent rows, never below 1, times ``(t / z) ** 2`` because few clusters estimate it badly.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.errors import UsageError
from jaywalk.stats.bootstrap import Estimate, cluster_codes, few_clusters_note
from jaywalk.stats.intervals import (
    FEW_CLUSTERS,
    Interval,
    poisson_rate,
    t_quantile,
    wilson,
    z_quantile,
)

FloatArray = NDArray[np.float64]


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
