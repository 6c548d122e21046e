"""Gait checks: cadence, step length, double support, against the figures of human walking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from jaywalk.motion.clip import Motion
from jaywalk.motion.floor import contacts
from jaywalk.motion.heading import heading_rad, yaw_matrix_2d
from jaywalk.motion.smpl import LEFT_ANKLE, RIGHT_ANKLE


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


def path_speed_mps(motion: Motion) -> float:
    """Length of the pelvis path over the ground per second, sway smoothed away."""
    ground = motion.root_m[:, [0, 2]]
    smooth = gaussian_filter1d(ground, 0.2 * motion.rate_hz, axis=0, mode="nearest")
    length = np.linalg.norm(np.diff(smooth, axis=0), axis=1).sum()
    return float(length / motion.duration_s)


def gait_figures(motion: Motion) -> GaitFigures | None:
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
