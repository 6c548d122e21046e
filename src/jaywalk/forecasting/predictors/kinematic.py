"""Kinematic predictors.

Constant velocity is hard to beat over short times. Standing still is the least that any predictor
must beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.predictors.registry import predictor
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import Windows


@predictor("constant-velocity-v1", summary="goes on at the mean velocity of the last second")
@dataclass(frozen=True, kw_only=True)
class ConstantVelocity(PointPredictor):
    """Continues at the mean velocity of the whole history."""

    def trajectory(self, windows: Windows) -> FloatArray:
        """Extrapolate along a straight line."""
        return straight_on(windows, windows.history_m.shape[1] - 1)


@predictor("last-step-v1", summary="goes on at the velocity of the last step")
@dataclass(frozen=True, kw_only=True)
class LastStep(PointPredictor):
    """Continues at the velocity between the last two positions."""

    def trajectory(self, windows: Windows) -> FloatArray:
        """Extrapolate along a straight line."""
        return straight_on(windows, 1)


def straight_on(windows: Windows, steps_back: int) -> FloatArray:
    """Extrapolate the mean motion over the last ``steps_back`` steps: ``(N, S, 2)``."""
    now = windows.history_m[:, -1]
    per_step = (now - windows.history_m[:, -1 - steps_back]) / steps_back
    ahead = np.arange(1, windows.future_m.shape[1] + 1, dtype=np.float64)
    return np.asarray(now[:, None] + ahead[:, None] * per_step[:, None])


@predictor("stand-still-v1", summary="nobody moves")
@dataclass(frozen=True, kw_only=True)
class StandStill(PointPredictor):
    """Predicts the present position at all times."""

    def trajectory(self, windows: Windows) -> FloatArray:
        """Repeat the present position at every step."""
        steps = windows.future_m.shape[1]
        return np.repeat(windows.history_m[:, -1:], steps, axis=1)
