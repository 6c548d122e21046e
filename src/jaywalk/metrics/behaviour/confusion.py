"""Accuracy, balanced accuracy, precision, recall and F1 from (stacks of) confusion matrices.

A matrix has truth in rows and decisions in columns. All functions take ``(..., K, K)`` and return
``(...)``; entries may be weights instead of counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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
