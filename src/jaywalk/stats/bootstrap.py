"""Cluster bootstrap: whole tracks, scenarios or pedestrians are drawn, never single samples.

A statistic is a function of multiplicities: given how often each cluster was drawn, an array of
shape ``(B, n_clusters)``, it returns ``B`` values. Sums over clusters then are matrix products,
and any other statistic can use the multiplicities as weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import stream
from jaywalk.stats.intervals import Interval, check_level

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]

# Largest block of multiplicities held at once (doubles): 32 MB.
_BLOCK = 4_000_000
_OUTSIDE = "no interval: the value lies outside of all resamples"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: The statistic of the data as they are.
        interval: Bootstrap interval; its ends are NaN where none exists.
        n: Number of clusters (the units that were drawn).
        warning: Why the interval is weaker than asked for, or None.
    """

    value: float
    interval: Interval
    n: int
    warning: str | None = None


def cluster_codes(clusters: ArrayLike) -> tuple[NDArray[np.int64], int]:
    """Turn one label a row into codes ``0 .. k-1``; returns the codes and ``k``."""
    labels = np.asarray(clusters)
    if labels.ndim != 1:
        raise UsageError(f"clusters must be one label a row, got shape {labels.shape}")
    unique, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), int(unique.size)


def ratio_of_sums(numerators: ArrayLike, denominators: ArrayLike) -> Statistic:
    """Statistic ``sum(w * numerator) / sum(w * denominator)`` over per-cluster sums.

    A weighted mean is the ratio of weighted sums and weights; a rate is that of events and
    exposure. NaN where the drawn clusters have a denominator of 0.
    """
    top = np.asarray(numerators, dtype=np.float64)
    bottom = np.asarray(denominators, dtype=np.float64)

    def statistic(weights: FloatArray) -> FloatArray:
        below = weights @ bottom
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below != 0.0, (weights @ top) / below, np.nan)

    return statistic


def bca(
    statistic: Statistic,
    clusters: int,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int | np.random.Generator = 0,
) -> Estimate:
    """Bias-corrected accelerated bootstrap of ``statistic`` over ``clusters`` clusters.

    Args:
        statistic: Maps multiplicities ``(B, clusters)`` to ``B`` values.
        clusters: Number of clusters.
        resamples: Number of bootstrap samples.
        level: Confidence level.
        seed: Seed of the named stream used, or a generator to draw from.

    Returns:
        The estimate. Where BCa is not defined (all resamples equal, the jackknife constant or
        not finite) the percentile interval with a warning; where the value lies outside of all
        resamples an interval of no width, with a warning.
    """
    check_level(level)
    if clusters < 0 or resamples < 1:
        raise UsageError(f"clusters {clusters} must be >= 0 and resamples {resamples} >= 1")
    nothing = Interval(np.nan, np.nan, level)
    if clusters == 0:
        return Estimate(np.nan, nothing, 0, "no clusters")
    value = float(statistic(np.ones((1, clusters)))[0])
    if not np.isfinite(value):
        return Estimate(value, nothing, clusters, "the statistic is not defined on these data")
    if clusters == 1:
        return Estimate(value, nothing, 1, "one cluster: no interval")
    rng = _generator(seed, "bca")
    drawn = np.concatenate([statistic(w) for w in multiplicities(rng, clusters, resamples)])
    kept = drawn[np.isfinite(drawn)]
    notes = []
    if kept.size < drawn.size:
        notes.append(f"{drawn.size - kept.size} of {drawn.size} resamples undefined, left out")
    tails, why = _bca_tails(value, kept, _jackknife(statistic, clusters), level)
    if why == _OUTSIDE:
        # An infinite bias correction: no interval of the resamples would hold the value.
        return Estimate(value, Interval(value, value, level), clusters, "; ".join([*notes, why]))
    if why:
        notes.append(f"percentile interval: {why}")
    low, high = (float(x) for x in np.quantile(kept, tails)) if kept.size else (np.nan, np.nan)
    return Estimate(value, Interval(low, high, level), clusters, "; ".join(notes) or None)


def mean(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    **options: Any,
) -> Estimate:
    """(Weighted) mean over rows with its BCa interval over clusters (default: each row one).

    ``options`` are those of `bca`: ``resamples``, ``level``, ``seed``.
    """
    rows = _finite("values", values)
    weight = np.ones(rows.size) if weights is None else _finite("weights", weights, rows.size)
    return ratio(rows * weight, weight, clusters, **options)


def ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    clusters: ArrayLike | None = None,
    **options: Any,
) -> Estimate:
    """``sum(numerators) / sum(denominators)`` over rows with its BCa interval over clusters."""
    top = _finite("numerators", numerators)
    bottom = _finite("denominators", denominators, top.size)
    codes, n = cluster_codes(np.arange(top.size) if clusters is None else clusters)
    _check_rows("clusters", codes.size, top.size)
    tops = np.bincount(codes, weights=top, minlength=n)
    bottoms = np.bincount(codes, weights=bottom, minlength=n)
    return bca(ratio_of_sums(tops, bottoms), n, **options)


def paired_difference(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None = None, **options: Any
) -> Estimate:
    """Mean of ``b - a`` over paired rows with its BCa interval over clusters."""
    first = _finite("a", a)
    return mean(_finite("b", b, first.size) - first, clusters, **options)


