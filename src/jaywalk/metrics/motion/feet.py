"""Feet on the ground: skating ratio, stance slip, penetration and float.

All take the balls of the feet (frames, feet, 3) with z up, metres, ground at z = 0, and
``standing_ball_m``, the height of a standing ball's joint over its sole.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.motion.floor import horizontal_speed_mps
from jaywalk.motion.rotation import FloatArray

#: A ball below 5 cm that moves more than 2.5 cm to the next frame (at 20 Hz) skates.
SKATE_HEIGHT_M: Final = 0.05
SKATE_STEP_M: Final = 0.025
#: A ball within 1.3 cm of its standing height and slower than 1 m/s stands.
STANCE_HEIGHT_M: Final = 0.013
STANCE_SPEED_MPS: Final = 1.0


def foot_skating_ratio(balls_m: FloatArray, rate_hz: float) -> float:
    """Share of foot-frames that are low and move; the step is scaled to the rate."""
    steps = np.linalg.norm(np.diff(balls_m[..., :2], axis=0), axis=-1)
    low = balls_m[1:, :, 2] < SKATE_HEIGHT_M
    return float((low & (steps > SKATE_STEP_M * 20.0 / rate_hz)).mean())


def stance_slip_mps(balls_m: FloatArray, rate_hz: float, standing_ball_m: float) -> float:
    """Mean horizontal speed of standing balls; 0 when none ever stands."""
    speed = horizontal_speed_mps(balls_m, rate_hz, 2)
    low = balls_m[..., 2] - standing_ball_m < STANCE_HEIGHT_M
    standing = low & (speed < STANCE_SPEED_MPS)
    return float(speed[standing].mean()) if standing.any() else 0.0


def penetration_m(balls_m: FloatArray, standing_ball_m: float) -> float:
    """Mean depth of the lower sole below the ground, over all frames."""
    low = balls_m[..., 2].min(axis=1) - standing_ball_m
    return float(np.maximum(-low, 0.0).mean())


def float_m(balls_m: FloatArray, standing_ball_m: float) -> float:
    """Mean height of the lower sole above the ground, over all frames."""
    low = balls_m[..., 2].min(axis=1) - standing_ball_m
    return float(np.maximum(low, 0.0).mean())
