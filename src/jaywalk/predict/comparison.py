"""Predictors against each other: paired differences over the same tracks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.prediction.irs import irs_statistic, why_undefined
from jaywalk.metrics.prediction.pairwise import all_pairs
from jaywalk.metrics.prediction.roc_band import RocBand, roc_band
from jaywalk.predict.evaluate import Scores, Settings, target_rate
from jaywalk.predict.samples import RoiSample
from jaywalk.predict.windows import Windows
from jaywalk.stats.bootstrap import cluster_codes, ratio_of_sums

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]


def compare(
    scores: Mapping[str, Scores], windows: Windows, meetings: list[RoiSample], settings: Settings
) -> list[dict[str, Any]]:
    """Every pair of predictors at every horizon in IRS and NLL, with 90 % BCa intervals."""
    rows: list[dict[str, Any]] = []
    for h, horizon_s in enumerate(windows.horizons_s):
        known, labels, tracks = known_meetings(windows, meetings, h)
        codes, n = cluster_codes(tracks)
        target = target_rate(horizon_s)
        by_irs: dict[str, Statistic] = {
            name: defined_irs(one.in_roi[known, h], labels, codes, n, target)
            for name, one in scores.items()
        }
        seen = np.isfinite(windows.truth_m[:, h]).all(axis=1)
        window_codes, n_windows = cluster_codes(windows.track[seen])
        sizes = np.bincount(window_codes, minlength=n_windows)
        by_nll: dict[str, Statistic] = {
            name: ratio_of_sums(
                np.bincount(window_codes, weights=one.nll[seen, h], minlength=n_windows), sizes
            )
            for name, one in scores.items()
        }
        for metric, models, count in (("irs", by_irs, n), ("nll", by_nll, n_windows)):
            for pair in all_pairs(models, count, resamples=settings.resamples, seed=settings.seed):
                ends = (pair.difference.interval.low, pair.difference.interval.high)
                finite = bool(np.isfinite(pair.difference.value))
                rows.append(
                    {
                        "metric": metric,
                        "horizon_s": horizon_s,
                        "first": pair.first,
                        "second": pair.second,
                        "difference": pair.difference.value if finite else None,
                        "ci90": [end if np.isfinite(end) else None for end in ends],
                        "significant": pair.is_significant,
                    }
                )
    return rows


def defined_irs(
    scores: FloatArray,
    labels: NDArray[np.int8],
    codes: NDArray[np.int64],
    n_tracks: int,
    fpr_target: float,
) -> Statistic:
    """IRS as a function of multiplicities; NaN throughout where the data have no IRS."""
    if why_undefined(labels, fpr_target):
        return lambda counts: np.full(len(counts), np.nan)
    return irs_statistic(scores, labels, codes, n_tracks, fpr_target=fpr_target)


def roc_bands(
    scores: Mapping[str, Scores], windows: Windows, meetings: list[RoiSample], settings: Settings
) -> dict[float, dict[str, RocBand]]:
    """Curves with bands by horizon and predictor, up to a false-positive rate of 0.3."""
    rates = np.linspace(0.005, 0.3, 40)
    bands: dict[float, dict[str, RocBand]] = {}
    for h, horizon_s in enumerate(windows.horizons_s):
        known, labels, tracks = known_meetings(windows, meetings, h)
        bands[horizon_s] = {
            name: roc_band(
                one.in_roi[known, h], labels, tracks, fpr=rates, level=settings.level,
                resamples=min(settings.resamples, 500), seed=settings.seed,
            )
            for name, one in scores.items()
        }  # fmt: skip
    return bands


def known_meetings(
    windows: Windows, meetings: list[RoiSample], horizon: int
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
    """Indices, labels and tracks of the meetings whose outcome at a horizon is known."""
    labels = np.array([m.labels[horizon] for m in meetings], dtype=np.int8)
    known = np.flatnonzero(labels >= 0)
    members = np.array([m.window for m in meetings], dtype=np.int64)
    return known, labels[known], windows.track[members[known]]
