"""Average precision and area under the ROC curve, for many sample weightings at once.

Average precision is the step-wise sum over thresholds, not interpolated. Equal scores are one
threshold, so that the order of tied samples never matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class RankedScores:
    """Scores of one class against the rest, sorted once and evaluated for any weights.

    Args:
        positive: Whether each sample is of the class.
        scores: The model's confidence in the class.
        group: Cluster of each sample; weights are given per cluster.
    """

    def __init__(
        self, positive: NDArray[np.bool_], scores: FloatArray, group: NDArray[np.int64]
    ) -> None:
        order = np.argsort(-scores, kind="stable")
        ranked, hits = scores[order], positive[order]
        # Tied scores form a block; only blocks with a positive sample contribute to either area.
        first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        block = np.cumsum(np.append(False, ranked[1:] != ranked[:-1]))
        useful = np.unique(block[hits])
        self._group = group[order]
        self._hit_group = self._group[hits]
        self._hit_start = np.searchsorted(block[hits], useful)
        self._begin = first[useful]
        self._end = np.append(first[1:], len(ranked))[useful]

    def evaluate(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return average precision and ROC area for weights ``(B, n_groups)``; NaN if undefined."""
        n = len(weights)
        if not len(self._hit_group):
            return np.full(n, np.nan), np.full(n, np.nan)
        # Weight at or above each threshold, with a leading zero.
        above = np.zeros((n, len(self._group) + 1))
        np.cumsum(weights[:, self._group], axis=1, out=above[:, 1:])
        hit = np.add.reduceat(weights[:, self._hit_group], self._hit_start, axis=1)
        hits_above = np.cumsum(hit, axis=1)
        n_hit = hits_above[:, -1]
        end, begin = above[:, self._end], above[:, self._begin]
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(end > 0, hits_above / end, 0.0)
            average_precision = (hit * steps).sum(1) / n_hit
            n_miss = above[:, -1] - n_hit
            miss_begin = begin - (hits_above - hit)
            miss_end = end - hits_above
            beaten = n_miss[:, None] - 0.5 * (miss_begin + miss_end)
            area = (hit * beaten).sum(1) / (n_hit * n_miss)
        area[~(n_miss > 0)] = np.nan
        return average_precision, area


def average_precision(truth: NDArray[np.bool_], scores: FloatArray) -> float:
    """Average precision of a binary ranking; NaN without a positive sample."""
    return float(_once(truth, scores)[0][0])


def roc_area(truth: NDArray[np.bool_], scores: FloatArray) -> float:
    """Area under the ROC curve; NaN unless both classes occur."""
    return float(_once(truth, scores)[1][0])


def mean_average_precision(truth: NDArray[np.int64], confidence: FloatArray) -> float:
    """Average precision of class 1 (one column) or its mean over the classes that occur."""
    if confidence.shape[1] == 1:
        return average_precision(truth == 1, confidence[:, 0])
    areas = [average_precision(truth == k, confidence[:, k]) for k in np.unique(truth)]
    return float(np.mean(areas)) if areas else float("nan")


def _once(truth: NDArray[np.bool_], scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    single = np.zeros(len(scores), np.int64)
    return RankedScores(truth, scores, single).evaluate(np.ones((1, 1)))
