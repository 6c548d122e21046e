"""Receiver operating characteristic of weighted scores, one vertex per distinct score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc:
    """The curve from (0, 0) to (1, 1); ``thresholds[0]`` is infinite.

    A rate whose class is absent is NaN throughout.
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray

    @property
    def auc(self) -> float:
        """Area under the curve; ties count half (Mann-Whitney)."""
        return float(np.trapezoid(self.tpr, self.fpr))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Checked scores of binary samples."""

    scores: FloatArray
    positive: NDArray[np.bool_]
    weights: FloatArray


def roc(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> Roc:
    """Curve of ``score >= threshold``; tied scores move it diagonally."""
    data = check_scored(scores, labels, weights)
    order = np.argsort(-data.scores, kind="stable")
    ranked, positive, weight = data.scores[order], data.positive[order], data.weights[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), ranked.size - 1) if ranked.size else order
    with np.errstate(invalid="ignore"):
        tpr, fpr = (_rate(np.where(side, weight, 0.0), last) for side in (positive, ~positive))
    return Roc(fpr=fpr, tpr=tpr, thresholds=np.concatenate([[np.inf], ranked[last]]))


def check_scored(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None) -> Scored:
    """Arrays of equal length without NaN, labels 0 or 1, weights not negative; or an error."""
    score = np.asarray(scores, dtype=np.float64)
    label = np.asarray(labels)
    weight = np.ones(score.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if score.ndim != 1 or label.shape != score.shape or weight.shape != score.shape:
        raise UsageError(
            f"scores {score.shape}, labels {label.shape} and weights {weight.shape} must be "
            "vectors of one length"
        )
    if np.isnan(score).any():
        raise UsageError(f"{int(np.isnan(score).sum())} scores are NaN; exclude and count them")
    if not np.isin(label, (0, 1)).all():
        raise UsageError("labels must be 0 or 1")
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise UsageError("weights must be finite and not negative")
    return Scored(scores=score, positive=label.astype(np.bool_), weights=weight)


def _rate(weights: FloatArray, last: NDArray[np.int64]) -> FloatArray:
    total = np.cumsum(weights)
    rate = np.concatenate([[0.0], total[last] / (total[-1] if total.size else 0.0)])
    return np.full(rate.shape, np.nan) if np.isnan(rate).any() else rate
