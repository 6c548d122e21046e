"""Poses as turns from the rest pose in mesh space, for compiled kernels.

Turns in mesh space (x left, y forward, z up) do not depend on the irregular axes of the rig's
bones: a turn about +x moves a hanging limb forward, a turn about +y leans to the left, and a turn
about +z moves the left side forward.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import (
    Quat,
    Vec3,
    quat_conjugate,
    quat_multiply,
    quat_normalise,
    quat_rotate,
)
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig

# Indices in the bone order of carla_rigs.json, as constants for the compiler.
ROOT, HIPS, SPINE, CHEST, NECK, HEAD = 0, 1, 2, 3, 28, 29
ARM_L, FOREARM_L, HAND_L = 5, 6, 7
ARM_R, FOREARM_R, HAND_R = 33, 34, 35
THIGH_R, SHANK_R, FOOT_R, TOE_R = 56, 57, 58, 59
THIGH_L, SHANK_L, FOOT_L, TOE_L = 61, 62, 63, 64


class RigTables(NamedTuple):
    """All rigs stacked for compiled kernels; the first axis is the rig index."""

    parents: IntArray  # (bones,)
    rest_local: FloatArray  # (rigs, bones, 7)
    rest_mesh: FloatArray  # (rigs, bones, 7)
    leg_length_m: FloatArray  # (rigs,)
    height_m: FloatArray  # (rigs,)


@cache
def rig_tables() -> RigTables:
    """Stack the four rigs in the order of ``RIG_NAMES``."""
    rigs = [load_rig(name) for name in RIG_NAMES]
    return RigTables(
        rigs[0].parents.copy(),
        np.stack([rig.rest_local for rig in rigs]),
        np.stack([rig.rest_mesh for rig in rigs]),
        np.array([rig.leg_length_m for rig in rigs]),
        np.array([rig.height_m for rig in rigs]),
    )


@kernel
def copy_pose(source: FloatArray, out: FloatArray) -> None:
    """Copy one pose over another."""
    # plain loops compile a second faster than an array assignment
    for bone in range(source.shape[0]):
        for column in range(7):
            out[bone, column] = source[bone, column]


@kernel
def trait(style: float, number: float) -> float:
    """Personal trait of a walker, in -1..1, from its style number."""
    value = style * (12.9898 + 7.233 * number) + 0.731 * number
    return 2.0 * (value - math.floor(value)) - 1.0


@kernel
def rest_quat(rest: FloatArray, bone: int) -> Quat:
    """Orientation of a bone at rest."""
    return (rest[bone, 3], rest[bone, 4], rest[bone, 5], rest[bone, 6])


@kernel
def rest_offset(rest: FloatArray, bone: int, parent: int) -> Vec3:
    """Vector from one bone to another at rest."""
    return (
        rest[bone, 0] - rest[parent, 0],
        rest[bone, 1] - rest[parent, 1],
        rest[bone, 2] - rest[parent, 2],
    )


@kernel
def set_turn(
    local: FloatArray, rest: FloatArray, parents: IntArray, bone: int, turn: Quat, above: Quat
) -> None:
    """Write the parent-relative rotation that turns a bone by ``turn`` from rest, in mesh space.

    ``above`` is the turn of its parent.
    """
    relative = quat_multiply(quat_conjugate(above), turn)
    q = quat_multiply(
        quat_conjugate(rest_quat(rest, parents[bone])),
        quat_multiply(relative, rest_quat(rest, bone)),
    )
    q = quat_normalise(q)
    local[bone, 3], local[bone, 4], local[bone, 5], local[bone, 6] = q[0], q[1], q[2], q[3]


@kernel
def set_hips(local: FloatArray, rest: FloatArray, position: Vec3) -> None:
    """Put the hips at a position in mesh space."""
    delta = (
        position[0] - rest[ROOT, 0],
        position[1] - rest[ROOT, 1],
        position[2] - rest[ROOT, 2],
    )
    v = quat_rotate(quat_conjugate(rest_quat(rest, ROOT)), delta)
    local[HIPS, 0], local[HIPS, 1], local[HIPS, 2] = v[0], v[1], v[2]
