"""Reader of BVH files: skeleton and channels, without conversion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text
from jaywalk.motion.smpl import global_rotations, joint_positions

_LARGEST_BYTES = 400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bvh:
    """Content of a BVH file, in the units of the file.

    Attributes:
        names: Joints, parents before children; end sites left out.
        parents: (joints,) index of the parent, -1 for the root.
        offsets: (joints, 3) joint minus parent.
        rotations: (frames, joints, 4) parent-relative quaternions.
        root: (frames, 3) position of the root.
        frame_time_s: Frame time from the header.
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: FloatArray
    rotations: FloatArray
    root: FloatArray
    frame_time_s: float

    def turned(self) -> FloatArray:
        """(frames, joints, 4) global rotations."""
        out: FloatArray = global_rotations(self.rotations, self.parents)
        return out

    def positions(self, turned: FloatArray) -> FloatArray:
        """(frames, joints, 3) global positions."""
        out: FloatArray = joint_positions(turned, self.root, self.offsets, self.parents)
        return out


@dataclass(slots=True)
class _Joint:
    name: str
    parent: int
    offset: list[float]
    channels: list[str]


def read_bvh(path: Path) -> Bvh:
    """Read a BVH file.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    text = read_text(path, "a motion (.bvh), split if it is long", _LARGEST_BYTES, "ascii")
    head, mark, tail = text.partition("MOTION")
    if not mark:
        raise DataError(f"{path}: has no MOTION section; is the file cut short?")
    joints = _read_hierarchy(path, head)
    values, frame_time_s = _read_values(path, tail, sum(len(j.channels) for j in joints))
    rotations, root = _poses(path, joints, values)
    return Bvh(
        names=tuple(j.name for j in joints),
        parents=np.array([j.parent for j in joints], dtype=np.int64),
        offsets=np.array([j.offset for j in joints]),
        rotations=rotations,
        root=root,
        frame_time_s=frame_time_s,
    )


def _read_hierarchy(path: Path, head: str) -> list[_Joint]:
    joints: list[_Joint] = []
    stack: list[int] = []  # -1 stands for an end site
    coming = -2
    words = iter(head.split())
    try:
        for word in words:
            if word in ("ROOT", "JOINT"):
                parent = stack[-1] if stack else -1
                joints.append(_Joint(next(words), parent, [0.0, 0.0, 0.0], []))
                coming = len(joints) - 1
            elif word == "End":
                next(words)
                coming = -1
            elif word == "{":
                stack.append(coming)
            elif word == "}":
                stack.pop()
            elif word == "OFFSET":
                offset = [float(next(words)) for _ in range(3)]
                if stack[-1] >= 0:
                    joints[stack[-1]].offset = offset
            elif word == "CHANNELS":
                count = int(next(words))
                joints[stack[-1]].channels = [next(words) for _ in range(count)]
    except (StopIteration, IndexError, ValueError) as problem:
        raise DataError(f"{path}: the hierarchy is broken ({problem!r})") from problem
    if not joints or stack:
        raise DataError(f"{path}: the hierarchy is empty or not closed")
    return joints


def _read_values(path: Path, tail: str, width: int) -> tuple[FloatArray, float]:
    lines = tail.lstrip().split("\n", 2)
    try:
        count = int(lines[0].split(":")[1])
        frame_time_s = float(lines[1].split(":")[1])
        values = np.array(lines[2].split(), dtype=np.float64)
    except (IndexError, ValueError) as problem:
        raise DataError(f"{path}: the motion section is broken ({problem})") from problem
    if count < 1 or width < 1 or len(values) != count * width:
        raise DataError(
            f"{path}: {count} frames of {width} channels promised, {len(values)} numbers found; "
            "is the file cut short?"
        )
    if not np.isfinite(values).all():
        raise DataError(f"{path}: holds values that are not finite")
    return values.reshape(count, width), frame_time_s


def _poses(path: Path, joints: list[_Joint], values: FloatArray) -> tuple[FloatArray, FloatArray]:
    rotations = np.zeros((len(values), len(joints), 4))
    rotations[..., 0] = 1.0
    root = np.zeros((len(values), 3)) + np.array(joints[0].offset)
    column = 0
    for i, joint in enumerate(joints):
        order, angles = "", []
        for channel in joint.channels:
            axis = channel[:1].upper()
            if axis not in ("X", "Y", "Z"):
                raise DataError(f"{path}: unknown channel {channel!r} of {joint.name}")
            if channel[1:] == "rotation":
                order += axis
                angles.append(values[:, column])
            elif i == 0:
                root[:, "XYZ".index(axis)] = values[:, column]
            column += 1
        if order:
            # capitals: each turn is about axes the earlier ones have already moved
            turn = Rotation.from_euler(order, np.stack(angles, axis=1), degrees=True)
            rotations[:, i] = turn.as_quat()[:, [3, 0, 1, 2]]
    return rotations, root
