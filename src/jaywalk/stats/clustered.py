"""Wilson interval of a rate whose rows come in clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jaywalk.stats.bootstrap import cluster_codes
from jaywalk.stats.intervals import Interval, wilson


def clustered_wilson(successes: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval:
    """Wilson interval of a rate whose rows come in clusters (the seeds of a scenario).

    Rows of one scenario resemble each other, so they count as fewer than there are: ``n`` is
    divided by the design effect, the ratio of the variance between clusters to that of
    independent rows. Never more than the rows, never fewer than the clusters; with one row a
    cluster it is the plain Wilson interval.
    """
    rows = np.asarray(successes, dtype=np.float64)
    codes, k = cluster_codes(clusters)
    n = rows.size
    if n == 0:
        return wilson(0, 0, level)
    p = float(rows.mean())
    sums, sizes = np.bincount(codes, weights=rows), np.bincount(codes)
    between = float(((sums - p * sizes) ** 2).sum()) / n**2
    effective = n * (p * (1.0 - p) / n) / between if between > 0.0 else float(k)
    effective = min(max(effective, float(k)), float(n))
    return wilson(p * effective, effective, level)
