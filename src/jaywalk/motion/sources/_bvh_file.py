"""Reader of BVH files: skeleton and channels, without conversion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import open_file, read_bytes
from jaywalk.motion.sources._joint_motion import JointMotion

_LARGEST_BYTES: Final = 400_000_000
_MAX_JOINTS: Final = 1000
_MAX_HEADER_BYTES: Final = 1_000_000
_SPACE: Final = "\ue000"  # stands for a space inside a name while the text is split into words
_NAME: Final = re.compile(r"^([ \t]*(?:ROOT|JOINT)[ \t]+)([^\n{]*)", re.MULTILINE)
_MOTION: Final = re.compile(r"^[ \t]*MOTION[ \t]*$", re.MULTILINE)
_HEADER: Final = re.compile(r"\s*Frames\s*:\s*(\S+)\s*Frame\s*Time\s*:\s*(\S+)", re.IGNORECASE)


@dataclass(slots=True)
class _Joint:
    name: str
    parent: int
    offset: list[float]
    channels: list[str]
    end: list[float] | None = None


def read_bvh(path: Path) -> JointMotion:
    """Read a BVH file.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    data = read_bytes(path, "a motion (.bvh), split if it is long", _LARGEST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # names of joints in an old code page
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    mark = _MOTION.search(text)
    if mark is None:
        raise DataError(f"{path}: has no MOTION section; is the file cut short?")
    joints = _read_hierarchy(path, text[: mark.start()])
    tail = text[mark.end() :]
    values, frame_time_s = _read_values(path, tail, [j for j in joints for _ in j.channels])
    return _motion(path, joints, values, frame_time_s)


def read_skeleton(path: Path) -> tuple[str, ...]:
    """Read the names of the joints of a BVH file alone.

    Raises:
        DataError: The hierarchy is broken.
    """
    with open_file(path, "a motion (.bvh)", _LARGEST_BYTES) as file:
        data = file.read(_MAX_HEADER_BYTES)
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    mark = _MOTION.search(text)
    if mark is None:
        raise DataError(f"{path}: has no MOTION section; is the file cut short?")
    return tuple(joint.name for joint in _read_hierarchy(path, text[: mark.start()]))


def _read_hierarchy(path: Path, head: str) -> list[_Joint]:
    head = _NAME.sub(lambda m: m[1] + re.sub(r"[ \t]+", _SPACE, m[2].strip()) + " ", head)
    joints: list[_Joint] = []
    stack: list[int] = []  # -1 stands for an end site
    coming = -2
    words = iter(head.split())
    try:
        for word in words:
            if word in ("ROOT", "JOINT"):
                parent = stack[-1] if stack else -1
                name = next(words).replace(_SPACE, " ")
                joints.append(_Joint(name, parent, [0.0, 0.0, 0.0], []))
                coming = len(joints) - 1
            elif word == "End":
                coming = -1
            elif word == "{":
                stack.append(coming)
            elif word == "}":
                stack.pop()
            elif word == "OFFSET":
                offset = _finite([float(next(words)) for _ in range(3)])
                if stack[-1] >= 0:
                    joints[stack[-1]].offset = offset
                elif len(stack) > 1:
                    joints[stack[-2]].end = offset
            elif word == "CHANNELS":
                count = int(next(words))
                channels = [next(words) for _ in range(count)]
                if stack[-1] < 0:
                    raise DataError(f"{path}: an End Site has CHANNELS; expected a JOINT")
                joints[stack[-1]].channels = channels
    except (StopIteration, IndexError, ValueError) as problem:
        cause = str(problem) or "it ends early"
        raise DataError(f"{path}: the hierarchy is broken ({cause})") from problem
    if len(joints) > _MAX_JOINTS:
        raise DataError(f"{path}: has {len(joints)} joints; expected at most {_MAX_JOINTS}")
    if not joints or stack:
        raise DataError(f"{path}: the hierarchy is empty or not closed")
    _check_names(path, joints)
    return joints


def _finite(offset: list[float]) -> list[float]:
    if not np.isfinite(offset).all():
        raise ValueError(f"OFFSET {offset} is not finite")
    return offset


def _check_names(path: Path, joints: list[_Joint]) -> None:
    names = [joint.name for joint in joints]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{path}: two joints are named '{twice[0]}'; names must be unique")
    roots = [joint.name for joint in joints if joint.parent < 0]
    if len(roots) > 1:
        raise DataError(
            f"{path}: has {len(roots)} skeletons ({', '.join(roots)}); expected one person a file"
        )


def _read_values(path: Path, tail: str, owners: list[_Joint]) -> tuple[FloatArray, float]:
    header, width = _HEADER.match(tail), len(owners)
    try:
        if header is None:
            raise ValueError("no 'Frames:' and 'Frame Time:'")
        count, frame_time_s = int(header[1]), float(header[2])
        values = np.array(tail[header.end() :].split(), dtype=np.float64)
    except ValueError as problem:
        raise DataError(f"{path}: the motion section is broken ({problem})") from problem
    if count < 1:
        raise DataError(f"{path}: has no frames (Frames: {count}); export the motion too")
    if width < 1 or len(values) != count * width:
        raise DataError(
            f"{path}: {count} frames of {width} channels promised, {len(values)} numbers found; "
            "is the file cut short?"
        )
    if not np.isfinite(values).all():
        frame, column = divmod(int(np.flatnonzero(~np.isfinite(values))[0]), width)
        raise DataError(
            f"{path}: holds values that are not finite, first in frame {frame + 1}, joint "
            f"'{owners[column].name}'; export the motion without gaps"
        )
    return values.reshape(count, width), frame_time_s


def _motion(
    path: Path, joints: list[_Joint], values: FloatArray, frame_time_s: float
) -> JointMotion:
    rotations = np.zeros((len(values), len(joints), 4))
    rotations[..., 0] = 1.0
    offsets = np.array([j.offset for j in joints])
    root = np.zeros((len(values), 3)) + offsets[0]
    moved: dict[int, FloatArray] = {}
    column, rotates = 0, False
    for i, joint in enumerate(joints):
        order, angles = "", []
        for channel in joint.channels:
            axis, kind = channel[:1].upper(), channel[1:].lower()
            if axis not in ("X", "Y", "Z") or kind not in ("rotation", "position"):
                raise DataError(f"{path}: unknown channel {channel!r} of {joint.name}")
            if kind == "rotation":
                order += axis
                angles.append(values[:, column])
            elif i == 0:
                root[:, "XYZ".index(axis)] = values[:, column]
            else:
                moved.setdefault(i, np.zeros((len(values), 3)) + offsets[i])
                moved[i][:, "XYZ".index(axis)] = values[:, column]
            column += 1
        if order:
            rotates = True
            rotations[:, i] = _quaternions(path, joint, order, np.stack(angles, axis=1))
    return JointMotion(
        names=tuple(j.name for j in joints),
        parents=np.array([j.parent for j in joints], dtype=np.int64),
        offsets=offsets,
        rotations=rotations,
        root=root,
        frame_time_s=frame_time_s,
        shifts=_shifts(offsets, moved, len(values)),
        ends=tuple(
            (i, (j.end[0], j.end[1], j.end[2])) for i, j in enumerate(joints) if j.end is not None
        ),
        rotates=rotates,
    )


def _quaternions(path: Path, joint: _Joint, order: str, angles: FloatArray) -> FloatArray:
    if len(set(order)) < len(order):
        raise DataError(f"{path}: {joint.name} turns twice about one axis: {order}")
    # capitals: each turn is about axes the earlier ones have already moved
    turn = Rotation.from_euler(order, angles, degrees=True)
    return np.asarray(turn.as_quat()[:, [3, 0, 1, 2]])


def _shifts(offsets: FloatArray, moved: dict[int, FloatArray], frames: int) -> FloatArray | None:
    """Positions of the joints in their parents' axes; None if no joint but the root moves.

    Position channels replace the offset. Some programs write displacements from it instead: then
    the values are near zero although the bone has a length.
    """
    if not moved:
        return None
    shifts = np.repeat(offsets[None], frames, axis=0)
    for joint, places in moved.items():
        length = float(np.linalg.norm(offsets[joint]))
        given = float(np.median(np.linalg.norm(places, axis=1)))
        shifts[:, joint] = places + (offsets[joint] if given < 0.1 * length else 0.0)
    return shifts
