"""A point predictor with a Gaussian around it, as wide as its errors were where it was fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction.forecast import Mixture, isotropic
from jaywalk.predict.windows import Windows

FloatArray = NDArray[np.float64]

_SMALLEST_SIGMA_M = 1e-3


@dataclass(frozen=True, kw_only=True)
class PointPredictor(ABC):
    """Base of predictors that guess one trajectory.

    Attributes:
        sigma_m: Deviation of each coordinate at each horizon, or None before fitting.
    """

    sigma_m: tuple[float, ...] | None = None

    @abstractmethod
    def trajectory(self, windows: Windows) -> FloatArray:
        """The guess at every step: ``(N, S, 2)``."""

    def fitted(self, windows: Windows) -> Self:
        """The same predictor with the spread of its errors on these windows."""
        steps = list(windows.horizon_steps)
        away = self.trajectory(windows)[:, steps] - windows.truth_m
        known: NDArray[np.bool_] = np.asarray(np.isfinite(away).all(axis=2))
        if not known.any(axis=0).all():
            raise UsageError("no window reaches the longest horizon; there is nothing to fit to")
        squares = np.where(known[..., None], away, 0.0) ** 2
        sigma = np.sqrt(squares.sum(axis=(0, 2)) / (2.0 * known.sum(axis=0)))
        return replace(self, sigma_m=tuple(np.maximum(sigma, _SMALLEST_SIGMA_M).tolist()))

    def predict(self, windows: Windows) -> Mixture:
        """One isotropic Gaussian a horizon."""
        if self.sigma_m is None or len(self.sigma_m) != len(windows.horizon_steps):
            raise UsageError("fit the predictor to windows with these horizons first")
        means = self.trajectory(windows)[:, list(windows.horizon_steps)]
        return isotropic(means, np.array(self.sigma_m))
