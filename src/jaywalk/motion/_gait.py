"""Gait model: stride length, stance time and the path of a foot as functions of speed.

Speeds enter through the Froude-like number v / sqrt(g * leg), so that children take shorter and
quicker steps than adults at the same speed. All figures describe normal human gait.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jaywalk.core.kernels import kernel
from jaywalk.core.units import DEG_TO_RAD

_GRAVITY_MPS2 = 9.81


class Gait(NamedTuple):
    """Gait of one walker at one instant, in metres, radians and fractions of the cycle."""

    stride_m: float
    duty: float  # share of the cycle in which a foot is on the ground
    walk: float  # 0 standing, 1 moving
    run: float  # 0 walking, 1 running
    vigour: float  # amplitude of joint movement, 1 at a brisk adult walk
    strike_rad: float  # toe-up angle of the foot when it lands
    push_rad: float  # heel-up angle of the foot when it leaves
    middle: float  # phase at which a standing foot passes under the hip


class Foot(NamedTuple):
    """State of a foot on its path: position of a flat foot, and the deviations from it."""

    forward_m: float  # flat-foot position along the travel direction, relative to the hips
    pitch_rad: float  # > 0 toe up (rolling over the heel), < 0 heel up (rolling over the toe joint)
    toe_bend_rad: float  # toes up against the foot: flat on the ground while the heel rises
    lift_m: float  # height added to the ankle while swinging
    swing: float  # 0 on the ground, else share of the swing done


@kernel
def smooth_step(value: float, low: float, high: float) -> float:
    """Rise smoothly from 0 at ``low`` to 1 at ``high``."""
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def stride_length_m(speed_mps: float, leg_length_m: float) -> float:
    """Length of a full stride (two steps).

    The ratio of step length to step rate is nearly constant over speed, so the stride grows with
    the square root of speed: 1.47 m at 1.4 m/s and 2.33 m at 3.5 m/s for adults. The gait
    phase (0..1) advances by ``speed / stride_length_m(speed, leg) * dt``.
    """
    froude = max(speed_mps, 1e-4) / math.sqrt(_GRAVITY_MPS2 * leg_length_m)
    return 2.39 * leg_length_m * math.sqrt(froude)


@kernel
def gait_rate_hz(speed_mps: float, leg_length_m: float) -> float:
    """Cycles per second of the gait phase; 0 when standing."""
    if speed_mps < 1e-3:
        return 0.0
    stride: float = stride_length_m(speed_mps, leg_length_m)
    return speed_mps / stride


@kernel
def gait_at(speed_mps: float, leg_length_m: float) -> Gait:
    """Return the gait of a person with this leg length at this speed."""
    froude = max(speed_mps, 0.0) / math.sqrt(_GRAVITY_MPS2 * leg_length_m)
    walk = smooth_step(froude, 0.01, 0.12)
    run = smooth_step(froude, 0.67, 0.85)
    stride = stride_length_m(speed_mps, leg_length_m) * walk
    duty_walk = 0.66 - 0.11 * froude
    duty_run = max(0.27, 0.50 - 0.12 * froude)
    duty = duty_walk + run * (duty_run - duty_walk)
    vigour = min(1.3, 1.46 * math.sqrt(froude)) * walk
    strike = (20.0 * (1.0 - run) + 6.0 * run) * DEG_TO_RAD * vigour
    push = (64.0 * (1.0 - run) + 56.0 * run) * DEG_TO_RAD * min(vigour, 1.1)
    middle = duty * (0.425 - 0.015 * run)
    return Gait(stride, duty, walk, run, vigour, strike, push, middle)


@kernel
def _hermite(start: float, end: float, slope0: float, slope1: float, t: float) -> float:
    t2, t3 = t * t, t * t * t
    return (
        (2.0 * t3 - 3.0 * t2 + 1.0) * start
        + (t3 - 2.0 * t2 + t) * slope0
        + (3.0 * t2 - 2.0 * t3) * end
        + (t3 - t2) * slope1
    )


@kernel
def foot_at(phase: float, gait: Gait, leg_length_m: float) -> Foot:
    """Return the state of one foot; phase 0 is its landing.

    On the ground the flat foot moves back exactly as fast as the body moves forward, so that the
    point over which it rolls does not slide.
    """
    if phase < gait.duty:
        share = phase / gait.duty
        forward = gait.stride_m * (gait.middle - phase)
        if share < 0.20:
            pitch = gait.strike_rad * (1.0 - smooth_step(share, 0.0, 0.20))
        elif share < 0.58:
            pitch = 0.0
        else:
            rise = (share - 0.58) / 0.42
            pitch = -gait.push_rad * rise * rise * (1.5 - 0.5 * rise)
        return Foot(forward, pitch, max(-pitch, 0.0), 0.0, 0.0)
    swing = (phase - gait.duty) / (1.0 - gait.duty)
    back = gait.stride_m * (gait.middle - gait.duty)
    front = gait.stride_m * gait.middle
    slope = -gait.stride_m * (1.0 - gait.duty)
    forward = _hermite(back, front, (0.55 - 0.3 * gait.run) * slope, 0.3 * slope, swing)
    early = 6.75 * swing * (1.0 - swing) * (1.0 - swing)
    late = 4.0 * swing * (1.0 - swing)
    turn = smooth_step(swing, 0.0, 0.95)
    pitch = -gait.push_rad + turn * (gait.push_rad + gait.strike_rad)
    pitch -= gait.run * 40.0 * DEG_TO_RAD * early
    height = leg_length_m * gait.walk
    lift = height * (0.055 * early + 0.010 * late) * (0.4 + 0.6 * gait.vigour)
    lift += height * gait.run * 0.17 * early * min(1.4, gait.vigour)
    bend = max(-pitch, 0.0) * (1.0 - smooth_step(swing, 0.0, 0.4))
    return Foot(forward, pitch, bend, lift, max(swing, 1e-9))
