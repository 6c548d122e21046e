"""The bank of actions: captured movements as few numbers, and clips made of them.

An action is a cosine series (to 5 Hz) of its poses on principal axes, and of its path. Real
movements are stored in compressed form here, so one-off actions keep what a model of cycles and
postures cannot make; each clip changes tempo, size, posture and side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.fft import dct

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import conjugate, multiply
from jaywalk.motion.heading import yaw_quaternion
from jaywalk.motion.synthesis._actions import Action, ActionKind
from jaywalk.motion.synthesis._cycles import ball_contacts, pelvis_yaw_rad
from jaywalk.motion.synthesis._pose_channels import to_angles, to_rotations
from jaywalk.motion.synthesis._stand_model import mirrored_posture
from jaywalk.motion.synthesis._standing import cosine_curve

POSE_DIMS: Final = 36
_CONTACT: Final = 0.1  # contacts need few steps of the path
_HIGHEST_HZ: Final = 5.0
#: Steps in which poses (rad) and paths (m, rad) are stored.
POSE_STEP: Final = 0.015
PATH_STEP: Final = 0.002
_FEWEST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionBank:
    """Actions in the order in which they were found.

    Attributes:
        kinds: Kind of each.
        seconds: (n,) durations.
        terms: (n,) number of cosine terms of each.
        pose_axes: (dims, 66) principal axes of poses.
        poses: (all terms, dims) cosine series of all actions, one after the other.
        paths: (all terms, 6) of their paths, in the frame of the first pose: left, up and forward
            of the pelvis (m), heading (rad), contact of the feet in tenths.
    """

    kinds: tuple[ActionKind, ...]
    seconds: FloatArray
    terms: IntArray
    pose_axes: FloatArray
    poses: FloatArray
    paths: FloatArray

    def of_kind(self, kind: ActionKind) -> list[int]:
        """Numbers of the actions of a kind."""
        return [number for number, one in enumerate(self.kinds) if one is kind]

    def frames(self, number: int, count: int) -> tuple[FloatArray, FloatArray]:
        """(count, 66) angles, the pelvis in its heading, and (count, 6) path of an action."""
        end = int(self.terms[: number + 1].sum())
        own = slice(end - int(self.terms[number]), end)
        return (
            cosine_curve(self.poses[own], count) @ self.pose_axes,
            cosine_curve(self.paths[own], count),
        )


def fit_actions(actions: Sequence[Action], means: FloatArray) -> ActionBank:
    """Compress actions.

    Raises:
        DataError: There are too few.
    """
    if len(actions) < _FEWEST:
        raise DataError(
            f"{len(actions)} actions were found in the captures; at least {_FEWEST} are needed. "
            "Train on captures of people who wait, stop, start and step back, and name their "
            "descriptions."
        )
    cut = [_channels(action, means) for action in actions]
    poses = np.concatenate([angles for angles, _ in cut])
    square = poses.T @ poses
    twins = mirrored_posture(poses)
    values, vectors = np.linalg.eigh(square + twins.T @ twins)
    axes = vectors[:, np.argsort(-values, kind="stable")[:POSE_DIMS]].T
    seconds = np.array([(action.end - action.first) / action.motion.rate_hz for action in actions])
    terms = np.array([max(4, round(2.0 * _HIGHEST_HZ * value)) for value in seconds], np.int64)
    series = [
        (_terms(angles @ axes.T, count), _terms(path, count))
        for (angles, path), count in zip(cut, terms.tolist(), strict=True)
    ]
    return ActionBank(
        kinds=tuple(action.kind for action in actions),
        seconds=seconds,
        terms=terms,
        pose_axes=np.asarray(axes),
        poses=np.concatenate([poses for poses, _ in series]),
        paths=np.concatenate([path for _, path in series]),
    )


def _channels(action: Action, means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(frames, 66) angles with the pelvis in its heading, and (frames, 6) path."""
    cut = slice(action.first, action.end)
    rotations = action.motion.rotations[cut].copy()
    yaw = pelvis_yaw_rad(action.motion)[cut]
    rotations[:, 0] = multiply(conjugate(yaw_quaternion(yaw)), rotations[:, 0])
    root = action.motion.root_m[cut]
    cos, sin = np.cos(yaw[0]), np.sin(yaw[0])
    away = root[:, [0, 2]] - root[0, [0, 2]]
    path = np.stack(
        [
            cos * away[:, 0] - sin * away[:, 1],
            root[:, 1],
            sin * away[:, 0] + cos * away[:, 1],
            yaw - yaw[0],
            *(_CONTACT * ball_contacts(action.motion, action.motion.joints_m())[cut].T),
        ],
        axis=1,
    )
    return to_angles(rotations, means), path


def _terms(curve: FloatArray, count: int) -> FloatArray:
    terms = dct(curve, type=2, axis=0, norm="forward")[:count]
    return np.asarray(terms * np.where(np.arange(len(terms)) > 0, 2.0, 1.0)[:, None])


def decoded(
    angles: FloatArray, path: FloatArray, means: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(frames, 22, 4) rotations, (frames, 3) root and (frames, 2) contacts of angles and a path."""
    rotations = to_rotations(angles, means)
    rotations[:, 0] = multiply(yaw_quaternion(path[:, 3]), rotations[:, 0])
    return rotations, np.ascontiguousarray(path[:, :3]), path[:, 4:] / _CONTACT
