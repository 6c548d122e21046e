"""Negative log-likelihood of Gaussian mixtures, in nats: per horizon, and of all horizons at once.

The joint value is a number of its own and not the sum of the horizons: a component must explain
the whole trajectory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction.forecast import Mixture

FloatArray = NDArray[np.float64]

_LOG_2PI = float(np.log(2.0 * np.pi))


def gaussian_log_density(
    means: FloatArray, covariances: FloatArray, points: FloatArray
) -> FloatArray:
    """Log density of ``points (..., D)`` under ``means (..., D)`` and ``(..., D, D)``."""
    try:
        factors = np.linalg.cholesky(np.asarray(covariances, dtype=np.float64))
    except np.linalg.LinAlgError as problem:
        raise UsageError("a covariance is not positive definite") from problem
    away = np.asarray(points, dtype=np.float64) - means
    scaled = np.linalg.solve(factors, away[..., None])[..., 0]
    log_det = 2.0 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
    dimension = means.shape[-1]
    return np.asarray(-0.5 * ((scaled**2).sum(axis=-1) + log_det + dimension * _LOG_2PI))


def nll_marginal(forecast: Mixture, truth_m: FloatArray, horizon: int) -> FloatArray:
    """NLL of each sample at one horizon (by index): the 2-D marginal of every component, mixed."""
    weights, means, covariances = forecast.marginal(horizon)
    log_density = gaussian_log_density(means, covariances, truth_m[:, None, horizon])
    return _mixed(weights, log_density)


def nll_joint(forecast: Mixture, truth_m: FloatArray) -> FloatArray:
    """NLL of each sample's positions at all horizons together."""
    log_density = gaussian_log_density(
        forecast.means_m, forecast.covariances_m2, truth_m[:, None]
    ).sum(axis=2)
    return _mixed(forecast.weights, log_density)


def nll_full_covariance(
    weights: FloatArray, means: FloatArray, covariances: FloatArray, truth: FloatArray
) -> FloatArray:
    """NLL under mixtures over any dimension: ``(N, K)``, ``(N, K, D)``, ``(N, K, D, D)``."""
    return _mixed(weights, gaussian_log_density(means, covariances, truth[:, None]))


def _mixed(weights: FloatArray, log_density: FloatArray) -> FloatArray:
    return np.asarray(-logsumexp(log_density, axis=1, b=weights))
