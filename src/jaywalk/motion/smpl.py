"""The SMPL skeleton: joints, parents, rest offsets, and forward kinematics.

Right-handed, metres: at rest a T-pose that faces +z, +y up, +x to the person's left.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import quat_multiply, quat_rotate

#: The 22 joints that SMPL, SMPL-H and SMPL-X share.
JOINTS: Final = (
    "pelvis",
    "left_hip",
    "right_hip",
    "spine1",
    "left_knee",
    "right_knee",
    "spine2",
    "left_ankle",
    "right_ankle",
    "spine3",
    "left_foot",
    "right_foot",
    "neck",
    "left_collar",
    "right_collar",
    "head",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
)
JOINT_COUNT: Final = len(JOINTS)
PARENTS: Final[IntArray] = np.array(
    [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19], dtype=np.int64
)
#: Index of each joint's twin on the other side.
MIRRORED: Final[IntArray] = np.array(
    [0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15, 17, 16, 19, 18, 21, 20], dtype=np.int64
)
#: Where the pelvis joint lies when the translation is zero (mean shape).
PELVIS_REST_M: Final[FloatArray] = np.array([-0.00179506, -0.22333345, 0.02821913])

#: Joint minus parent at rest, mean shape; the pelvis row is zero.
OFFSETS_M: Final[FloatArray] = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.06951974, -0.09140623, -0.00681534],
        [-0.06767048, -0.09052168, -0.00431982],
        [-0.00253286, 0.10896323, -0.02669631],
        [0.03427655, -0.37519860, -0.00449580],
        [-0.03829005, -0.38256901, -0.00885003],
        [0.00548703, 0.13518043, 0.00109247],
        [-0.01359570, -0.39796036, -0.04369333],
        [0.01577377, -0.39841465, -0.04231180],
        [0.00145700, 0.05292223, 0.02542457],
        [0.02635814, -0.05579088, 0.11928840],
        [-0.02537175, -0.04814396, 0.12334795],
        [-0.00277839, 0.21387036, -0.04285703],
        [0.07884474, 0.12174930, -0.03408961],
        [-0.08175919, 0.11883283, -0.03861529],
        [0.00515184, 0.06496961, 0.05134897],
        [0.09097693, 0.03046890, -0.00886815],
        [-0.09601238, 0.03255117, -0.00914307],
        [0.25961225, -0.01277206, -0.02745644],
        [-0.25374196, -0.01332922, -0.02140098],
        [0.24923363, 0.00898603, -0.00117092],
        [-0.25529808, 0.00777229, -0.00555919],
    ]
)


def symmetric_offsets_m() -> FloatArray:
    """Rest offsets averaged with their mirror image, so that mirrored motions are exact."""
    mirrored = OFFSETS_M[MIRRORED] * np.array([-1.0, 1.0, 1.0])
    return np.asarray(0.5 * (OFFSETS_M + mirrored))


#: Body of all motions, to be multiplied by their ``body_scale``.
BODY_OFFSETS_M: Final[FloatArray] = symmetric_offsets_m()
LEG_LENGTH_M: Final = float(np.linalg.norm(BODY_OFFSETS_M[4]) + np.linalg.norm(BODY_OFFSETS_M[7]))
#: Height of the ball joint ("foot") over the sole, of a standing person of scale 1.
BALL_HEIGHT_M: Final = 0.017

PELVIS, LEFT_HIP, RIGHT_HIP, SPINE1, SPINE2, SPINE3 = 0, 1, 2, 3, 6, 9
LEFT_KNEE, RIGHT_KNEE, LEFT_ANKLE, RIGHT_ANKLE, LEFT_BALL, RIGHT_BALL = 4, 5, 7, 8, 10, 11
LEFT_SHOULDER, RIGHT_SHOULDER, LEFT_WRIST, RIGHT_WRIST = 16, 17, 20, 21


@kernel
def global_rotations(local: FloatArray, parents: IntArray) -> FloatArray:
    """(frames, joints, 4) parent-relative quaternions to global ones."""
    out = np.empty_like(local)
    for t in range(local.shape[0]):
        for j in range(local.shape[1]):
            q = (local[t, j, 0], local[t, j, 1], local[t, j, 2], local[t, j, 3])
            p = parents[j]
            if p >= 0:
                q = quat_multiply((out[t, p, 0], out[t, p, 1], out[t, p, 2], out[t, p, 3]), q)
            out[t, j, 0], out[t, j, 1], out[t, j, 2], out[t, j, 3] = q[0], q[1], q[2], q[3]
    return out


@kernel
def joint_positions(
    turned: FloatArray, root: FloatArray, offsets: FloatArray, parents: IntArray
) -> FloatArray:
    """(frames, joints, 3) positions from global rotations and the root's path."""
    frames, joints = turned.shape[0], turned.shape[1]
    out = np.empty((frames, joints, 3))
    for t in range(frames):
        for axis in range(3):
            out[t, 0, axis] = root[t, axis]
        for j in range(1, joints):
            p = parents[j]
            v = quat_rotate(
                (turned[t, p, 0], turned[t, p, 1], turned[t, p, 2], turned[t, p, 3]),
                (offsets[j, 0], offsets[j, 1], offsets[j, 2]),
            )
            for axis in range(3):
                out[t, j, axis] = out[t, p, axis] + v[axis]
    return out
