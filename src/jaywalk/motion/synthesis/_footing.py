"""Feet of a generated motion: held where they stand, lifted clear in between, legs following."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import conjugate, multiply, rotate, slerp
from jaywalk.motion._legs import lead_legs, lowering_m
from jaywalk.motion.foot_lock import runs_of
from jaywalk.motion.heading import yaw_quaternion
from jaywalk.motion.smpl import (
    BALL_HEIGHT_M,
    BODY_OFFSETS_M,
    LEG_LENGTH_M,
    PARENTS,
    global_rotations,
    joint_positions,
)

_HIPS: Final = [1, 2]
_KNEES: Final = [4, 5]
_ANKLES: Final = [7, 8]
_BALLS: Final = [10, 11]
_FLEXION: Final = np.array([1.0, 0.0, 0.0])
_FORWARD: Final = np.array([0.0, 0.0, 1.0])
_SHORTEST: Final = 4  # frames of the shortest contact
_LARGEST_YAW_RAD: Final = 0.6
_CLEARANCE_M: Final = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Footed:
    """A motion with its feet on the ground.

    Attributes:
        rotations: (frames, 22, 4) joint rotations.
        root_m: (frames, 3) pelvis.
        corrected_m: Greatest horizontal displacement of a standing ball.
        lowered_m: Greatest lowering of the pelvis.
    """

    rotations: FloatArray
    root_m: FloatArray
    corrected_m: float
    lowered_m: float


def place_feet(
    rotations: FloatArray,
    root_m: FloatArray,
    feet_root_m: FloatArray,
    contact: FloatArray,
    flatten: FloatArray,
    rate_hz: float,
) -> Footed:
    """Lock standing feet and solve the legs.

    Args:
        rotations: (frames, 22, 4) joints, pelvis in the world.
        root_m: (frames, 3) pelvis with everything that moves it.
        feet_root_m: (frames, 3) pelvis without sway and crouch: what the feet go by.
        contact: (frames, 2) how much each foot stands.
        flatten: (frames,) how far feet are put flat on the ground, 0 to 1.
        rate_hz: Frames per second.
    """
    turned = global_rotations(np.ascontiguousarray(rotations), PARENTS)
    by_feet = joint_positions(turned, np.ascontiguousarray(feet_root_m), BODY_OFFSETS_M, PARENTS)
    balls = by_feet[:, _BALLS]
    foot = _flattened(turned[:, _ANKLES], flatten)
    target = np.empty_like(balls)
    corrected = 0.0
    for side in range(2):
        runs = _contacts(contact[:, side] > 0.5)
        target[:, side] = _ball_path(balls[:, side], runs)
        foot[:, side] = multiply(_held_yaw(foot[:, side], runs), foot[:, side])
        for first, end in runs:
            gap = target[first:end, side] - balls[first:end, side]
            corrected = max(corrected, float(np.linalg.norm(gap[:, [0, 2]], axis=1).max()))
    return _with_legs(rotations, turned, root_m, target, foot, corrected, rate_hz)


def _contacts(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    return [(first, end) for first, end in runs_of(flags) if end - first >= _SHORTEST]


def _gaps(runs: list[tuple[int, int]], frames: int) -> list[tuple[int, int, bool, bool]]:
    """Swings between contacts: first, end, and whether a contact lies before and after."""
    edges = [(0, 0), *runs, (frames, frames)]
    return [
        (before[1], after[0], before[1] > 0, after[0] < frames)
        for before, after in pairwise(edges)
        if after[0] > before[1]
    ]


def _ball_path(ball: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """(frames, 3) where the ball goes: still while it stands, clear of the ground in between."""
    frames = len(ball)
    offset = np.zeros_like(ball)
    lift = np.zeros(frames)
    for first, end in runs:
        offset[first:end] = ball[first:end].mean(axis=0) - ball[first:end]
        offset[first:end, 1] = BALL_HEIGHT_M - ball[first:end, 1]
    for first, end, before, after in _gaps(runs, frames):
        share = (np.arange(end - first) + 1.0) / (end - first + 1.0)
        old = offset[first - 1] if before else (offset[end] if after else np.zeros(3))
        new = offset[end] if after else old
        weight = (share * share * (3.0 - 2.0 * share))[:, None]
        offset[first:end] = (1.0 - weight) * old + weight * new
        leave, arrive = (
            np.clip(1.0 - share / 0.4, 0.0, 1.0),
            np.clip(1.0 - (1.0 - share) / 0.4, 0, 1),
        )
        up = old[1] * leave**2 * before + new[1] * arrive**2 * after
        offset[first:end, 1] = up
        # at the ends of a clip a swing is cut: it is somewhere in its middle there
        along = share if before and after else (0.5 + 0.5 * share if after else 0.5 * share)
        lift[first:end] = _CLEARANCE_M * np.sin(np.pi * along) ** 0.6
    offset = gaussian_filter1d(offset, 1.0, axis=0, mode="nearest")
    out = ball + offset
    for first, end in runs:  # smoothing must not move a foot that stands
        inner = slice(first + 2, end - 2)
        if end - first > 6:
            out[inner, [[0], [2]]] = ball[first:end, [0, 2]].mean(axis=0)[:, None]
    out[:, 1] = np.maximum(out[:, 1], BALL_HEIGHT_M + lift)
    return np.asarray(out)


def _flattened(foot: FloatArray, flatten: FloatArray) -> FloatArray:
    """(frames, 2, 4) feet turned towards flat on the ground by a weight per frame."""
    flat = yaw_quaternion(_yaw(foot))
    return slerp(foot, flat, np.repeat(flatten[:, None], 2, axis=1))


def _yaw(foot: FloatArray) -> FloatArray:
    toes = rotate(foot, _FORWARD)
    return np.asarray(np.unwrap(np.arctan2(toes[..., 0], toes[..., 2]), axis=0))


def _held_yaw(foot: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """(frames, 4) turns about the vertical that keep a standing foot from twisting."""
    yaw = _yaw(foot)
    offset = np.zeros(len(yaw))
    for first, end in runs:
        gap = np.median(yaw[first:end]) - yaw[first:end]
        offset[first:end] = np.clip(gap, -_LARGEST_YAW_RAD, _LARGEST_YAW_RAD)
    for first, end, before, after in _gaps(runs, len(yaw)):
        share = (np.arange(end - first) + 1.0) / (end - first + 1.0)
        weight = share * share * (3.0 - 2.0 * share)
        old = offset[first - 1] if before else (offset[end] if after else 0.0)
        new = offset[end] if after else old
        offset[first:end] = (1.0 - weight) * old + weight * new
    return yaw_quaternion(gaussian_filter1d(offset, 1.0, mode="nearest"))


def _with_legs(
    rotations: FloatArray,
    turned: FloatArray,
    root_m: FloatArray,
    balls: FloatArray,
    foot: FloatArray,
    corrected_m: float,
    rate_hz: float,
) -> Footed:
    joints = joint_positions(turned, np.ascontiguousarray(root_m), BODY_OFFSETS_M, PARENTS)
    ankles = balls - rotate(foot, BODY_OFFSETS_M[_BALLS])
    wanted = ankles - joints[:, _HIPS]
    drop = lowering_m(wanted, np.full(2, LEG_LENGTH_M), 1, rate_hz)
    wanted[..., 1] += drop[:, None]
    thighs = np.ascontiguousarray(turned[:, _HIPS])
    shanks = np.ascontiguousarray(turned[:, _KNEES])
    lead_legs(thighs, shanks, BODY_OFFSETS_M[_KNEES], BODY_OFFSETS_M[_ANKLES], _FLEXION, wanted)
    out = rotations.copy()
    out[:, _HIPS] = multiply(conjugate(turned[:, :1]), thighs)
    out[:, _KNEES] = multiply(conjugate(thighs), shanks)
    out[:, _ANKLES] = multiply(conjugate(shanks), foot)
    root = root_m.copy()
    root[:, 1] -= drop
    return Footed(rotations=out, root_m=root, corrected_m=corrected_m, lowered_m=float(drop.max()))
