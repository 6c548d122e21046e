"""Kalman filter with a constant-velocity model; the spread grows as the filter predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.predictors.registry import predictor
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.forecast import Mixture, isotropic

_ACCELERATIONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0)
_MEASUREMENTS_M = (0.005, 0.02, 0.05, 0.1, 0.2)
_FIRST_SPEED_SD_MPS = 2.0


@predictor("kalman-v1", summary="constant-velocity Kalman filter, fitted noise")
@dataclass(frozen=True, kw_only=True)
class Kalman:
    """Models white-noise acceleration, with the same noise on both axes.

    Attributes:
        acceleration: Spectral density of the acceleration noise, m/s^2 per root Hz.
        measurement_m: Standard deviation of a measured position.
    """

    acceleration: float = 0.6
    measurement_m: float = 0.05

    def fitted(self, windows: Windows) -> Self:
        """Choose the noise from a coarse grid that makes the known futures most likely."""
        candidates = [
            replace(self, acceleration=a, measurement_m=m)
            for a, m in product(_ACCELERATIONS, _MEASUREMENTS_M)
        ]
        return min(candidates, key=lambda candidate: candidate._mean_nll(windows))

    def trajectory(self, windows: Windows) -> FloatArray:
        """Extrapolate the filtered state along a straight line."""
        position, velocity, _ = self._filter(windows)
        times = windows.step_s * np.arange(1, windows.future_m.shape[1] + 1)
        return np.asarray(position[:, None] + times[:, None] * velocity[:, None])

    def predict(self, windows: Windows) -> Mixture:
        """Return one Gaussian per horizon; its spread follows from the filter alone."""
        means = self.trajectory(windows)[:, list(windows.horizon_steps)]
        return isotropic(means, np.sqrt(self._variances(windows)))

    def _mean_nll(self, windows: Windows) -> float:
        variance = self._variances(windows)
        error = self.trajectory(windows)[:, list(windows.horizon_steps)] - windows.truth_m
        squares = (error**2).sum(axis=2)
        return float(np.nanmean(0.5 * squares / variance + np.log(2.0 * np.pi * variance)))

    def _variances(self, windows: Windows) -> FloatArray:
        _, _, p = self._filter(windows)
        t = np.array(windows.horizons_s)
        q = self.acceleration**2
        return np.asarray(p[0, 0] + 2.0 * t * p[0, 1] + t**2 * p[1, 1] + q * t**3 / 3.0)

    def _filter(self, windows: Windows) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the filtered position, velocity, and the covariance of one axis."""
        dt, q, r = windows.step_s, self.acceleration**2, self.measurement_m**2
        noise = q * np.array([[dt**3 / 3.0, dt**2 / 2.0], [dt**2 / 2.0, dt]])
        move = np.array([[1.0, dt], [0.0, 1.0]])
        position = windows.history_m[:, 0].copy()
        velocity = np.zeros_like(position)
        p = np.diag([r, _FIRST_SPEED_SD_MPS**2])
        for i in range(1, windows.history_m.shape[1]):
            position = position + dt * velocity
            p = move @ p @ move.T + noise
            gain = p[:, 0] / (p[0, 0] + r)
            innovation = windows.history_m[:, i] - position
            position = position + gain[0] * innovation
            velocity = velocity + gain[1] * innovation
            p = p - np.outer(gain, p[0])
        return position, velocity, p
