"""Heading of a person, and paths relative to it.

The heading is the yaw about +y: 0 faces +z, positive turns to the person's left (towards +x).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import multiply, rotate
from jaywalk.motion.clip import Clip
from jaywalk.motion.smpl import SPINE3


def yaw_quaternion(yaw_rad: FloatArray) -> FloatArray:
    """Rotation about +y."""
    half = 0.5 * np.asarray(yaw_rad, dtype=np.float64)
    zero = np.zeros_like(half)
    return np.stack([np.cos(half), zero, np.sin(half), zero], axis=-1)


def yaw_matrix_2d(yaw_rad: FloatArray) -> FloatArray:
    """Matrices (..., 2, 2) that take (x, z) of the facing frame to the world."""
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    return np.stack([np.stack([cos, sin], -1), np.stack([-sin, cos], -1)], -2)


def heading_rad(motion: Clip, *, smooth_s: float = 0.0) -> FloatArray:
    """(frames,) continuous yaw of the line across hips and shoulders; optionally low-passed."""
    turned = motion.turned()
    left = np.array([1.0, 0.0, 0.0])
    across = rotate(turned[:, 0], left) + rotate(turned[:, SPINE3], left)
    yaw = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    if smooth_s > 0.0 and len(yaw) > 1:
        yaw = gaussian_filter1d(yaw, smooth_s * motion.rate_hz, mode="nearest")
    return np.asarray(yaw)


def turn_about_vertical(motion: Clip, yaw_rad: float) -> Clip:
    """The whole motion turned about the origin."""
    turn = yaw_quaternion(np.array(yaw_rad))
    rotations = motion.rotations.copy()
    rotations[:, 0] = multiply(turn, rotations[:, 0])
    return replace(motion, rotations=rotations, root_m=rotate(turn, motion.root_m))


def to_origin(motion: Clip) -> Clip:
    """Start above the origin, facing +z."""
    turned = turn_about_vertical(motion, -float(heading_rad(motion)[0]))
    start = turned.root_m[0] * np.array([1.0, 0.0, 1.0])
    return replace(turned, root_m=turned.root_m - start)


def differentiate(path_m: FloatArray, yaw_rad: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A ground path as steps: yaw step and displacement, each to the NEXT frame.

    Args:
        path_m: (frames, 2) x and z.
        yaw_rad: (frames,) heading.

    Returns:
        (frames - 1,) yaw steps and (frames - 1, 2) steps in the facing frame of the frame they
        lead to, as HumanML3D stores them.
    """
    steps = np.diff(path_m, axis=0)
    local = np.einsum("tji,tj->ti", yaw_matrix_2d(yaw_rad[1:]), steps)
    return np.diff(yaw_rad), local


def integrate(
    yaw_steps_rad: FloatArray, steps_m: FloatArray, *, start_yaw_rad: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Inverse of :func:`differentiate`; the path starts at the origin.

    Returns:
        (frames, 2) path and (frames,) heading, one longer than the steps.
    """
    yaw = start_yaw_rad + np.concatenate([[0.0], np.cumsum(yaw_steps_rad)])
    world = np.einsum("tij,tj->ti", yaw_matrix_2d(yaw[1:]), steps_m)
    path = np.concatenate([np.zeros((1, 2)), np.cumsum(world, axis=0)])
    return path, yaw
