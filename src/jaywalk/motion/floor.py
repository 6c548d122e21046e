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
_LARGEST_TILT: Final = 0.045  # metres per metre

BoolArray = NDArray[np.bool_]


def horizontal_speed_mps(points_m: FloatArray, rate_hz: float, up: int) -> FloatArray:
    """(frames, ...) speed over ground of points (frames, ..., 3), central differences."""
    flat = np.delete(points_m, up, axis=-1)
    return np.asarray(np.linalg.norm(np.gradient(flat, axis=0), axis=-1) * rate_hz)


def balls_m(motion: Motion) -> FloatArray:
    """(frames, 2, 3) balls of the left and the right foot."""
    return np.asarray(motion.joints_m()[:, [LEFT_BALL, RIGHT_BALL]])


def _standing_points(balls: FloatArray, rate_hz: float) -> FloatArray:
    """(points, 3) places of the lower ball while it is nearly still."""
    foot = balls[..., 1].argmin(axis=1)
    frames = np.arange(len(balls))
    speed = horizontal_speed_mps(balls, rate_hz, 1)[frames, foot]
    return np.asarray(balls[frames, foot][speed < _SLOW_MPS])


def floor_height_m(balls: FloatArray, rate_hz: float, standing_ball_m: float) -> float:
    """Height of the ground: low among the places where the lower ball is nearly still.

    The lowest point of a clip would sink everybody by the noise of one frame, and the first frame
    lifts whoever begins in a crouch or a jump.
    """
    points = _standing_points(balls, rate_hz)
    if len(points) < 5:
        return float(np.percentile(balls[..., 1].min(axis=1), 10.0)) - standing_ball_m
    return float(np.percentile(points[:, 1], _FLOOR_PERCENTILE)) - standing_ball_m


def floor_tilt(balls: FloatArray, rate_hz: float) -> FloatArray:
    """(2,) rise of the ground per metre along x and z; zero unless footfalls show it clearly.

    Some captures have a floor that is off by a degree: over five metres a walker then climbs
    10 cm. Stairs and ramps are steeper than ``_LARGEST_TILT`` and stay as they are.
    """
    points = _standing_points(balls, rate_hz)
    level = np.zeros(2)
    if len(points) < 10 or np.ptp(points[:, [0, 2]], axis=0).max() < 1.0:
        return level
    centred = points - points.mean(axis=0)
    # a small ridge: footfalls on one line say nothing of the tilt across it
    ground = centred[:, [0, 2]]
    normal = ground.T @ ground + 0.05 * len(points) * np.eye(2)
    slope = np.linalg.solve(normal, ground.T @ centred[:, 1])
    left = float((centred[:, 1] - ground @ slope).std())
    if np.linalg.norm(slope) > _LARGEST_TILT or left > 0.6 * float(centred[:, 1].std()):
        return level
    return np.asarray(slope)


def on_floor(motion: Motion) -> Motion:
    """Move the motion vertically so that the ground is at y = 0, undoing a slight tilt of it."""
    slope = floor_tilt(balls_m(motion), motion.rate_hz)
    if slope.any():
        rise = motion.root_m[:, [0, 2]] @ slope
        root = motion.root_m - np.stack([np.zeros_like(rise), rise, np.zeros_like(rise)], axis=1)
        motion = replace(motion, root_m=root)
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
