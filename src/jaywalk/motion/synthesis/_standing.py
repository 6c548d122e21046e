"""Standing people in captures: how they hold themselves, sway, and move their hands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.fft import dct
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import conjugate, multiply, rotate
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import horizontal_speed_mps, runs_of
from jaywalk.motion.heading import yaw_quaternion
from jaywalk.motion.smpl import LEFT_BALL, LEG_LENGTH_M, RIGHT_BALL
from jaywalk.motion.synthesis._capture import legs_m, raised
from jaywalk.motion.synthesis._cycles import pelvis_yaw_rad
from jaywalk.motion.synthesis._pose_channels import to_angles, to_rotations

_SHORTEST_S: Final = 0.6
_LONGEST_S: Final = 3.6
_LOW_M: Final = 0.05
_STILL_MPS: Final = 0.15
_UP: Final = np.array([0.0, 1.0, 0.0])
_LEFT: Final = np.array([1.0, 0.0, 0.0])
#: Terms of the cosine series of a gesture.
GESTURE_TERMS: Final = 16
_QUIET_RAD: Final = 0.05
_STRETCH: Final = 0.994
_MAX_RAISED: Final = 1.06


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A stretch of standing, at most 3.6 s.

    Attributes:
        sequence: Where it was cut from.
        posture: (67,) mean angles and pelvis height.
        neutral: Whether it is plain standing.
        movement: (frames, 66) angles less their mean, low-passed to 3 Hz.
        seconds: Duration.
    """

    sequence: str
    posture: FloatArray
    neutral: bool
    movement: FloatArray
    seconds: float

    @property
    def quiet(self) -> bool:
        """Whether hardly anything moves."""
        return float(np.sqrt((self.movement**2).mean())) < _QUIET_RAD


def find_standing(motion: Clip, means: FloatArray) -> list[Standing]:
    """Stretches of a capture in which both feet stay where they are."""
    joints = motion.joints_m()
    balls = joints[:, [LEFT_BALL, RIGHT_BALL]]
    still = (horizontal_speed_mps(balls, motion.rate_hz, 1) < _STILL_MPS).all(axis=1)
    still &= (balls[..., 1] < _LOW_M).all(axis=1)
    yaw = gaussian_filter1d(pelvis_yaw_rad(motion), 0.25 * motion.rate_hz, mode="nearest")
    poses: list[Standing] = []
    for first, end in runs_of(np.asarray(still)):
        longest = round(_LONGEST_S * motion.rate_hz)
        pieces = max(1, round((end - first) / longest))
        marks = np.linspace(first, end, pieces + 1).astype(int).tolist()
        poses.extend(
            _stretch(motion, joints, yaw, means, start, stop)
            for start, stop in pairwise(marks)
            if stop - start >= _SHORTEST_S * motion.rate_hz
        )
    return poses


def _stretch(
    motion: Clip, joints: FloatArray, yaw: FloatArray, means: FloatArray, first: int, end: int
) -> Standing:
    rotations = motion.rotations[first:end].copy()
    facing = yaw_quaternion(np.array(np.median(yaw[first:end])))
    rotations[:, 0] = multiply(conjugate(facing), rotations[:, 0])
    angles = to_angles(rotations, means)
    posture = straightened(np.append(angles.mean(0), motion.root_m[first:end, 1].mean()), means)
    smooth = gaussian_filter1d(angles, motion.rate_hz / (2.0 * np.pi * 3.0), axis=0, mode="nearest")
    return Standing(
        sequence=motion.name,
        posture=posture,
        neutral=_is_neutral(motion.turned()[first:end], joints[first:end], facing),
        movement=smooth - smooth.mean(axis=0),
        seconds=(end - first) / motion.rate_hz,
    )


def straightened(posture: FloatArray, means: FloatArray) -> FloatArray:
    """A posture (67,) with the legs of a person at ease: captures stand with bent knees.

    The pelvis rises until the longer leg is nearly stretched; the feet stay.
    """
    rotations = np.repeat(to_rotations(posture[None, :-1], means), 2, axis=0)
    root = np.tile([0.0, posture[-1], 0.0], (2, 1))
    pose = Clip(name="posture", rotations=rotations, root_m=root, rate_hz=60.0)
    factor = float(np.clip(_STRETCH * LEG_LENGTH_M / legs_m(pose)[0].max(), 1.0, _MAX_RAISED))
    pose = raised(pose, factor)
    return np.append(to_angles(pose.rotations[0], means), pose.root_m[0, 1])


def _is_neutral(turned: FloatArray, joints: FloatArray, facing: FloatArray) -> bool:
    """Upright, arms down, feet side by side, knees nearly straight, shoulders over the hips."""
    mean = joints.mean(axis=0)
    trunk = rotate(turned[:, 9], _UP)[:, 1].mean()
    wrists = (mean[[16, 17], 1] - mean[[20, 21], 1]).min()
    apart = rotate(conjugate(facing), mean[7] - mean[8])
    thigh, shank = mean[[4, 5]] - mean[[1, 2]], mean[[7, 8]] - mean[[4, 5]]
    cosine = (thigh * shank).sum(axis=1) / np.linalg.norm(thigh, axis=1)
    knees = np.rad2deg(np.arccos(np.clip(cosine / np.linalg.norm(shank, axis=1), -1.0, 1.0)))
    line = rotate(conjugate(facing), rotate(turned[:, 9], _LEFT).mean(axis=0))
    twist = abs(np.rad2deg(np.arctan2(-line[2], line[0])))
    return bool(
        trunk > np.cos(np.deg2rad(14.0))
        and wrists > 0.33
        and abs(apart[2]) < 0.20
        and 0.08 < apart[0] < 0.42
        and knees.max() < 40.0
        and twist < 12.0
    )


def cosine_terms(movement: FloatArray) -> FloatArray:
    """(16, n) cosine series over the whole stretch of a movement (frames, n)."""
    terms = dct(movement, type=2, axis=0, norm="forward")[:GESTURE_TERMS]
    return np.asarray(terms * np.where(np.arange(len(terms)) > 0, 2.0, 1.0)[:, None])


def cosine_curve(terms: FloatArray, frames: int) -> FloatArray:
    """(frames, n) values of a cosine series; inverse of :func:`cosine_terms`."""
    place = (np.arange(frames) + 0.5) / frames
    waves = np.cos(np.pi * place[:, None] * np.arange(len(terms)))
    return np.asarray(waves @ terms)


def all_standing(motions: Iterable[Clip], means: FloatArray) -> list[Standing]:
    """Standing stretches of many captures."""
    return [stretch for motion in motions for stretch in find_standing(motion, means)]
