"""Motion of any skeleton as a file states it, before it is mapped to ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.rotation import rotate
from jaywalk.motion.smpl import global_rotations, joint_positions


@dataclass(frozen=True, slots=True, kw_only=True)
class JointMotion:
    """Joints and their rotations, in the units and axes of the file.

    Attributes:
        names: Joints, parents before children; end sites left out.
        parents: (joints,) index of the parent, -1 for the root.
        offsets: (joints, 3) joint minus parent, in the parent's axes.
        rotations: (frames, joints, 4) parent-relative quaternions.
        root: (frames, 3) position of the root.
        frame_time_s: Time between two frames, as the file states it.
        shifts: (frames, joints, 3) parent-relative positions, if other joints than the root move.
        rest: (joints, 4) parent-relative rotations of the rest pose; None: none is rotated.
        ends: Offset of the end site of each joint that has one, by the joint's index.
        rotates: False if the file has positions alone.
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: FloatArray
    rotations: FloatArray
    root: FloatArray
    frame_time_s: float
    shifts: FloatArray | None = None
    rest: FloatArray | None = None
    ends: tuple[tuple[int, tuple[float, float, float]], ...] = ()
    rotates: bool = True

    def turned(self) -> FloatArray:
        """(frames, joints, 4) global rotations."""
        out: FloatArray = global_rotations(self.rotations, self.parents)
        return out

    def positions(self, turned: FloatArray) -> FloatArray:
        """(frames, joints, 3) global positions."""
        if self.shifts is None:
            out: FloatArray = joint_positions(turned, self.root, self.offsets, self.parents)
            return out
        places = np.empty((*turned.shape[:2], 3))
        places[:, 0] = self.root
        for joint in range(1, len(self.names)):
            above = int(self.parents[joint])
            if above < 0:
                places[:, joint] = self.shifts[:, joint]
                continue
            places[:, joint] = places[:, above] + rotate(turned[:, above], self.shifts[:, joint])
        return places

    def at_rest(self) -> tuple[FloatArray, FloatArray]:
        """Global rotations (joints, 4) and positions (joints, 3) of the rest pose."""
        still = np.zeros((1, len(self.names), 4))
        still[..., 0] = 1.0
        pose = replace(
            self,
            rotations=still if self.rest is None else np.ascontiguousarray(self.rest[None]),
            root=np.zeros((1, 3)),
            shifts=None,
        )
        turned = pose.turned()
        return turned[0], pose.positions(turned)[0]

    def cut(self, frames: IntArray) -> JointMotion:
        """Return chosen frames."""
        return replace(
            self,
            rotations=np.ascontiguousarray(self.rotations[frames]),
            root=np.ascontiguousarray(self.root[frames]),
            shifts=None if self.shifts is None else self.shifts[frames],
        )

    def descends(self, joint: int, ancestor: int) -> bool:
        """Return True if a joint is below another one."""
        while joint >= 0:
            joint = int(self.parents[joint])
            if joint == ancestor:
                return True
        return False

    def chain(self, first: int, last: int) -> list[int]:
        """Return the joints below ``first`` down to ``last``; empty if ``last`` is not below it."""
        joints, joint = [], last
        while joint >= 0 and joint != first:
            joints.append(joint)
            joint = int(self.parents[joint])
        return joints[::-1] if joint == first else []
