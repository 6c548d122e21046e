"""Ranking metrics (average precision, ROC area) and metrics of confusion matrices.

Ranking metrics are computed for many sample weightings at once. Average precision is the step-wise
sum over thresholds, without interpolation. Equal scores are one threshold, so that the order of
tied samples does not matter.

Accuracy, balanced accuracy, precision, recall and F1 take (stacks of) confusion matrices with truth
in rows and decisions in columns. These functions take ``(..., K, K)`` and return ``(...)``; entries
may be weights instead of counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray


def confusion_by_group(
    truth: IntArray,
    decided: IntArray,
    group: IntArray,
    n_groups: int,
    n_classes: int,
    sample_weight: FloatArray | None = None,
) -> FloatArray:
    """Return one confusion matrix per group, shape ``(n_groups, K, K)``."""
    cell = (group * n_classes + truth) * n_classes + decided
    counts = np.bincount(cell, weights=sample_weight, minlength=n_groups * n_classes**2)
    return counts.astype(np.float64).reshape(n_groups, n_classes, n_classes)


def accuracy(matrix: FloatArray) -> FloatArray:
    """Share of right decisions."""
    return _share(_right(matrix).sum(-1), matrix.sum((-1, -2)))


def balanced_accuracy(matrix: FloatArray) -> FloatArray:
    """Mean recall over the classes that occur in the truth."""
    occurs = matrix.sum(-1) > 0
    return _mean_over(class_recall(matrix), occurs)


def precision(matrix: FloatArray, positive: int | None = None) -> FloatArray:
    """Precision of the positive class, or its mean over classes seen in truth or decisions."""
    return _one_or_mean(class_precision(matrix), matrix, positive)


def recall(matrix: FloatArray, positive: int | None = None) -> FloatArray:
    """Recall of the positive class, or its mean over classes seen in truth or decisions."""
    return _one_or_mean(class_recall(matrix), matrix, positive)


def f1(matrix: FloatArray, positive: int | None = None) -> FloatArray:
    """F1 of the positive class, or its mean over classes seen in truth or decisions."""
    return _one_or_mean(class_f1(matrix), matrix, positive)


def class_precision(matrix: FloatArray) -> FloatArray:
    """Precision per class, 0 where nothing was decided so."""
    return _share(_right(matrix), matrix.sum(-2))


def class_recall(matrix: FloatArray) -> FloatArray:
    """Recall per class, 0 where the truth lacks it."""
    return _share(_right(matrix), matrix.sum(-1))


def class_f1(matrix: FloatArray) -> FloatArray:
    """F1 per class, 0 where it is undefined."""
    return _share(2.0 * _right(matrix), matrix.sum(-1) + matrix.sum(-2))


def _right(matrix: FloatArray) -> FloatArray:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _one_or_mean(values: FloatArray, matrix: FloatArray, positive: int | None) -> FloatArray:
    if positive is not None:
        return values[..., positive]
    return _mean_over(values, (matrix.sum(-1) + matrix.sum(-2)) > 0)


def _mean_over(values: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
    return _share((values * mask).sum(-1), mask.sum(-1).astype(np.float64))


def _share(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.divide(top, bottom, out=np.zeros_like(top + bottom), where=bottom > 0)


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
