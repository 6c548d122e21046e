"""Poses of a walker: replacement of bones and blending.

A pose is a (bones, 7) array of parent-relative transforms ``x y z qw qx qy qz`` in the rig's bone
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import quat_slerp, transforms_from_rotators
from jaywalk.motion.carla_rigs import Rig


@kernel
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


def with_bones(rig: Rig, pose: FloatArray, bones: Iterable[Sequence[Any]]) -> FloatArray:
    """Return a copy of ``pose`` with the named bones replaced.

    Entries are ``[name, [[x, y, z], [pitch, yaw, roll]]]`` in metres and degrees. They are absolute
    and relative to the parent bone, as in CARLA's ``set_bones``; names the rig does not have are
    ignored, as CARLA does.

    Raises:
        UsageError: A transform is not made of six finite numbers.
    """
    out: FloatArray = np.array(pose, dtype=np.float64)
    named = [entry for entry in bones if entry[0] in rig.bone_index]
    if not named:
        return out
    try:
        rows = np.array([[*entry[1][0], *entry[1][1]] for entry in named], dtype=np.float64)
    except (TypeError, ValueError, IndexError):
        rows = np.full((1, 6), np.nan)
    if rows.shape != (len(named), 6) or not np.isfinite(rows).all():
        raise UsageError(
            f"bones {[entry[0] for entry in named]} were given {[entry[1] for entry in named]}; "
            "expected for each [[x, y, z], [pitch, yaw, roll]] with finite numbers"
        )
    out[[rig.bone_index[entry[0]] for entry in named]] = transforms_from_rotators(rows)
    return out


class PoseOverride:
    """Custom pose of a walker over its animation, with CARLA's rules for the two.

    The snapshot starts as the animation frame that is shown when it is first written. Bones that
    are not named keep their values in the snapshot. One weight blends the whole body.
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
