"""Longitudinal control: response to throttle and brake, and Ackermann control.

The published 20 Hz regressions of the expert map speed (km/h) and throttle to the speed 0.05 s
later. For steps of another length the map is iterated "fractionally": near the present speed it is
treated as linear, and a linear map has an n-th iterate for any real n. A step of 0.05 s is exact.

Ackermann control turns a wanted speed, acceleration and wheel angle into pedals and steer.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jaywalk.core.kernels import kernel
from jaywalk.core.units import MPS_TO_KMH

WET_GRIP: Final = 0.65  # share of the dry grip left on a soaked road
_DRY_BRAKING_G: Final = 2.4
_WET_BRAKING_G: Final = 0.7
TICK_S: Final = 0.05  # step of the regressions
GRAVITY_MPS2: Final = 9.81
_TICK_KMH: Final = MPS_TO_KMH * TICK_S  # m/s2 -> km/h per tick
_FIT_LOW_THROTTLE: Final = 0.3  # the regression is not valid below
_FIT_TOP_KMH: Final = 76.0  # nor far above the 72 km/h the expert drives
_COAST_KMH: Final = 0.3 * _TICK_KMH  # coasting decelerates by this more than throttle 0.3 does
_HAND_BRAKE_MPS2: Final = 5.0
_REST_MPS: Final = 0.1
_HOLD_MPS2: Final = 2.0  # slope (in m/s2) on which a car without throttle stays put
_HOLD_THROTTLE: Final = 0.17  # about where the law starts to push a standing car

GainSlope = tuple[float, float]
"""Change of speed over one tick (km/h) and its derivative by speed."""


@kernel
def _throttle_fit(v: float, t: float) -> GainSlope:
    c_v = 0.963873001 + 0.0916787414 * t - 0.070546153 * t * t
    c_vv = 4.37535692e-4 - 1.05996152e-3 * t + 6.71079346e-4 * t * t
    constant = -0.380192912 * t + 1.74950069 * t * t
    return constant + (c_v - 1.0) * v + c_vv * v * v, c_v - 1.0 + 2.0 * c_vv * v


@kernel
def _brake_fit(v: float) -> GainSlope:
    """Full brake; beyond the fitted range it decelerates like at the range's end."""
    w = min(v, _FIT_TOP_KMH)
    value = slope = 0.0
    # Horner over the degrees 7..1 of the published polynomial (no constant term).
    for c in (
        -4.91381935e-12,
        2.44419284e-9,
        -4.90357228e-7,
        5.06587474e-5,
        -2.83832427e-3,
        8.20967431e-2,
        9.3171137e-3,
        0.0,
    ):
        slope = slope * w + value
        value = value * w + c
    return value - w, (slope - 1.0 if v < _FIT_TOP_KMH else 0.0)


@kernel
def _drive(v: float, t: float, scale: float, top: float) -> GainSlope:
    """Change of speed per tick without brake at ``v`` >= 0 km/h; rises with the throttle.

    Below throttle 0.3 it blends linearly into coasting. From ``fade`` up to the top speed the pull
    fades to zero, and lifting the foot always decelerates.
    """
    fade = min(_FIT_TOP_KMH, 0.6 * top)
    w = min(v, fade)
    gain, slope = _throttle_fit(w, max(t, _FIT_LOW_THROTTLE))
    if t < _FIT_LOW_THROTTLE:
        coast = min(gain, 0.0) - _COAST_KMH
        share = t / _FIT_LOW_THROTTLE
        slope = slope * (share if gain > 0.0 else 1.0)
        gain = coast + (gain - coast) * share
    if gain > 0.0:
        gain, slope = gain * scale, slope * scale
    if v > fade:
        fraction = (v - fade) / (top - fade)
        slope = 0.0
        if gain > 0.0:
            gain *= max(1.0 - fraction, 0.0)
        gain -= 0.8 * _TICK_KMH * (min(fraction, 1.0) * (1.0 - t) + max(fraction - 1.0, 0.0) * 2.0)
    return gain, slope


@kernel
def _iterate(gain: float, slope: float, ticks: float) -> float:
    """Change of speed after a real number of ticks of the locally linear map."""
    factor = max(1.0 + slope, 0.01)
    if abs(factor - 1.0) < 1e-9:
        return gain * ticks
    return float(gain * (factor**ticks - 1.0) / (factor - 1.0))


@kernel
def acceleration_at(speed_mps: float, throttle: float, scale: float, top_mps: float) -> float:
    """Acceleration (m/s2, mean over one tick) of the fitted law without brake, forward gear."""
    gain, _ = _drive(max(speed_mps, 0.0) * MPS_TO_KMH, throttle, scale, top_mps * MPS_TO_KMH)
    return float(gain / _TICK_KMH)


@kernel
def _most_braking(grip: float) -> float:
    """Deceleration (m/s2) that the tyres can give.

    On a dry road it lies above all that the fitted brake does (which exceeds real tyres at walking
    pace); on a soaked one it is a real car's. Braking from speed is lengthened a little by rain,
    the last metres a lot.
    """
    wet = min(max((1.0 - grip) / (1.0 - WET_GRIP), 0.0), 1.0)
    return GRAVITY_MPS2 * (_DRY_BRAKING_G + (_WET_BRAKING_G - _DRY_BRAKING_G) * wet)


