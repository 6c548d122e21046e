"""Gait, foot contact and smoothness of a motion.

Gait checks compare cadence, step length and double support with the figures of human walking.

Metrics of foot contact are skating ratio, stance slip, penetration and float. They take the balls
of the feet (frames, feet, 3) in metres, with z up and the ground at z = 0, and ``standing_ball_m``,
the height of the ball's joint above the sole of a standing foot.

Jitter and acceleration of points depend on the frame rate; compare values of equal rates only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import contacts, horizontal_speed_mps
from jaywalk.motion.heading import heading_rad, yaw_matrix_2d
from jaywalk.motion.smpl import LEFT_ANKLE, RIGHT_ANKLE

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


def jitter_mps3(points_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the third difference of points (frames, ..., 3), per second cubed."""
    if len(points_m) < 4:
        return 0.0
    jerk = np.diff(points_m, n=3, axis=0) * rate_hz**3
    return float(np.linalg.norm(jerk, axis=-1).mean())


def acceleration_mps2(points_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the second difference."""
    if len(points_m) < 3:
        return 0.0
    second = np.diff(points_m, n=2, axis=0) * rate_hz**2
    return float(np.linalg.norm(second, axis=-1).mean())


def acceleration_error_mps2(points_m: FloatArray, truth_m: FloatArray, rate_hz: float) -> float:
    """Mean norm of the difference of accelerations."""
    if len(points_m) < 3:
        return 0.0
    error = np.diff(points_m - truth_m, n=2, axis=0) * rate_hz**2
    return float(np.linalg.norm(error, axis=-1).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class GaitFigures:
    """Figures of a walking motion.

    Attributes:
        steps: Foot strikes found.
        cadence_hz: Steps per second.
        step_length_m: Distance travelled per step.
        double_support: Share of frames with both balls standing.
        flight: Share of frames with neither.
        speed_mps: Mean speed along the path.
    """

    steps: int
    cadence_hz: float
    step_length_m: float
    double_support: float
    flight: float
    speed_mps: float


def path_speed_mps(motion: Clip) -> float:
    """Length of the pelvis path over the ground per second, sway smoothed away."""
    ground = motion.root_m[:, [0, 2]]
    smooth = gaussian_filter1d(ground, 0.2 * motion.rate_hz, axis=0, mode="nearest")
    length = np.linalg.norm(np.diff(smooth, axis=0), axis=1).sum()
    return float(length / motion.duration_s)


def gait_figures(motion: Clip) -> GaitFigures | None:
    """Figures of the stretch from the first to the last foot strike; None below three strikes.

    A strike is where an ankle is furthest ahead of the pelvis (Zeni et al. 2008).
    """
    yaw = heading_rad(motion, smooth_s=0.4)
    joints = motion.joints_m()
    strikes: list[int] = []
    for ankle in (LEFT_ANKLE, RIGHT_ANKLE):
        flat = joints[:, ankle][:, [0, 2]] - motion.root_m[:, [0, 2]]
        ahead = np.einsum("tji,tj->ti", yaw_matrix_2d(yaw), flat)[:, 1]
        ahead = gaussian_filter1d(ahead, 0.03 * motion.rate_hz, mode="nearest")
        peaks, _ = find_peaks(ahead, distance=max(1, round(0.3 * motion.rate_hz)), prominence=0.10)
        strikes.extend(peaks.tolist())
    strikes.sort()
    if len(strikes) < 3:
        return None
    first, last = strikes[0], strikes[-1]
    time_s = (last - first) / motion.rate_hz
    if time_s <= 0.0:
        return None
    ground = gaussian_filter1d(
        motion.root_m[:, [0, 2]], 0.2 * motion.rate_hz, axis=0, mode="nearest"
    )
    length = float(np.linalg.norm(np.diff(ground[first : last + 1], axis=0), axis=1).sum())
    standing = contacts(motion)[first : last + 1]
    steps = len(strikes) - 1
    return GaitFigures(
        steps=len(strikes),
        cadence_hz=steps / time_s,
        step_length_m=length / steps,
        double_support=float(standing.all(axis=1).mean()),
        flight=float((~standing.any(axis=1)).mean()),
        speed_mps=length / time_s,
    )
