"""A predictor: people slow down and come to rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.predictors.registry import POSITIONS, predictor
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import Windows


@predictor(
    "damped-velocity-v1",
    summary="goes on at the velocity of the last second, which decays",
    inputs=(POSITIONS,),
)
@dataclass(frozen=True, kw_only=True)
class DampedVelocity(PointPredictor):
    """Constant velocity with exponential decay; the base class fits the spread.

    Attributes:
        decay_s: Time after which the velocity has fallen by a factor of e.
    """

    decay_s: float = 4.0

    def trajectory(self, windows: Windows) -> FloatArray:
        """Integrate the decaying velocity: ``(N, S, 2)``."""
        now = windows.history_m[:, -1]
        duration_s = (windows.history_m.shape[1] - 1) * windows.step_s
        velocity = (now - windows.history_m[:, 0]) / duration_s
        time_s = windows.step_s * np.arange(1, windows.future_m.shape[1] + 1)
        effective_s = self.decay_s * -np.expm1(-time_s / self.decay_s)
        return np.asarray(now[:, None] + effective_s[:, None] * velocity[:, None])
