"""Steering: a controller on the heading towards a point ahead, with PDM-Lite's constants."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from jaywalk.agents.route_line import RouteLine

_TICK_S: Final = 0.05  # the step the gains were found at
_PROPORTIONAL: Final = 3.118357247806046
_DERIVATIVE: Final = 1.3782508892109167
_INTEGRAL: Final = 0.6406067986034124
_MEMORY: Final = 6
_AIM_PER_KMH_M: Final = 0.09755321901954155
_AIM_AT_REST_M: Final = 0.19152884533402488
_AIM_M: Final = (2.4, 10.5)


class Steering:
    """Turns towards the line; call once a tick."""

    def __init__(self, delta_s: float) -> None:
        self._rate = _TICK_S / delta_s
        self._errors: deque[float] = deque(maxlen=max(1, round(_MEMORY * self._rate)))

    def turn(
        self, line: RouteLine, along_m: float, x_m: float, y_m: float, yaw_rad: float,
        speed_mps: float,
    ) -> float:  # fmt: skip
        """Steering from -1 (left) to 1 (right) for a vehicle at a pose."""
        aim = min(max(_AIM_PER_KMH_M * 3.6 * speed_mps + _AIM_AT_REST_M, _AIM_M[0]), _AIM_M[1])
        to_x, to_y = line.point_at(along_m + aim)
        heading = math.atan2(to_y - y_m, to_x - x_m) - yaw_rad
        error = ((heading + math.pi) % (2.0 * math.pi) - math.pi) / (0.5 * math.pi)
        before = self._errors[-1] if self._errors else error
        self._errors.append(error)
        mean = sum(self._errors) / len(self._errors)
        steer = (
            _PROPORTIONAL * error
            + _DERIVATIVE * (error - before) * self._rate
            + _INTEGRAL * mean
        )  # fmt: skip
        return min(max(steer, -1.0), 1.0)
