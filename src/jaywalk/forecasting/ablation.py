"""Study of feature sets: Tables III and IV of the paper for any data and trained models.

Predictors are compared by paired differences over the same tracks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.evaluate import Scores, Settings, target_rate
from jaywalk.forecasting.samples import RoiSample
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.irs import RocBand, irs, irs_statistic, roc_band, why_undefined
from jaywalk.metrics.prediction.pairwise import OptimalSet, Pair, all_pairs, optimal_set
from jaywalk.stats.bootstrap import Estimate, cluster_codes, mean, ratio_of_sums

Statistic = Callable[[FloatArray], FloatArray]


def compare(
    scores: Mapping[str, Scores], windows: Windows, meetings: list[RoiSample], settings: Settings
) -> list[dict[str, Any]]:
    """Compare all pairs of predictors at each horizon in IRS and NLL, with 90 % BCa intervals."""
    rows: list[dict[str, Any]] = []
    for h, horizon_s in enumerate(windows.horizons_s):
        known, labels, tracks = known_meetings(windows, meetings, h)
        codes, n = cluster_codes(tracks)
        target = target_rate(horizon_s)
        by_irs: dict[str, Statistic] = {
            name: defined_irs(score.in_roi[known, h], labels, codes, n, target)
            for name, score in scores.items()
        }
        seen = np.isfinite(windows.truth_m[:, h]).all(axis=1)
        window_codes, n_windows = cluster_codes(windows.track[seen])
        sizes = np.bincount(window_codes, minlength=n_windows)
        by_nll: dict[str, Statistic] = {
            name: ratio_of_sums(
                np.bincount(window_codes, weights=score.nll[seen, h], minlength=n_windows), sizes
            )
            for name, score in scores.items()
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
    """Return IRS as a function of multiplicities; always NaN if the data have no IRS."""
    if why_undefined(labels, fpr_target):
        return lambda counts: np.full(len(counts), np.nan)
    return irs_statistic(scores, labels, codes, n_tracks, fpr_target=fpr_target)


def roc_bands(
    scores: Mapping[str, Scores], windows: Windows, meetings: list[RoiSample], settings: Settings
) -> dict[float, dict[str, RocBand]]:
    """Return ROC curves with bands by horizon and predictor, up to a false-positive rate of 0.3."""
    rates = np.linspace(0.005, 0.3, 40)
    bands: dict[float, dict[str, RocBand]] = {}
    for h, horizon_s in enumerate(windows.horizons_s):
        known, labels, tracks = known_meetings(windows, meetings, h)
        bands[horizon_s] = {
            name: roc_band(
                score.in_roi[known, h],
                labels,
                tracks,
                fpr=rates,
                level=settings.level,
                resamples=min(settings.resamples, 500),
                seed=settings.seed,
            )
            for name, score in scores.items()
        }
    return bands


def known_meetings(
    windows: Windows, meetings: list[RoiSample], horizon: int
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
    """Return indices, labels and tracks of the meetings with a known outcome at a horizon."""
    labels = np.array([m.labels[horizon] for m in meetings], dtype=np.int8)
    known = np.flatnonzero(labels >= 0)
    members = np.array([m.window for m in meetings], dtype=np.int64)
    return known, labels[known], windows.track[members[known]]


METRICS = ("irs", "nll", "ade")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """Estimates by model, metric and horizon, and the optimal set by metric and horizon."""

    estimates: dict[str, dict[str, list[Estimate]]]
    optimal: dict[str, list[OptimalSet]]
    pairs: dict[str, list[list[Pair]]]


def ablation(
    scores: Mapping[str, Scores],
    sizes: Mapping[str, int],
    windows: Windows,
    meetings: list[RoiSample],
    settings: Settings,
) -> Ablation:
    """Compute the estimates, the comparison of all pairs and the paper's choice.

    Args:
        scores: Scores of each model, by name.
        sizes: Number of features of each model.
        windows: The evaluated windows.
        meetings: The evaluated meetings with vehicles.
        settings: Bootstrap and level of the intervals.
    """
    estimates: dict[str, dict[str, list[Estimate]]] = {
        name: {metric: [] for metric in METRICS} for name in scores
    }
    optimal: dict[str, list[OptimalSet]] = {metric: [] for metric in METRICS}
    pairs: dict[str, list[list[Pair]]] = {metric: [] for metric in METRICS}
    for horizon in range(len(windows.horizon_steps)):
        for metric in METRICS:
            made = _irs if metric == "irs" else _mean_of(metric)
            by_metric, statistics, n = made(scores, windows, meetings, horizon, settings)
            for name, estimate in by_metric.items():
                estimates[name][metric].append(estimate)
            tested = all_pairs(statistics, n, resamples=settings.resamples, seed=settings.seed)
            pairs[metric].append(tested)
            values = {name: one.value for name, one in by_metric.items()}
            optimal[metric].append(
                optimal_set(values, sizes, tested, higher_is_better=metric == "irs")
            )
    return Ablation(estimates=estimates, optimal=optimal, pairs=pairs)


Found = tuple[dict[str, Estimate], dict[str, Statistic], int]


def _irs(
    scores: Mapping[str, Scores],
    windows: Windows,
    meetings: list[RoiSample],
    horizon: int,
    settings: Settings,
) -> Found:
    target = target_rate(windows.horizons_s[horizon])
    known, labels, tracks = known_meetings(windows, meetings, horizon)
    codes, n = cluster_codes(tracks)
    estimates, statistics = {}, {}
    for name, score in scores.items():
        said = score.in_roi[known, horizon]
        sensitivity = irs(
            said,
            labels,
            tracks,
            fpr_target=target,
            resamples=settings.resamples,
            level=settings.level,
            seed=settings.seed,
        )
        estimates[name] = Estimate(
            sensitivity.value, sensitivity.interval, sensitivity.n_tracks, None
        )
        statistics[name] = defined_irs(said, labels, codes, n, target)
    return estimates, statistics, n


def _mean_of(metric: str) -> Callable[..., Found]:
    def made(
        scores: Mapping[str, Scores],
        windows: Windows,
        meetings: list[RoiSample],
        horizon: int,
        settings: Settings,
    ) -> Found:
        seen = np.isfinite(windows.truth_m[:, horizon]).all(axis=1)
        tracks = windows.track[seen]
        codes, n = cluster_codes(tracks)
        counts = np.bincount(codes, minlength=n)
        options: dict[str, Any] = {
            "resamples": settings.resamples,
            "level": settings.level,
            "seed": settings.seed,
        }
        estimates, statistics = {}, {}
        for name, score in scores.items():
            values = getattr(score, metric)[seen, horizon]
            estimates[name] = mean(values, tracks, **options)
            sums = np.bincount(codes, weights=values, minlength=n)
            statistics[name] = ratio_of_sums(sums, counts)
        return estimates, statistics, n

    return made
