"""Forecasts of a predictor, as Gaussian mixtures or draws, and the likelihood of mixtures.

A forecast covers a batch of samples and some horizons. Axes in this order: N samples, K components
or S draws, H horizons, 2 coordinates (metres).

The negative log-likelihood of mixtures is in nats, per horizon or for all horizons jointly. The
joint value is not the sum over horizons: one component must explain the whole trajectory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """A Gaussian mixture over trajectories; inside a component the horizons are independent.

    Attributes:
        weights: ``(N, K)``, each row sums to 1.
        means_m: ``(N, K, H, 2)``.
        covariances_m2: ``(N, K, H, 2, 2)``.
    """

    weights: FloatArray
    means_m: FloatArray
    covariances_m2: FloatArray

    def __post_init__(self) -> None:
        n, k = self.weights.shape
        h = self.means_m.shape[2]
        if self.means_m.shape != (n, k, h, 2) or self.covariances_m2.shape != (n, k, h, 2, 2):
            raise UsageError(
                f"mixture shapes disagree: weights {self.weights.shape}, means "
                f"{self.means_m.shape}, covariances {self.covariances_m2.shape}; expected "
                "(N, K), (N, K, H, 2) and (N, K, H, 2, 2)"
            )

    def marginal(self, horizon: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights ``(N, K)``, means ``(N, K, 2)`` and covariances of one horizon by its index."""
        return self.weights, self.means_m[:, :, horizon], self.covariances_m2[:, :, horizon]

    def rows(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> Mixture:
        """The mixture of some of the samples."""
        return Mixture(
            weights=self.weights[index],
            means_m=self.means_m[index],
            covariances_m2=self.covariances_m2[index],
        )

    def draw(self, rng: np.random.Generator, draws: int) -> Samples:
        """Trajectories drawn from the mixture: ``(N, draws, H, 2)``.

        The uniform and normal numbers do not depend on the mixture, so two models drawn from equal
        generators share them (common random numbers, as paired tests want).
        """
        n, k, h, _ = self.means_m.shape
        uniform = rng.random((n, draws))
        normal = rng.standard_normal((n, draws, h, 2))
        edges = np.cumsum(self.weights, axis=1)
        chosen = np.minimum((uniform[:, :, None] > edges[:, None, :]).sum(axis=2), k - 1)
        row = np.arange(n)[:, None]
        factors = np.linalg.cholesky(self.covariances_m2)[row, chosen]
        noise = np.einsum("nshij,nshj->nshi", factors, normal)
        return Samples(positions_m=self.means_m[row, chosen] + noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Equally likely trajectories.

    Attributes:
        positions_m: ``(N, S, H, 2)``.
    """

    positions_m: FloatArray


def isotropic(means_m: FloatArray, sigma_m: FloatArray) -> Mixture:
    """Return one Gaussian per horizon around ``means_m`` ``(N, H, 2)`` with deviation ``(H,)``."""
    n, h, _ = means_m.shape
    covariance = np.asarray(sigma_m, dtype=np.float64)[:, None, None] ** 2 * np.eye(2)
    return Mixture(
        weights=np.ones((n, 1)),
        means_m=means_m[:, None],
        covariances_m2=np.broadcast_to(covariance, (n, 1, h, 2, 2)).copy(),
    )


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
