"""Captures as the model wants them: 60 Hz, one body, upright heads and straight knees.

The CMU files bend all knees a little (their legs are some 1 % too long) and crane all necks (the
T-pose of the file tilts them). Both are habits of the files, not of people, so each subject's are
measured and taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import JaywalkError
from jaywalk.geometry.rotation import conjugate, from_rotvec, multiply, rotate
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import move_balls, on_floor
from jaywalk.motion.smpl import LEG_LENGTH_M, PARENTS
from jaywalk.motion.sources._bvh_file import read_bvh
from jaywalk.motion.sources._cmu_bvh import to_smpl, true_rate_hz

RATE_HZ: Final = 60.0
_HIPS, _ANKLES = [1, 2], [7, 8]
_SPINE3, _NECK, _HEAD = 9, 12, 15
_LEG_SHARE: Final = 0.997  # stretch of the legs of a person standing at ease
_MAX_RAISED: Final = 1.025
_FORWARD: Final = np.array([0.0, 0.0, 1.0])
_UP: Final = np.array([0.0, 1.0, 0.0])


def subject_of(sequence: str) -> str:
    """Subject of a sequence such as ``35_01``."""
    return sequence.partition("_")[0]


def read_subjects(paths: Sequence[Path]) -> Iterator[list[Clip] | tuple[Path, str]]:
    """Motions of one subject after the other, and files that could not be read with the reason."""
    by_subject: dict[str, list[Path]] = {}
    for path in sorted(paths):
        by_subject.setdefault(subject_of(path.stem), []).append(path)
    for files in by_subject.values():
        motions = []
        for path in files:
            try:
                motions.append(read_capture(path))
            except (JaywalkError, ValueError) as problem:
                yield path, str(problem)
        if motions:
            yield corrected(motions)


def read_capture(path: Path) -> Clip:
    """One sequence at 60 Hz on the floor, on the body of scale 1."""
    bvh = read_bvh(path)
    step = round(true_rate_hz(path.stem) / RATE_HZ)
    motion = to_smpl(
        bvh, path, frames=np.arange(1, len(bvh.root), step), name=path.stem, rate_hz=RATE_HZ
    )
    motion = on_floor(motion)
    return replace(motion, root_m=motion.root_m / motion.body_scale, body_scale=1.0)


def corrected(motions: Sequence[Clip]) -> list[Clip]:
    """Motions of one subject with knees and neck as a person has them."""
    factor = _raise_factor(motions)
    tilts = _head_tilts_rad(motions)
    return [_level_head(raised(motion, factor), tilts) for motion in motions]


def legs_m(motion: Clip) -> FloatArray:
    """(frames, 2) distance from hip to ankle."""
    joints = motion.joints_m()
    return np.asarray(np.linalg.norm(joints[:, _HIPS] - joints[:, _ANKLES], axis=-1))


def _raise_factor(motions: Iterable[Clip]) -> float:
    longest = np.percentile(np.concatenate([legs_m(m).max(axis=1) for m in motions]), 99.0)
    return float(np.clip(_LEG_SHARE * LEG_LENGTH_M / longest, 1.0, _MAX_RAISED))


def raised(motion: Clip, factor: float) -> Clip:
    """Stretch the legs by a factor: the pelvis rises, the feet stay."""
    joints = motion.joints_m()
    lift = (factor - 1.0) * (joints[:, _HIPS, 1].mean(axis=1) - joints[:, _ANKLES, 1].min(axis=1))
    up = np.maximum(lift, 0.0)[:, None] * _UP
    moved = motion.with_poses(motion.rotations, motion.root_m + up)
    return move_balls(moved, moved.joints_m(), np.repeat(-up[:, None], 2, axis=1))


def pitch_rad(turned: FloatArray) -> FloatArray:
    """How far rotations (..., 4) tilt a body forward."""
    forward = rotate(turned, _FORWARD)
    return np.asarray(np.arcsin(np.clip(-forward[..., 1], -1.0, 1.0)))


def _head_tilts_rad(motions: Iterable[Clip]) -> FloatArray:
    """(2,) median forward tilt of neck and head while the trunk is upright."""
    rows = []
    for motion in motions:
        turned = motion.turned()
        upright = np.abs(pitch_rad(turned[:, _SPINE3])) < np.deg2rad(20.0)
        rows.append(np.stack([pitch_rad(turned[upright, j]) for j in (_NECK, _HEAD)], axis=1))
    every = np.concatenate(rows)
    return np.median(every, axis=0) if len(every) > 60 else np.zeros(2)


def _level_head(motion: Clip, tilts_rad: FloatArray) -> Clip:
    turned = motion.turned()
    rotations = motion.rotations.copy()
    for joint, tilt in zip((_NECK, _HEAD), tilts_rad, strict=True):
        back = from_rotvec(np.array([-tilt, 0.0, 0.0]))
        turned[:, joint] = multiply(turned[:, joint], back)
    for joint in (_NECK, _HEAD):
        above = turned[:, PARENTS[joint]]
        rotations[:, joint] = multiply(conjugate(above), turned[:, joint])
    return motion.with_poses(rotations, motion.root_m)
