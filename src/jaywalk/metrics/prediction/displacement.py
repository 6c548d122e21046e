"""Displacement errors in metres. Each common form has its own name, since they differ by factors.

"At" a horizon is the error at that moment; "up to" averages over all steps until it. Every function
returns one value per sample; the caller averages over samples and computes intervals.
"""

from __future__ import annotations

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction.forecast import Mixture, Samples


def fde_point(forecast_m: FloatArray, truth_m: FloatArray) -> FloatArray:
    """Error of a point forecast ``(N, H, 2)`` at each step: ``(N, H)``; the last column is FDE."""
    return np.asarray(np.hypot(*np.moveaxis(forecast_m - truth_m, -1, 0)))


def ade_point(forecast_m: FloatArray, truth_m: FloatArray) -> FloatArray:
    """Error of a point forecast averaged over the steps up to each: ``(N, H)``."""
    errors = fde_point(forecast_m, truth_m)
    return np.asarray(np.cumsum(errors, axis=1) / np.arange(1, errors.shape[1] + 1))


def ade_sample_averaged(forecast: Samples, truth_m: FloatArray) -> FloatArray:
    """Error at each horizon averaged over the draws: the paper's ADE. ``(N, H)``."""
    return np.asarray(_errors(forecast, truth_m).mean(axis=1))


def fde_mixture_mean(forecast: Mixture, truth_m: FloatArray) -> FloatArray:
    """Error of the mean of the mixture at each horizon: ``(N, H)``."""
    mean = np.einsum("nk,nkhi->nhi", forecast.weights, forecast.means_m)
    return fde_point(mean, truth_m)


def fde_most_likely(forecast: Mixture, truth_m: FloatArray) -> FloatArray:
    """Error of the heaviest component's mean at each horizon: ``(N, H)``."""
    rows = np.arange(len(forecast.weights))
    return fde_point(forecast.means_m[rows, forecast.weights.argmax(axis=1)], truth_m)


def best_of_k_fde(forecast: Samples, truth_m: FloatArray, k: int = 20) -> FloatArray:
    """Return the smallest error among the first ``k`` draws, per horizon: ``(N, H)``.

    This metric rewards spread: publish it together with NLL or IRS, never instead of them.
    """
    return np.asarray(_errors(_first(forecast, k), truth_m).min(axis=1))


def best_of_k_ade(forecast: Samples, truth_m: FloatArray, k: int = 20) -> FloatArray:
    """Error averaged over all horizons of the one best of the first ``k`` draws: ``(N,)``."""
    return np.asarray(_errors(_first(forecast, k), truth_m).mean(axis=2).min(axis=1))


def _errors(forecast: Samples, truth_m: FloatArray) -> FloatArray:
    away = forecast.positions_m - truth_m[:, None]
    return np.asarray(np.hypot(away[..., 0], away[..., 1]))


def _first(forecast: Samples, k: int) -> Samples:
    available = forecast.positions_m.shape[1]
    if not 1 <= k <= available:
        raise UsageError(f"best of {k} needs at least {k} draws, got {available}")
    return Samples(positions_m=forecast.positions_m[:, :k])
