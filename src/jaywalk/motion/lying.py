"""The pose of a knocked-down walker."""

from __future__ import annotations

import math

import numpy as np

from jaywalk.core.kernels import kernel
from jaywalk.motion.kinematics import IntArray, mesh_pose
from jaywalk.motion.posing import (
    ARM_L,
    ARM_R,
    HIPS,
    THIGH_L,
    THIGH_R,
    RigTables,
    copy_pose,
    set_hips,
    set_turn,
    trait,
)
from jaywalk.motion.rotation import (
    FloatArray,
    quat_about_x,
    quat_about_y,
    quat_about_z,
    quat_multiply,
)


@kernel
def rest_on_ground(local: FloatArray, rest: FloatArray, parents: IntArray, height_m: float) -> None:
    """Shift the hips so that the lowest joint lies ``height_m`` (its flesh) above the ground."""
    mesh = mesh_pose(local, parents)
    lowest = np.inf
    for bone in range(HIPS, mesh.shape[0]):
        lowest = min(lowest, mesh[bone, 2])
    z = mesh[HIPS, 2] + height_m - lowest
    set_hips(local, rest, (mesh[HIPS, 0], mesh[HIPS, 1], z))


@kernel
def lying_pose(tables: RigTables, rig: int, style: float, out: FloatArray) -> None:
    """Write the pose of a knocked-down walker, on the back or on the front by its style."""
    rest, parents = tables.rest_mesh[rig], tables.parents
    copy_pose(tables.rest_local[rig], out)
    face_up = 1.0 if trait(style, 7.0) > 0.0 else -1.0
    body = quat_multiply(
        quat_about_z(0.4 * trait(style, 8.0)), quat_about_x(face_up * 0.5 * math.pi)
    )
    none = (1.0, 0.0, 0.0, 0.0)
    set_hips(out, rest, (0.0, 0.0, 0.0))
    set_turn(out, rest, parents, HIPS, body, none)
    for side_index in range(2):
        side = 1.0 if side_index == 0 else -1.0
        thigh = THIGH_L if side_index == 0 else THIGH_R
        arm = ARM_L if side_index == 0 else ARM_R
        bend = trait(style, 10.0 + side)
        # all limbs spread in the plane of the ground
        thigh_turn = quat_multiply(body, quat_about_y(-side * (0.16 + 0.10 * bend)))
        shank_turn = quat_multiply(thigh_turn, quat_about_y(side * (0.18 + 0.16 * bend)))
        foot_turn = quat_multiply(shank_turn, quat_about_x(-0.6))
        set_turn(out, rest, parents, thigh, thigh_turn, body)
        set_turn(out, rest, parents, thigh + 1, shank_turn, thigh_turn)
        set_turn(out, rest, parents, thigh + 2, foot_turn, shank_turn)
        arm_turn = quat_multiply(body, quat_about_y(side * (0.7 + 0.4 * bend)))
        # undo the rest bend of the elbow, which would lift or bury the hand
        fore_turn = quat_multiply(arm_turn, quat_about_z(-side * 0.26))
        set_turn(out, rest, parents, arm, arm_turn, body)
        set_turn(out, rest, parents, arm + 1, fore_turn, arm_turn)
    rest_on_ground(out, rest, parents, 0.05 * tables.leg_length_m[rig])
