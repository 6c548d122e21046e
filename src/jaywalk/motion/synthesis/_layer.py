"""Additions to the gait: looks, phones, gestures, weight shifts, crouches."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import from_matrix, from_rotvec, multiply
from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINT_COUNT
from jaywalk.motion.synthesis._pose_channels import to_angles

NECK, HEAD, SPINE1, SPINE2, SPINE3 = 12, 15, 3, 6, 9
_SHOULDERS: Final = (16, 17)
_ELBOWS: Final = (18, 19)
_WRISTS: Final = (20, 21)
#: Shares of a turn of the head among neck, head and spine.
LOOK_SHARES: Final = {NECK: 0.45, HEAD: 0.38, SPINE3: 0.12, SPINE2: 0.05}
#: Shares of a bend of the trunk.
BEND_SHARES: Final = {0: 0.34, SPINE1: 0.26, SPINE2: 0.22, SPINE3: 0.18}


class Layer:
    """Additions to the frames of one clip.

    Attributes:
        turns: (frames, 22, 3) rotation vectors put before each joint's own rotation.
        angles: (frames, 66) added to the angles about the joint means.
        pelvis_m: (frames, 3) displacement of the pelvis (left, up, forward); the feet stay.
        poses: Joints set to fixed angles, with a weight per frame.
    """

    def __init__(self, frames: int, means: FloatArray) -> None:
        self.turns = np.zeros((frames, JOINT_COUNT, 3))
        self.angles = np.zeros((frames, 3 * JOINT_COUNT))
        self.pelvis_m = np.zeros((frames, 3))
        self.poses: list[tuple[int, FloatArray, FloatArray]] = []
        self._means = means
        self._frames = frames

    def __len__(self) -> int:
        return self._frames

    def pose(self, joint: int, rotation: FloatArray, weight: FloatArray) -> None:
        """Set a joint to a rotation relative to its parent (4,) or (frames, 4)."""
        target = to_angles(np.atleast_2d(rotation)[:, None], self._means[joint : joint + 1])
        self.poses.append((joint, target, weight))

    def look(self, yaw_rad: FloatArray, pitch_rad: FloatArray) -> None:
        """Turn the head to the left and down."""
        for joint, share in LOOK_SHARES.items():
            self.turns[:, joint, 1] += share * yaw_rad
            self.turns[:, joint, 0] += share * pitch_rad

    def bend(self, pitch_rad: FloatArray) -> None:
        """Bend the trunk forward; the head is raised again a little, the arms hang."""
        for joint, share in BEND_SHARES.items():
            self.turns[:, joint, 0] += share * pitch_rad
        self.turns[:, NECK, 0] -= 0.25 * pitch_rad
        for shoulder in _SHOULDERS:
            self.turns[:, shoulder, 0] -= 0.7 * pitch_rad

    def reach(self, side: int, wrist_m: FloatArray, elbow: FloatArray, weight: FloatArray) -> None:
        """Bring a wrist to a place.

        Args:
            side: 0 left, 1 right.
            wrist_m: (3,) or (frames, 3) from the shoulder: outward, up, forward.
            elbow: (3,) direction in which the elbow points: outward, up, forward.
            weight: (frames,) 0 to 1.
        """
        upper, fore = arm_rotations(side, np.atleast_2d(wrist_m), elbow)
        self.pose(_SHOULDERS[side], upper, weight)
        self.pose(_ELBOWS[side], fore, weight)
        self.pose(_WRISTS[side], np.array([1.0, 0.0, 0.0, 0.0]), 0.7 * weight)

    def apply(self, angles: FloatArray) -> FloatArray:
        """(frames, 66) angles with additions and poses, before the turns."""
        out = angles + self.angles
        for joint, target, weight in self.poses:
            span = slice(3 * joint, 3 * joint + 3)
            out[:, span] += weight[:, None] * (target - out[:, span])
        return np.asarray(out)

    def turn(self, rotations: FloatArray) -> FloatArray:
        """(frames, 22, 4) rotations with the turns put before them."""
        moved = np.flatnonzero(np.abs(self.turns).max(axis=(0, 2)) > 0.0)
        out = rotations.copy()
        out[:, moved] = multiply(from_rotvec(self.turns[:, moved]), rotations[:, moved])
        return out


def arm_rotations(
    side: int, wrist_m: FloatArray, elbow: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Rotations of shoulder and elbow that put the wrist at (n, 3) places from the shoulder.

    Args:
        side: 0 left, 1 right.
        wrist_m: Outward, up, forward.
        elbow: Direction in which the elbow points, the same way.
    """
    sign = 1.0 if side == 0 else -1.0
    flip = np.array([sign, 1.0, 1.0])
    target, pole = wrist_m * flip, np.asarray(elbow) * flip
    a = float(np.linalg.norm(BODY_OFFSETS_M[18]))
    b = float(np.linalg.norm(BODY_OFFSETS_M[20]))
    distance = np.clip(np.linalg.norm(target, axis=1, keepdims=True), 0.12, 0.985 * (a + b))
    along = target / np.linalg.norm(target, axis=1, keepdims=True)
    out = pole - (along @ pole)[:, None] * along
    out = out / np.linalg.norm(out, axis=1, keepdims=True)
    cosine = np.clip((a * a + distance**2 - b * b) / (2.0 * a * distance), -1.0, 1.0)
    upper = cosine * along + np.sqrt(1.0 - cosine**2) * out
    fore = distance * along - a * upper
    fore = fore / np.linalg.norm(fore, axis=1, keepdims=True)
    hinge = np.cross(upper, fore)
    hinge = hinge / np.linalg.norm(hinge, axis=1, keepdims=True)
    frame = np.stack([upper, hinge, np.cross(upper, hinge)], axis=-1)
    # at rest the arm points outward and the elbow bends forward
    bone, axis = np.array([sign, 0.0, 0.0]), np.array([0.0, -sign, 0.0])
    rest = np.stack([bone, axis, np.cross(bone, axis)], axis=-1)
    angle = np.arccos(np.clip((upper * fore).sum(axis=1), -1.0, 1.0))
    return from_matrix(frame @ rest.T), from_rotvec(angle[:, None] * axis)
