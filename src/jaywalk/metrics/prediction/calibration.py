"""Calibration of probabilities, and coverage of confidence regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction._roc import check_scored
from jaywalk.metrics.prediction.forecast import Mixture, gaussian_log_density, nll_full_covariance


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Predicted against observed frequency; empty bins are NaN with weight 0.

    Attributes:
        predicted: Mean probability in each bin.
        observed: Share of positives in each bin.
        weight: Share of samples in each bin.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean distance of the two, by weight."""
        used = self.weight > 0.0
        if not used.any():
            return float("nan")
        away = np.abs(self.predicted - self.observed)
        return float((away[used] * self.weight[used]).sum())


def reliability(
    probabilities: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, bins: int = 10
) -> Reliability:
    """Reliability in bins of equal width over [0, 1]; a probability of 1 is in the last bin."""
    data = check_scored(probabilities, labels, weights)
    if ((data.scores < 0.0) | (data.scores > 1.0)).any():
        raise UsageError("probabilities must lie in [0, 1]; scores of another kind have no ECE")
    place = probability_bin(data.scores, bins)
    mass, predicted, observed = (
        np.bincount(place, weights=data.weights * value, minlength=bins)
        for value in (1.0, data.scores, data.positive)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        total = mass.sum()
        share = mass / total if total > 0.0 else np.zeros(bins)
        return Reliability(predicted=predicted / mass, observed=observed / mass, weight=share)


def probability_bin(probabilities: FloatArray, bins: int) -> NDArray[np.int64]:
    """Index of the bin of equal width each probability falls into."""
    return np.minimum((probabilities * bins).astype(np.int64), bins - 1)


def density_levels(
    forecast: Mixture,
    truth_m: FloatArray,
    horizon: int,
    rng: np.random.Generator,
    draws: int = 1000,
) -> FloatArray:
    """Mass of the smallest highest-density region that reaches each truth, by Monte Carlo.

    Uniform over [0, 1] for a calibrated forecast.
    """
    weights, means, covariances = forecast.marginal(horizon)
    positions = forecast.draw(rng, draws).positions_m[:, :, horizon]
    truth = -nll_full_covariance(weights, means, covariances, truth_m[:, horizon])
    denser = np.zeros(len(weights))
    for n in range(len(weights)):
        log_density = gaussian_log_density(means[n], covariances[n], positions[n][:, None])
        mixed = np.log(np.exp(log_density - truth[n]) @ weights[n])
        denser[n] = np.mean(mixed > 0.0)
    return denser


def coverage(levels: FloatArray, nominal: float) -> float:
    """Share of truths inside the highest-density region of mass ``nominal``."""
    return float(np.mean(levels <= nominal)) if levels.size else float("nan")