def two_way(
    values: ArrayLike,
    rows: ArrayLike,
    columns: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int | np.random.Generator = 0,
) -> Estimate:
    """(Weighted) mean over crossed factors, e.g. track x training seed, both drawn anew.

    Rows and columns are resampled independently and a cell counts with the product of the two
    multiplicities (the pigeonhole bootstrap). It tends to be a little too wide, except that a
    factor with few levels ``k`` shows only ``(k - 1) / k`` of its variance. Cells may be missing
    or hold several values. The interval is the percentile one: leaving out "one unit" has no
    single meaning with two factors, so there is no jackknife for BCa.
    ``n`` of the estimate is the number of rows.
    """
    check_level(level)
    cell_values = _finite("values", values)
    size = cell_values.size
    weight = np.ones(size) if weights is None else _finite("weights", weights, size)
    (row, n_rows), (column, n_columns) = cluster_codes(rows), cluster_codes(columns)
    _check_rows("rows", row.size, size)
    _check_rows("columns", column.size, size)
    nothing = Interval(np.nan, np.nan, level)
    if size == 0 or weight.sum() == 0.0:
        return Estimate(np.nan, nothing, n_rows, "no data")
    value = float((cell_values * weight).sum() / weight.sum())
    if n_rows == 1 and n_columns == 1:
        return Estimate(value, nothing, 1, "one row and one column: no interval")
    shape = (n_rows, n_columns)
    top, bottom = np.zeros(shape), np.zeros(shape)
    np.add.at(top, (row, column), cell_values * weight)
    np.add.at(bottom, (row, column), weight)
    drawn = _two_way_means(top, bottom, _generator(seed, "two_way"), resamples)
    kept = drawn[np.isfinite(drawn)]
    notes = [
        f"one {name} only: its variation is not in the interval"
        for name, count in (("row", n_rows), ("column", n_columns))
        if count == 1
    ]
    if kept.size < drawn.size:
        notes.append(f"{drawn.size - kept.size} of {drawn.size} resamples undefined, left out")
    tail = (1.0 - level) / 2.0
    low, high = (float(x) for x in np.quantile(kept, [tail, 1.0 - tail]))
    return Estimate(value, Interval(low, high, level), n_rows, "; ".join(notes) or None)


def multiplicities(rng: np.random.Generator, n: int, resamples: int) -> Iterator[FloatArray]:
    """Yield blocks of shape ``(B, n)``: how often each of ``n`` clusters is drawn, row by row."""
    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        picks = rng.integers(0, n, (size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(picks.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _two_way_means(
    top: FloatArray, bottom: FloatArray, rng: np.random.Generator, resamples: int
) -> FloatArray:
    # Two child streams, so that the draws do not depend on how blocks interleave.
    row_rng, column_rng = rng.spawn(2)
    n_rows, n_columns = top.shape
    column_weights = np.concatenate(list(multiplicities(column_rng, n_columns, resamples)))
    out, done = [], 0
    for w in multiplicities(row_rng, n_rows, resamples):
        v = column_weights[done : done + len(w)]
        above, below = ((w @ top) * v).sum(axis=1), ((w @ bottom) * v).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            out.append(np.where(below != 0.0, above / below, np.nan))
        done += len(w)
    return np.concatenate(out)


def _jackknife(statistic: Statistic, n: int) -> FloatArray:
    block = max(1, _BLOCK // n)
    out = []
    for start in range(0, n, block):
        left_out = np.arange(start, min(start + block, n))
        weights = np.ones((left_out.size, n))
        weights[np.arange(left_out.size), left_out] = 0.0
        out.append(statistic(weights))
    return np.concatenate(out)


def _bca_tails(
    value: float, drawn: FloatArray, jackknife: FloatArray, level: float
) -> tuple[FloatArray, str | None]:
    """Quantiles to read off the resamples, and why they are the plain ones if they are."""
    tail = (1.0 - level) / 2.0
    plain = np.array([tail, 1.0 - tail])
    if drawn.size == 0:
        return plain, "no resample is defined"
    if np.ptp(drawn) == 0.0:
        return plain, "all resamples are equal"
    if not np.all(np.isfinite(jackknife)):
        return plain, "the statistic is undefined without one of the clusters"
    share = 0.5 * float(np.mean(drawn < value) + np.mean(drawn <= value))
    if not 0.0 < share < 1.0:
        return plain, _OUTSIDE
    deviation = jackknife.mean() - jackknife
    spread = float((deviation**2).sum())
    if spread == 0.0:
        return plain, "no cluster changes the statistic"
    acceleration = float((deviation**3).sum()) / (6.0 * spread**1.5)
    z0 = float(special.ndtri(share))
    z = z0 + special.ndtri(plain)
    return special.ndtr(z0 + z / (1.0 - acceleration * z)).astype(np.float64), None


def _generator(seed: int | np.random.Generator, name: str) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return stream(seed, "stats", name)


def _finite(name: str, values: ArrayLike, size: int | None = None) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise UsageError(f"{name} must be one number a row, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        bad = int(np.count_nonzero(~np.isfinite(array)))
        raise UsageError(f"{name} holds {bad} NaN or infinite entries; decide about them first")
    if size is not None:
        _check_rows(name, array.size, size)
    return array


def _check_rows(name: str, got: int, expected: int) -> None:
    if got != expected:
        raise UsageError(f"{name} has {got} rows, expected {expected}")
