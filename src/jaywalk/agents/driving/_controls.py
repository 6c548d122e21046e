"""Pedals for a wanted acceleration, and steering.

PDM-Lite's regressions predict the speed 0.05 s later from speed and throttle, and under full brake.
Solved for the pedal, they fit CARLA's Lincoln. A slow integral over the actual motion of the car
corrects for other cars, slopes and other servers. Steering is a controller on the heading towards a
point ahead, with PDM-Lite's constants.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from jaywalk.agents.driving.route_line import RouteLine
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.geometry.angle import wrap_angle

_TICK_S: Final = 0.05
_MPS2: Final = MPS_TO_KMH * _TICK_S  # km/h per tick in 1 m/s2
_LOW_THROTTLE: Final = 0.3  # below this the regression does not hold
_BRAKE_POLYNOMIAL: Final = (
    -4.91381935e-12,
    2.44419284e-9,
    -4.90357228e-7,
    5.06587474e-5,
    -2.83832427e-3,
    8.20967431e-2,
    9.3171137e-3,
    0.0,
)
_FIT_TOP_KMH: Final = 76.0
_GAIN_PER_S: Final = 0.35
_CORRECTION: Final = 0.4
_BRAKE_GAIN_PER_S: Final = 2.5
_BRAKE_GAIN: Final = (0.7, 5.0)
_STAND_MPS: Final = 0.35
_COAST_MPS2: Final = 0.3  # no throttle slows by this much more than the least throttle


@dataclass(slots=True)
class Pedals:
    """Throttle and brake of one vehicle; call once per tick."""

    delta_s: float
    _correction: float = field(default=0.0, init=False)
    _brake_gain: float = field(default=1.0, init=False)
    _last_mps: float = field(default=0.0, init=False)
    _last: tuple[float, float] = field(default=(0.0, 0.0), init=False)  # throttle, brake
    _wanted_mps2: float = field(default=0.0, init=False)

    def press(self, speed_mps: float, wanted_mps2: float) -> tuple[float, float]:
        """Return throttle and brake for a wanted acceleration."""
        self._learn(speed_mps)
        throttle, brake = self._choose(speed_mps, wanted_mps2)
        self._last_mps, self._wanted_mps2 = speed_mps, wanted_mps2
        self._last = throttle, brake
        return throttle, brake

    def _learn(self, speed_mps: float) -> None:
        """Update the correction from the actual and the wanted acceleration."""
        missing = self._wanted_mps2 - (speed_mps - self._last_mps) / self.delta_s
        throttle, brake = self._last
        if 0.0 < throttle < 1.0:
            step = _GAIN_PER_S * self.delta_s * min(max(missing, -2.0), 2.0)
            self._correction = min(max(self._correction + step, -_CORRECTION), _CORRECTION)
        elif 0.0 < brake < 1.0 and speed_mps > _STAND_MPS:
            step = _BRAKE_GAIN_PER_S * self.delta_s * min(max(-missing, -2.0), 2.0)
            self._brake_gain = min(max(self._brake_gain + step, _BRAKE_GAIN[0]), _BRAKE_GAIN[1])

    def _choose(self, speed_mps: float, wanted_mps2: float) -> tuple[float, float]:
        if speed_mps < _STAND_MPS and wanted_mps2 <= 0.05:
            return 0.0, 1.0
        rolling = coasting_mps2(speed_mps)
        if wanted_mps2 < rolling - 0.1:
            # Releasing the throttle slows by itself, so the brake gives the rest.
            full = full_braking_mps2(speed_mps)
            share = self._brake_gain * (rolling - wanted_mps2) / max(full + rolling, 0.5)
            return 0.0, min(max(share, 0.0), 1.0)
        throttle = throttle_for(speed_mps, wanted_mps2) + self._correction
        return min(max(throttle, 0.0), 1.0), 0.0


def throttle_for(speed_mps: float, wanted_mps2: float) -> float:
    """Return the throttle for an acceleration of ``wanted_mps2``, by the regression."""
    v = min(speed_mps * MPS_TO_KMH, _FIT_TOP_KMH)
    a = 1.74950069 - 0.070546153 * v + 6.71079346e-4 * v * v
    b = -0.380192912 + 0.0916787414 * v - 1.05996152e-3 * v * v
    c = (0.963873001 - 1.0) * v + 4.37535692e-4 * v * v - wanted_mps2 * _MPS2
    root = b * b - 4.0 * a * c
    if root < 0.0:  # beyond the vertex: more than the regression can give, or less
        return 1.0 if a < 0.0 else _low(speed_mps, wanted_mps2)
    # The same root in the form that does not cancel; the square's sign changes with the speed.
    if b >= 0.0:
        throttle = -2.0 * c / max(b + math.sqrt(root), 1e-9)
    else:
        throttle = (-b + math.sqrt(root)) / (2.0 * a)
    if throttle < _LOW_THROTTLE:
        return _low(speed_mps, wanted_mps2)
    return min(throttle, 1.0)


def _low(speed_mps: float, wanted_mps2: float) -> float:
    """Interpolate linearly between zero and the least throttle of the fit."""
    least, coast = _least_mps2(speed_mps), coasting_mps2(speed_mps)
    share = (wanted_mps2 - coast) / max(least - coast, 1e-3)
    return _LOW_THROTTLE * min(max(share, 0.0), 1.0)


def _least_mps2(speed_mps: float) -> float:
    v, t = min(speed_mps * MPS_TO_KMH, _FIT_TOP_KMH), _LOW_THROTTLE
    gain = (
        (0.963873001 - 1.0 + 0.0916787414 * t - 0.070546153 * t * t) * v
        + (4.37535692e-4 - 1.05996152e-3 * t + 6.71079346e-4 * t * t) * v * v
        - 0.380192912 * t
        + 1.74950069 * t * t
    )
    return gain / _MPS2


def coasting_mps2(speed_mps: float) -> float:
    """Return the (negative) acceleration without throttle and brake."""
    return min(_least_mps2(speed_mps), 0.0) - _COAST_MPS2


def full_braking_mps2(speed_mps: float) -> float:
    """Return the deceleration under full brake, by the regression; at least that of the tyres."""
    v = min(speed_mps * MPS_TO_KMH, _FIT_TOP_KMH)
    after = 0.0
    for coefficient in _BRAKE_POLYNOMIAL:
        after = after * v + coefficient
    return max((v - after) / _MPS2, 3.0)


_PROPORTIONAL: Final = 3.118357247806046
_DERIVATIVE: Final = 1.3782508892109167
_INTEGRAL: Final = 0.6406067986034124
_MEMORY: Final = 6
_AIM_PER_KMH_M: Final = 0.09755321901954155
_AIM_AT_REST_M: Final = 0.19152884533402488
_AIM_M: Final = (2.4, 10.5)


class Steering:
    """Steering towards the line; call once per tick."""

    def __init__(self, delta_s: float) -> None:
        self._rate = _TICK_S / delta_s
        self._errors: deque[float] = deque(maxlen=max(1, round(_MEMORY * self._rate)))

    def turn(
        self,
        line: RouteLine,
        along_m: float,
        x_m: float,
        y_m: float,
        yaw_rad: float,
        speed_mps: float,
    ) -> float:
        """Return the steering from -1 (left) to 1 (right) for a vehicle at a pose."""
        aim = min(
            max(_AIM_PER_KMH_M * MPS_TO_KMH * speed_mps + _AIM_AT_REST_M, _AIM_M[0]), _AIM_M[1]
        )
        to_x, to_y = line.point_at(along_m + aim)
        heading = math.atan2(to_y - y_m, to_x - x_m) - yaw_rad
        error = wrap_angle(heading) / (0.5 * math.pi)
        before = self._errors[-1] if self._errors else error
        self._errors.append(error)
        mean = sum(self._errors) / len(self._errors)
        steer = (
            _PROPORTIONAL * error + _DERIVATIVE * (error - before) * self._rate + _INTEGRAL * mean
        )
        return min(max(steer, -1.0), 1.0)
