"""CARLA's four walker rigs: bone names, parents, rest pose, and capsules for rays and contacts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import transforms_from_rotators
from jaywalk.motion.kinematics import mesh_pose

RIG_NAMES: Final = ("man", "woman", "girl", "boy")  # the index is the actor table's `model`


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A skeleton at rest, close to a T-pose. All arrays are read-only and in bone order.

    Attributes:
        name: One of ``RIG_NAMES``.
        index: Position in ``RIG_NAMES``.
        bones: Names in the order of CARLA's ``get_bones``.
        parents: (bones,) index of the parent, -1 for ``crl_root``.
        rest_local: (bones, 7) rest transform relative to the parent, ``x y z qw qx qy qz``.
        rest_mesh: (bones, 7) the same in mesh space (x left, y forward, z up, soles at z = 0).
        bone_index: Name to index.
        leg_length_m: Thigh plus shank.
        height_m: Standing height, estimated from the head bone and the eyes.
    """

    name: str
    index: int
    bones: tuple[str, ...]
    parents: IntArray
    rest_local: FloatArray
    rest_mesh: FloatArray
    bone_index: Mapping[str, int]
    leg_length_m: float
    height_m: float


@cache
def load_rig(name: str) -> Rig:
    """Return one of the rigs ``man``, ``woman``, ``girl``, ``boy``."""
    if name not in RIG_NAMES:
        raise UsageError(f"unknown walker rig {name!r}; expected one of {', '.join(RIG_NAMES)}")
    data = _read_data()
    bones = tuple(str(bone) for bone, _ in data["bones"])
    parents = np.array([parent for _, parent in data["bones"]], dtype=np.int64)
    rows = np.array(data["rigs"][name], dtype=np.float64)
    if rows.shape != (len(bones), 6):
        raise DataError(f"carla_rigs.json: rig {name!r} has shape {rows.shape}, not (bones, 6)")
    rest_local = transforms_from_rotators(rows)
    rest_mesh = mesh_pose(rest_local, parents)
    for array in (parents, rest_local, rest_mesh):
        array.flags.writeable = False
    index = {bone: i for i, bone in enumerate(bones)}
    leg = float(
        np.linalg.norm(rest_local[index["crl_leg__L"], :3])
        + np.linalg.norm(rest_local[index["crl_foot__L"], :3])
    )
    return Rig(
        name=name,
        index=RIG_NAMES.index(name),
        bones=bones,
        parents=parents,
        rest_local=rest_local,
        rest_mesh=rest_mesh,
        bone_index=index,
        leg_length_m=leg,
        # eyes sit half-way up the head, whose crown is about as far above them as the head bone
        height_m=float(2.0 * rest_mesh[index["crl_eye__R"], 2] - rest_mesh[index["crl_Head__C"], 2])
        + 0.02,
    )


def rig_for_walker(attributes: Mapping[str, str]) -> Rig:
    """Choose the rig of a walker blueprint from its ``gender`` and ``age`` attributes.

    Anything but ``age`` = ``child`` counts as grown up; anything but ``female`` as male.
    """
    female = attributes.get("gender", "male") == "female"
    if attributes.get("age", "adult") == "child":
        return load_rig("girl" if female else "boy")
    return load_rig("woman" if female else "man")


@cache
def _read_data() -> dict[str, Any]:
    text = files("jaywalk.motion").joinpath("data/carla_rigs.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


ADULT_HEIGHT_M: Final = 1.80  # the stature the radii are given for
#: Names of the capsules, in the order of the rows.
LIMBS: Final = (
    "head",
    "trunk",
    "shoulders",
    "pelvis",
    "upper_arm_l",
    "forearm_l",
    "upper_arm_r",
    "forearm_r",
    "thigh_l",
    "shank_l",
    "foot_l",
    "thigh_r",
    "shank_r",
    "foot_r",
)
# Bone at either end and the radius (m) of an adult; the hand belongs to the forearm's capsule,
# which ends at the middle knuckle. The head's second end is extrapolated from the neck.
_ENDS: Final[IntArray] = np.array(
    [
        (29, 28),
        (1, 28),
        (5, 33),
        (61, 56),
        (5, 6),
        (6, 16),
        (33, 34),
        (34, 44),
        (61, 62),
        (62, 63),
        (63, 65),
        (56, 57),
        (57, 58),
        (58, 60),
    ],
    dtype=np.int64,
)
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
