"""The band around a ROC curve: how far it moves when other tracks had been met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.seeds import stream
from jaywalk.metrics.prediction.irs import irs_statistic
from jaywalk.stats.bootstrap import cluster_codes, multiplicities
from jaywalk.stats.intervals import check_level

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RocBand:
    """TPR at some false-positive rates, with its percentile band over tracks."""

    fpr: FloatArray
    tpr: FloatArray
    low: FloatArray
    high: FloatArray


def roc_band(
    scores: ArrayLike,
    labels: ArrayLike,
    track_ids: ArrayLike,
    *,
    fpr: ArrayLike,
    level: float = 0.5,
    resamples: int = 500,
    seed: int = 0,
) -> RocBand:
    """Read the curve (linearly) at each rate of ``fpr``, for the data and for drawn tracks."""
    check_level(level)
    rates = np.asarray(fpr, dtype=np.float64)
    codes, n = cluster_codes(track_ids)
    drawn = list(multiplicities(stream(seed, "prediction", "roc_band"), n, resamples)) if n else []
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    rows = np.full((rates.size, 3), np.nan)
    for i, rate in enumerate(rates):
        statistic = irs_statistic(scores, labels, codes, n, fpr_target=float(rate), rule="linear")
        rows[i, 0] = statistic(np.ones((1, n)))[0]
        values = np.concatenate([statistic(counts) for counts in drawn] or [np.zeros(0)])
        values = values[np.isfinite(values)]
        if values.size:
            rows[i, 1:] = np.quantile(values, tails)
    return RocBand(fpr=rates, tpr=rows[:, 0], low=rows[:, 1], high=rows[:, 2])
