"""Social force model (Helbing, Molnar): people keep their velocity, and people nearby repel them.

The neighbours move straight on, and vehicles exert no force. The parameters have the usual
magnitudes and are not fitted; only the spread is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.forecasting.predictors.registry import NEIGHBOURS, POSITIONS, predictor
from jaywalk.forecasting.samples import PointPredictor
from jaywalk.forecasting.windows import Windows


@predictor(
    "social-force-v1",
    summary="keeps its velocity but gives way to people nearby",
    inputs=(POSITIONS, NEIGHBOURS),
)
@dataclass(frozen=True, kw_only=True)
class SocialForce(PointPredictor):
    """Takes the velocity of the last second as the desired one.

    Attributes:
        relaxation_s: Time constant of the return to the desired velocity.
        push_mps2: Repulsive acceleration between two people who touch.
        range_m: Distance over which the repulsion falls by a factor of e.
        body_m: Distance between the centres of two people who touch.
        behind: Share of the repulsion that remains when the other person is out of view.
    """

    relaxation_s: float = 0.5
    push_mps2: float = 1.2
    range_m: float = 0.4
    body_m: float = 0.5
    behind: float = 0.3

    def trajectory(self, windows: Windows) -> FloatArray:
        """Integrate the forces step by step."""
        back = windows.history_m.shape[1] - 1
        now = np.ascontiguousarray(windows.history_m[:, -1])
        desired = (now - windows.history_m[:, 0]) / (back * windows.step_s)
        parameters = np.array(
            [self.relaxation_s, self.push_mps2, self.range_m, self.body_m, self.behind]
        )
        steps = windows.future_m.shape[1]
        positions: FloatArray = _walk(
            now, desired, windows.neighbours, steps, windows.step_s, parameters
        )
        return positions


@kernel
def _walk(
    start: FloatArray,
    desired: FloatArray,
    others: FloatArray,
    steps: int,
    step_s: float,
    parameters: FloatArray,
) -> Any:
    relaxation, push, reach, body, behind = parameters
    out = np.empty((start.shape[0], steps, 2))
    # Substeps of at most 0.1 s keep the force stable for data of lower rates.
    substeps = max(1, int(np.ceil(step_s / 0.1 - 1e-9)))
    dt = step_s / substeps
    for i in range(start.shape[0]):
        x, y, wx, wy = start[i, 0], start[i, 1], desired[i, 0], desired[i, 1]
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
