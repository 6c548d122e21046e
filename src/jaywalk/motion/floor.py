"""The ground under a motion: where it lies, and when a foot stands on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.motion.clip import Motion
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import BALL_HEIGHT_M, LEFT_BALL, RIGHT_BALL

#: A foot stands when its ball is lower than this over a standing ball and slower than `max_speed`.
CONTACT_HEIGHT_M: Final = 0.033
CONTACT_SPEED_MPS: Final = 0.5
_SLOW_MPS: Final = 0.35
_FLOOR_PERCENTILE: Final = 25.0

BoolArray = NDArray[np.bool_]


def horizontal_speed_mps(points_m: FloatArray, rate_hz: float, up: int) -> FloatArray:
    """(frames, ...) speed over ground of points (frames, ..., 3), central differences."""
    flat = np.delete(points_m, up, axis=-1)
    return np.asarray(np.linalg.norm(np.gradient(flat, axis=0), axis=-1) * rate_hz)


def balls_m(motion: Motion) -> FloatArray:
    """(frames, 2, 3) balls of the left and the right foot."""
    return np.asarray(motion.joints_m()[:, [LEFT_BALL, RIGHT_BALL]])


def floor_height_m(balls: FloatArray, rate_hz: float, standing_ball_m: float) -> float:
    """Height of the ground: low among the places where the lower ball is nearly still.

    The lowest point of a clip would sink everybody by the noise of one frame, and the first frame
    lifts whoever begins in a crouch or a jump.
    """
    low = balls[..., 1].min(axis=1)
    foot = balls[..., 1].argmin(axis=1)
    speed = horizontal_speed_mps(balls, rate_hz, 1)[np.arange(len(low)), foot]
    still = low[speed < _SLOW_MPS]
    if len(still) < 5:
        return float(np.percentile(low, 10.0)) - standing_ball_m
    return float(np.percentile(still, _FLOOR_PERCENTILE)) - standing_ball_m


def on_floor(motion: Motion) -> Motion:
    """Move the motion vertically so that the ground is at y = 0."""
    standing = motion.body_scale * BALL_HEIGHT_M
    height = floor_height_m(balls_m(motion), motion.rate_hz, standing)
    return replace(motion, root_m=motion.root_m - np.array([0.0, height, 0.0]))


def contacts(motion: Motion) -> BoolArray:
    """(frames, 2) whether the ball of each foot stands: low, and slow beside the pelvis."""
    balls = balls_m(motion)
    speed = horizontal_speed_mps(balls, motion.rate_hz, 1)
    pelvis = horizontal_speed_mps(motion.root_m, motion.rate_hz, 1)
    limit = np.maximum(CONTACT_SPEED_MPS, 0.35 * pelvis)[:, None]
    height = balls[..., 1] - motion.body_scale * BALL_HEIGHT_M
    return np.asarray((height < CONTACT_HEIGHT_M) & (speed < limit))


def runs_of(flags: BoolArray) -> list[tuple[int, int]]:
    """Beginnings and ends (exclusive) of the stretches in which a flag is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
