"""Constant velocity: people go on as they did. Hard to beat over short times.

Stand still: everybody stays where they are. The floor that any predictor must beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import Windows


@dataclass(frozen=True, kw_only=True)
class ConstantVelocity(PointPredictor):
    """Goes on at the mean velocity of the whole history."""

    def trajectory(self, windows: Windows) -> FloatArray:
        """Straight on."""
        return straight_on(windows, windows.history_m.shape[1] - 1)


@dataclass(frozen=True, kw_only=True)
class LastStep(PointPredictor):
    """Goes on at the velocity between the last two positions."""

    def trajectory(self, windows: Windows) -> FloatArray:
        """Straight on."""
        return straight_on(windows, 1)


def straight_on(windows: Windows, steps_back: int) -> FloatArray:
    """Extrapolate the mean motion over the last ``steps_back`` steps: ``(N, S, 2)``."""
    now = windows.history_m[:, -1]
    per_step = (now - windows.history_m[:, -1 - steps_back]) / steps_back
    ahead = np.arange(1, windows.future_m.shape[1] + 1, dtype=np.float64)
    return np.asarray(now[:, None] + ahead[:, None] * per_step[:, None])


@dataclass(frozen=True, kw_only=True)
class StandStill(PointPredictor):
    """Predicts the present position for ever."""

    def trajectory(self, windows: Windows) -> NDArray[np.float64]:
        """The present position at every step."""
        steps = windows.future_m.shape[1]
        return np.repeat(windows.history_m[:, -1:], steps, axis=1)
