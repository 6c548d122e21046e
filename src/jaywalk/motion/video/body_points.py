"""Points of a moving SMPL body and how they follow from its joints' turns.

Unknowns of a frame: the pelvis' place (3) and, for each joint that a landmark says something about,
a small turn after its rotation (3). One size of the body is common to all frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.motion.quaternions import from_rotvec, multiply, normalise, rotate, to_matrix
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    JOINT_COUNT,
    LEFT_BALL,
    PARENTS,
    RIGHT_BALL,
    global_rotations,
    joint_positions,
)
from jaywalk.motion.video.landmarks import MARK_JOINTS, MARK_OFFSETS_M, MARKS

#: Joints whose rotation is solved for; the others keep their parent's.
ACTIVE: Final = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 18, 19)
UNKNOWNS: Final = 3 + 3 * len(ACTIVE)
# After the landmarks: pelvis, neck, and the balls of the feet, which stand on the ground.
_FURTHER: Final = ((0, 0), (12, 12), (LEFT_BALL, LEFT_BALL), (RIGHT_BALL, RIGHT_BALL))
_POINT_JOINTS: Final = np.concatenate([MARK_JOINTS, [joint for joint, _ in _FURTHER]])
_POINT_OFFSETS: Final = np.concatenate([MARK_OFFSETS_M, np.zeros((len(_FURTHER), 3))])
MARK_POINTS: Final = len(MARKS)
POINTS: Final = len(_POINT_JOINTS)
PELVIS_POINT: Final = MARK_POINTS
BALL_POINTS: Final = (MARK_POINTS + 2, MARK_POINTS + 3)


def _chain(joint: int) -> set[int]:
    found = set()
    while joint >= 0:
        found.add(joint)
        joint = int(PARENTS[joint])
    return found


#: (active joints, points) whether a point moves with a joint.
_MOVES: Final[NDArray[np.bool_]] = np.array(
    [[active in _chain(int(joint)) for joint in _POINT_JOINTS] for active in ACTIVE]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body over time: (frames, 22, 4) local rotations, (frames, 3) pelvis, size."""

    rotations: FloatArray
    root_m: FloatArray
    scale: float

    def moved(self, step: FloatArray, scale_step: float) -> Body:
        """The body after a step (frames, UNKNOWNS) of the unknowns."""
        rotations = self.rotations.copy()
        turns = from_rotvec(step[:, 3:].reshape(len(step), -1, 3))
        rotations[:, ACTIVE] = normalise(multiply(rotations[:, ACTIVE], turns))
        return Body(
            rotations=rotations,
            root_m=self.root_m + step[:, :3],
            scale=self.scale + scale_step,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Points of a body with their derivatives.

    Attributes:
        points_m: (frames, POINTS, 3) landmarks' places, then pelvis, neck, balls.
        slopes: (frames, POINTS, 3, UNKNOWNS) by the unknowns.
        growth: (frames, POINTS, 3) by the size.
    """

    points_m: FloatArray
    slopes: FloatArray
    growth: FloatArray


def place(body: Body, *, slopes: bool = True) -> Placed:
    """Places of all points; without ``slopes`` the derivatives are left empty."""
    turned = global_rotations(np.ascontiguousarray(body.rotations), PARENTS)
    offsets = body.scale * BODY_OFFSETS_M
    joints = joint_positions(turned, np.ascontiguousarray(body.root_m), offsets, PARENTS)
    local = rotate(turned[:, _POINT_JOINTS], body.scale * _POINT_OFFSETS)
    points = joints[:, _POINT_JOINTS] + local
    frames = len(points)
    if not slopes:
        return Placed(
            points_m=points, slopes=np.empty((0, POINTS, 3, UNKNOWNS)), growth=np.empty((0,))
        )
    out = np.zeros((frames, POINTS, 3, UNKNOWNS))
    out[..., 0, 0] = out[..., 1, 1] = out[..., 2, 2] = 1.0
    matrices = to_matrix(turned)
    for place_in, joint in enumerate(ACTIVE):
        with_it = np.flatnonzero(_MOVES[place_in])
        arm = points[:, with_it] - joints[:, [joint]]
        column = 3 + 3 * place_in
        axes = matrices[:, None, joint]  # columns: the joint's axes in the world
        for axis in range(3):
            out[..., column + axis][:, with_it] = np.cross(axes[..., axis], arm)
    return Placed(
        points_m=points,
        slopes=out,
        growth=(points - body.root_m[:, None]) / body.scale,
    )


def full_rotations(rotations: FloatArray) -> FloatArray:
    """Rotations with those of joints that are not solved for set to none."""
    out = rotations.copy()
    rest = [joint for joint in range(JOINT_COUNT) if joint not in ACTIVE]
    out[:, rest] = np.array([1.0, 0.0, 0.0, 0.0])
    return out