@kernel
def next_speed(
    speed_mps: float,
    throttle: float,
    brake: float,
    hand_brake: bool,
    gear: int,
    slope_mps2: float,
    grip: float,
    model: Any,
    dt_s: float,
) -> float:
    """Speed along the direction of travel after ``dt_s`` (at most one tick of 0.05 s).

    Args:
        speed_mps: Present speed, negative backwards.
        throttle: 0..1, finite.
        brake: 0..1, finite.
        hand_brake: Whether it is pulled.
        gear: 1 forward, -1 reverse, 0 neutral.
        slope_mps2: Gravity along the vehicle, positive pushes forward.
        grip: Share of the dry grip left, limits braking.
        model: ``VEHICLE_MODEL`` record.
        dt_s: Step.
    """
    t = throttle if gear != 0 else 0.0
    top = (model["reverse_speed_mps"] if gear < 0 else model["top_speed_mps"]) * MPS_TO_KMH
    scale = model["throttle_scale"]
    from_rest, _ = _drive(0.0, t, scale, top)
    push = max(from_rest, 0.0) / _TICK_KMH * gear * (1.0 - brake)
    hold = 8.0 * brake + _HOLD_MPS2 * max(1.0 - t / _HOLD_THROTTLE, 0.0)
    if hand_brake:
        hold += _HAND_BRAKE_MPS2
    if abs(speed_mps) <= _REST_MPS and abs(push + slope_mps2) <= hold:
        return 0.0
    # A standing car moves the way it is pushed.
    sign = speed_mps if speed_mps != 0.0 else push + slope_mps2
    sign = 1.0 if sign > 0.0 else -1.0
    v = abs(speed_mps) * MPS_TO_KMH
    against = gear != 0 and sign * gear < 0.0
    gain, slope = _drive(v, 0.0 if against else t, scale, top)
    gain, slope = gain * (1.0 - brake), slope * (1.0 - brake)
    if against:
        gain -= abs(push) * _TICK_KMH
    if brake > 0.0:
        stop_gain, stop_slope = _brake_fit(v)
        share = brake * min(model["brake_scale"], 1.0)
        gain, slope = gain + share * stop_gain, slope + share * stop_slope
    after = max(v + _iterate(gain, slope, dt_s / TICK_S), 0.0) / MPS_TO_KMH
    after = max(after, v / MPS_TO_KMH - _most_braking(grip) * dt_s)
    if hand_brake:
        after = max(after - _HAND_BRAKE_MPS2 * grip * dt_s, 0.0)
    return float(sign * after + slope_mps2 * dt_s)


_SPEED_GAIN: Final = 3.0  # 1/s: wanted acceleration per speed error
_MAX_ACCELERATION_MPS2: Final = 8.0
_MAX_DECELERATION_MPS2: Final = 8.0
_STOP_MPS: Final = 0.1


@kernel
def _throttle_for(
    acceleration_mps2: float, speed_mps: float, scale: float, top_mps: float
) -> float:
    """Throttle that gives this acceleration; the law rises with the throttle, so bisect."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        if acceleration_at(speed_mps, middle, scale, top_mps) < acceleration_mps2:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def ackermann_pedals(row: Any, model: Any, dt_s: float) -> None:
    """Set throttle, brake, reverse and steer of a vehicle from its Ackermann target.

    The speed error asks for an acceleration (limited by ``ack_accel`` when that is not 0), the
    fitted law turned around gives the pedal. A speed target of 0 ends in a full stop.
    """
    target = row["ack_speed"] if np.isfinite(row["ack_speed"]) else 0.0
    angle = row["ack_steer"] if np.isfinite(row["ack_steer"]) else 0.0
    rate = row["ack_steer_speed"] if np.isfinite(row["ack_steer_speed"]) else 0.0
    wanted = min(max(angle / model["max_wheel_angle_rad"], -1.0), 1.0)
    if rate > 0.0:
        most = rate / model["max_wheel_angle_rad"] * dt_s
        wanted = row["steer"] + min(max(wanted - row["steer"], -most), most)
    row["steer"] = wanted

    speed = row["v_long"]
    row["throttle"], row["brake"] = 0.0, 0.0
    if abs(target) < _STOP_MPS and abs(speed) < _STOP_MPS:
        row["brake"] = 1.0
        return
    if abs(speed) < _STOP_MPS:
        row["reverse"] = 1 if target < 0.0 else 0
    direction = -1.0 if row["reverse"] else 1.0
    along, error = speed * direction, (target - speed) * direction
    row["ack_speed_err"] = error
    limit = abs(row["ack_accel"]) if np.isfinite(row["ack_accel"]) else 0.0
    wish = _SPEED_GAIN * error
    wish = min(wish, limit if limit > 0.0 else _MAX_ACCELERATION_MPS2)
    wish = max(wish, -limit if limit > 0.0 else -_MAX_DECELERATION_MPS2)
    row["ack_accel_err"] = wish
    scale, top = model["throttle_scale"], model["top_speed_mps"]
    coasting = acceleration_at(along, 0.0, scale, top)
    if wish >= coasting:
        row["throttle"] = _throttle_for(wish, along, scale, top)
    else:
        full = (
            next_speed(max(along, 0.2), 0.0, 1.0, False, 1, 0.0, 1.0, model, 0.05) - max(along, 0.2)
        ) / 0.05
        row["brake"] = min(max((wish - coasting) / min(full - coasting, -0.1), 0.0), 1.0)
