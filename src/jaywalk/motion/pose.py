"""Poses of a walker: replacing bones, blending, and what ``get_bones`` answers.

A pose is a (bones, 7) array of parent-relative transforms ``x y z qw qx qy qz`` in the rig's bone
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numba import njit

from jaywalk.core.errors import UsageError
from jaywalk.motion.carla_rigs import Rig
from jaywalk.motion.kinematics import bone_report
from jaywalk.motion.rotation import FloatArray, quat_from_rotator, quat_slerp

#: A wire transform: [[x, y, z] in metres, [pitch, yaw, roll] in degrees].
WireTransform: TypeAlias = Sequence[Sequence[float]]


@njit(cache=True)
def blend_into(a: FloatArray, b: FloatArray, weight: float, out: FloatArray) -> None:
    """Blend two poses bone by bone into ``out`` (which may be ``a``)."""
    for bone in range(a.shape[0]):
        for axis in range(3):
            out[bone, axis] = (1.0 - weight) * a[bone, axis] + weight * b[bone, axis]
        q = quat_slerp(
            (a[bone, 3], a[bone, 4], a[bone, 5], a[bone, 6]),
            (b[bone, 3], b[bone, 4], b[bone, 5], b[bone, 6]),
            weight,
        )
        out[bone, 3], out[bone, 4], out[bone, 5], out[bone, 6] = q[0], q[1], q[2], q[3]


def blend(pose_a: FloatArray, pose_b: FloatArray, weight: float) -> FloatArray:
    """Blend two poses: locations linearly, rotations by slerp; 0 gives ``a``, 1 gives ``b``."""
    out = np.empty_like(pose_a)
    blend_into(pose_a, pose_b, min(max(weight, 0.0), 1.0), out)
    return out


def with_bones(
    rig: Rig, pose: FloatArray, bones: Iterable[tuple[str, WireTransform] | Sequence[Any]]
) -> FloatArray:
    """Return a copy of ``pose`` with the named bones replaced.

    Transforms are absolute and relative to the parent bone, as in CARLA's ``set_bones``; names the
    rig does not have are ignored, as CARLA does.

    Raises:
        UsageError: A number is not finite.
    """
    out: FloatArray = np.array(pose, dtype=np.float64)
    for name, (location, rotation) in bones:
        bone = rig.bone_index.get(name)
        if bone is None:
            continue
        row = (*location, *quat_from_rotator(*(float(angle) for angle in rotation)))
        if not np.isfinite(row).all():
            raise UsageError(
                f"bone {name!r} was given {[*location, *rotation]}; expected six finite numbers"
            )
        out[bone] = row
    return out


def bones_out(rig: Rig, pose: FloatArray, actor_pose: FloatArray, drop_m: float) -> list[list[Any]]:
    """Answer of ``get_bones``: per bone ``[name, world, component, relative]``.

    Args:
        rig: The walker's rig.
        pose: (bones, 7) displayed pose.
        actor_pose: ``x y z pitch yaw roll`` of the actor, metres and radians.
        drop_m: Height of the actor's origin above its soles (its half height).

    Returns:
        Plain lists ready for the wire; each transform is ``[[x, y, z], [pitch, yaw, roll]]``.
    """
    report = bone_report(pose, rig.parents, actor_pose, drop_m)
    return [[name, *spaces] for name, spaces in zip(rig.bones, report.tolist(), strict=True)]


class PoseOverride:
    """A walker's custom pose beside its animation, with CARLA's rules for the two.

    The snapshot starts as the animation frame shown when it is first written; bones not named keep
    what the snapshot held; one weight blends the whole body.
    """

    __slots__ = ("snapshot", "weight")

    def __init__(self) -> None:
        self.snapshot: FloatArray | None = None
        self.weight = 0.0

    def set_bones(self, rig: Rig, animated: FloatArray, bones: Iterable[Sequence[Any]]) -> None:
        """Overwrite the named bones of the snapshot."""
        base = animated if self.snapshot is None else self.snapshot
        self.snapshot = with_bones(rig, base, bones)

    def capture(self, animated: FloatArray) -> None:
        """Copy the current animation frame into the snapshot (``get_pose_from_animation``)."""
        self.snapshot = np.array(animated, dtype=np.float64)

    def shown(self, animated: FloatArray) -> FloatArray:
        """Return the pose to display."""
        if self.snapshot is None or self.weight <= 0.0:
            return animated
        if self.weight >= 1.0:
            return self.snapshot
        return blend(animated, self.snapshot, self.weight)
