"""Constant velocity: people go on as they did. Hard to beat over short times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.predict.spread import PointPredictor
from jaywalk.predict.windows import Windows

FloatArray = NDArray[np.float64]


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
