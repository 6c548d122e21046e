"""The study of feature sets: Tables III and IV of the paper for any data and trained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.prediction.irs import irs
from jaywalk.metrics.prediction.pairwise import OptimalSet, Pair, all_pairs, optimal_set
from jaywalk.predict.comparison import defined_irs, known_meetings
from jaywalk.predict.evaluate import Scores, Settings, target_rate
from jaywalk.predict.samples import RoiSample
from jaywalk.predict.windows import Windows
from jaywalk.stats.bootstrap import Estimate, cluster_codes, mean, ratio_of_sums

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]
METRICS = ("irs", "nll", "ade")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """By model and metric one estimate a horizon; by metric the optimal set at each horizon."""

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
    """Estimates, all pairs and the paper's choice.

    Args:
        scores: What each model said, by name.
        sizes: Number of features of each model.
        windows: The judged windows.
        meetings: The judged meetings with vehicles.
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
            found, statistics, n = made(scores, windows, meetings, horizon, settings)
            for name, estimate in found.items():
                estimates[name][metric].append(estimate)
            tested = all_pairs(statistics, n, resamples=settings.resamples, seed=settings.seed)
            pairs[metric].append(tested)
            values = {name: one.value for name, one in found.items()}
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
    for name, one in scores.items():
        said = one.in_roi[known, horizon]
        found = irs(
            said, labels, tracks, fpr_target=target, resamples=settings.resamples,
            level=settings.level, seed=settings.seed,
        )  # fmt: skip
        estimates[name] = Estimate(found.value, found.interval, found.n_tracks, None)
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
            "resamples": settings.resamples, "level": settings.level, "seed": settings.seed,
        }  # fmt: skip
        estimates, statistics = {}, {}
        for name, one in scores.items():
            values = getattr(one, metric)[seen, horizon]
            estimates[name] = mean(values, tracks, **options)
            sums = np.bincount(codes, weights=values, minlength=n)
            statistics[name] = ratio_of_sums(sums, counts)
        return estimates, statistics, n

    return made
