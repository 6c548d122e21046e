"""A walker's body as capsules, for rays and contacts."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.core.kernels import kernel
from jaywalk.motion.carla_rigs import Rig
from jaywalk.motion.kinematics import IntArray
from jaywalk.motion.rotation import FloatArray

ADULT_HEIGHT_M: Final = 1.80  # the stature the radii are given for

#: Names of the capsules, in the order of the rows.
LIMBS: Final = (
    "head", "trunk", "shoulders", "pelvis",
    "upper_arm_l", "forearm_l", "upper_arm_r", "forearm_r",
    "thigh_l", "shank_l", "foot_l", "thigh_r", "shank_r", "foot_r",
)  # fmt: skip

# Bone at either end and the radius (m) of an adult; the hand belongs to the forearm's capsule,
# which ends at the middle knuckle. The head's second end is extrapolated from the neck.
_ENDS: Final[IntArray] = np.array(
    [
        (29, 28), (1, 28), (5, 33), (61, 56),
        (5, 6), (6, 16), (33, 34), (34, 44),
        (61, 62), (62, 63), (63, 65), (56, 57), (57, 58), (58, 60),
    ],
    dtype=np.int64,
)  # fmt: skip
_RADII_M: Final[FloatArray] = np.array(
    [0.10, 0.13, 0.09, 0.11, 0.05, 0.042, 0.05, 0.042, 0.075, 0.055, 0.04, 0.075, 0.055, 0.04]
)


@kernel
def walker_capsules(poses: FloatArray, heights_m: FloatArray) -> FloatArray:
    """Capsules of many walkers.

    Args:
        poses: (walkers, bones, 3 or more) joint positions in any space, in rig bone order.
        heights_m: (walkers,) stature, which scales the radii.

    Returns:
        (walkers, 14, 7) rows ``x0 y0 z0 x1 y1 z1 radius`` in the order of ``LIMBS``.
    """
    count = _ENDS.shape[0]
    out = np.empty((poses.shape[0], count, 7))
    for walker in range(poses.shape[0]):
        scale = heights_m[walker] / ADULT_HEIGHT_M
        for limb in range(count):
            a, b = _ENDS[limb, 0], _ENDS[limb, 1]
            for axis in range(3):
                out[walker, limb, axis] = poses[walker, a, axis]
                out[walker, limb, 3 + axis] = poses[walker, b, axis]
            out[walker, limb, 6] = _RADII_M[limb] * scale
        head = out[walker, 0]
        length = 0.0
        for axis in range(3):
            length += (head[axis] - head[3 + axis]) ** 2
        stretch = 0.08 * scale / max(math.sqrt(length), 1e-9)
        for axis in range(3):
            head[3 + axis] = head[axis] + stretch * (head[axis] - head[3 + axis])
    return out


def limb_capsules(joints: FloatArray, rig: Rig) -> FloatArray:
    """Capsules of one walker: (bones, 3 or 7) joints to (14, 7) rows, see `walker_capsules`."""
    capsules: FloatArray = walker_capsules(joints[np.newaxis], np.array([rig.height_m]))[0]
    return capsules
