"""Stand still: everybody stays where they are. The floor that any predictor must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.predict.spread import PointPredictor
from jaywalk.predict.windows import Windows


@dataclass(frozen=True, kw_only=True)
class StandStill(PointPredictor):
    """Predicts the present position for ever."""

    def trajectory(self, windows: Windows) -> NDArray[np.float64]:
        """The present position at every step."""
        steps = windows.future_m.shape[1]
        return np.repeat(windows.history_m[:, -1:], steps, axis=1)
