"""Social force: everybody wants to go on, and is pushed away by people in view (Helbing, Molnar).

The others go straight on meanwhile, and vehicles push nobody here. Parameters are of the usual
magnitude and not fitted; only the spread is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import Windows


@dataclass(frozen=True, kw_only=True)
class SocialForce(PointPredictor):
    """Desired velocity is that of the last second.

    Attributes:
        relaxation_s: Time to get back to the desired velocity.
        push_mps2: Acceleration between two people who touch.
        range_m: Distance over which it falls by e.
        body_m: Distance of two centres who touch.
        behind: Share of the push from somebody out of view.
    """

    relaxation_s: float = 0.5
    push_mps2: float = 1.2
    range_m: float = 0.4
    body_m: float = 0.5
    behind: float = 0.3

    def trajectory(self, windows: Windows) -> FloatArray:
        """Straight on, bent by the people nearby."""
        back = windows.history_m.shape[1] - 1
        now = np.ascontiguousarray(windows.history_m[:, -1])
        wanted = (now - windows.history_m[:, 0]) / (back * windows.step_s)
        parameters = np.array(
            [self.relaxation_s, self.push_mps2, self.range_m, self.body_m, self.behind]
        )
        steps = windows.future_m.shape[1]
        walked: FloatArray = _walk(
            now, wanted, windows.neighbours, steps, windows.step_s, parameters
        )
        return walked


@kernel
def _walk(
    start: FloatArray,
    wanted: FloatArray,
    others: FloatArray,
    steps: int,
    step_s: float,
    parameters: FloatArray,
) -> Any:
    relaxation, push, reach, body, behind = parameters
    out = np.empty((start.shape[0], steps, 2))
    # Substeps of at most 0.1 s keep the push stable for data of lower rates.
    substeps = max(1, int(np.ceil(step_s / 0.1 - 1e-9)))
    dt = step_s / substeps
    for i in range(start.shape[0]):
        x, y, wx, wy = start[i, 0], start[i, 1], wanted[i, 0], wanted[i, 1]
        vx, vy = wx, wy
        speed = np.hypot(wx, wy)
        for step in range(steps * substeps):
            ax, ay = (wx - vx) / relaxation, (wy - vy) / relaxation
            for j in range(others.shape[1]):
                if np.isnan(others[i, j, 0]):
                    break
                dx = x - (others[i, j, 0] + step * dt * others[i, j, 2])
                dy = y - (others[i, j, 1] + step * dt * others[i, j, 3])
                distance = np.hypot(dx, dy)
                if distance < 1e-6:
                    continue
                view = 1.0
                if speed > 1e-6:
                    cosine = -(dx * wx + dy * wy) / (distance * speed)
                    view = behind + (1.0 - behind) * 0.5 * (1.0 + cosine)
                force = push * np.exp((body - distance) / reach) * view / distance
                ax += force * dx
                ay += force * dy
            vx += dt * ax
            vy += dt * ay
            x += dt * vx
            y += dt * vy
            if (step + 1) % substeps == 0:
                out[i, step // substeps, 0] = x
                out[i, step // substeps, 1] = y
    return out
