"""Reader of CMU motion capture in its BVH conversion, retargeted to the SMPL skeleton.

Three facts are not in the files: frame 0 is an added T-pose, one unit is 5.6444 cm, and some
subjects were captured at 60 Hz although every header says 120 Hz. A list of clips names the frames
to read from each sequence, with caption and class.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import csv_lines
from jaywalk.geometry.rotation import conjugate, multiply, normalise, rotate, shortest_arc
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import move_balls
from jaywalk.motion.smpl import BODY_OFFSETS_M, LEG_LENGTH_M, PARENTS
from jaywalk.motion.sources._bvh_file import read_bvh
from jaywalk.motion.sources._joint_motion import JointMotion

_COLUMNS = ("sequence", "humanml3d_id", "habit_class", "start_frame_20hz", "end_frame_20hz")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRow:
    """Row of a clip list; frames are counted at 20 Hz; the end is exclusive, -1: to the last."""

    sequence: str
    name: str
    label: str
    start_20hz: int
    end_20hz: int
    caption: str

    @property
    def mirrored(self) -> bool:
        """True for a mirror image, which HumanML3D marks with an M before the number."""
        return self.name.startswith("M")


def read_clip_list(path: Path) -> list[ClipRow]:
    """Read a CSV file with the columns of ``habit_clips.csv``.

    Raises:
        DataError: The file is broken; the message names the file, the line and the error.
    """
    try:
        with csv_lines(path, "a list of clips (.csv)", "utf-8") as file:
            reader = csv.DictReader(file)
            missing = [c for c in _COLUMNS if c not in (reader.fieldnames or ())]
            if missing:
                raise DataError(f"{path}: lacks the columns {', '.join(missing)}")
            return [_row(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path}: cannot be read as a list of clips ({problem})") from problem


def _row(path: Path, line: int, row: dict[str, str]) -> ClipRow:
    try:
        return ClipRow(
            sequence=row["sequence"],
            name=row["humanml3d_id"],
            label=row["habit_class"],
            start_20hz=int(row["start_frame_20hz"]),
            end_20hz=int(row["end_frame_20hz"]),
            caption=row.get("caption") or "",
        )
    except (TypeError, ValueError) as problem:
        raise DataError(f"{path}: line {line} has no frame numbers ({problem})") from problem


UNIT_M: Final = 0.056444
#: Forward bias of CMU's hip joints against those of standing people, for a body of scale 1.
#: Without the correction the ankles are 9.7 cm behind the hips and all people lean.
HIP_BIAS_M: Final = 0.05
LICENCE: Final = (
    "CMU Graphics Lab Motion Capture Database (mocap.cs.cmu.edu), free for research and commercial "
    "use; created with funding from NSF EIA-0196217"
)
#: Subjects captured at 60 Hz; the others at 120 Hz.
SLOW_SUBJECTS: Final = frozenset(
    (60, 61, 62, 74, 75, 76, 77, 79, 80, 82, 84, 88, 89, 90, 93, 103, 106, 107, 115, 139, 141, 143)
)
#: Joint of the file for each SMPL joint.
JOINT_MAP: Final = (
    "Hips",
    "LeftUpLeg",
    "RightUpLeg",
    "LowerBack",
    "LeftLeg",
    "RightLeg",
    "Spine",
    "LeftFoot",
    "RightFoot",
    "Spine1",
    "LeftToeBase",
    "RightToeBase",
    "Neck",
    "LeftShoulder",
    "RightShoulder",
    "Head",
    "LeftArm",
    "RightArm",
    "LeftForeArm",
    "RightForeArm",
    "LeftHand",
    "RightHand",
)
# Bones whose direction in the added T-pose differs from SMPL's rest: joint and its child. Feet are
# left out, since "flat" is the identity in both.
_REALIGNED: Final = ((1, 4), (2, 5), (4, 7), (5, 8), (16, 18), (17, 19), (18, 20), (19, 21))


def true_rate_hz(sequence: str) -> float:
    """Frames per second at which a sequence such as ``35_01`` was captured."""
    subject = sequence.partition("_")[0]
    if not subject.isdigit():
        raise DataError(f"{sequence!r} is no CMU sequence; expected SUBJECT_TRIAL such as 35_01")
    return 60.0 if int(subject) in SLOW_SUBJECTS else 120.0


def read_cmu(
    path: Path, *, name: str = "", start_20hz: int = 0, end_20hz: int = -1, caption: str = ""
) -> Clip:
    """Read one sequence, or frames ``[start, end)`` of it counted at 20 Hz.

    Args:
        path: ``SUBJECT_TRIAL.bvh``.
        name: Name of the clip; the file's stem if empty.
        start_20hz: First frame, at 20 Hz after the T-pose is dropped.
        end_20hz: One past the last frame; -1 for the end.
        caption: Description of the person's action.

    Returns:
        The motion at 20 Hz, on a body scaled to the person's legs, as captured: neither on the
        floor nor facing a fixed direction.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    return clip_of(
        read_bvh(path),
        path,
        name=name or path.stem,
        start_20hz=start_20hz,
        end_20hz=end_20hz,
        caption=caption,
    )


def clip_of(
    bvh: JointMotion,
    path: Path,
    *,
    name: str,
    start_20hz: int = 0,
    end_20hz: int = -1,
    caption: str = "",
) -> Clip:
    """Return frames ``[start, end)`` at 20 Hz of a parsed file; see :func:`read_cmu`."""
    step = round(true_rate_hz(path.stem) / 20.0)
    last = 1 + (len(bvh.root) - 2) // step  # frames at 20 Hz once the T-pose is dropped
    end = last if end_20hz < 0 else min(end_20hz, last)
    if not 0 <= start_20hz < end - 1:
        raise DataError(f"{path}: frames {start_20hz} to {end_20hz} asked for, it has {last}")
    frames = 1 + step * np.arange(start_20hz, end)
    return to_smpl(bvh, path, frames=frames, name=name, caption=caption)


def to_smpl(
    bvh: JointMotion,
    path: Path,
    *,
    frames: IntArray,
    name: str,
    caption: str = "",
    rate_hz: float = 20.0,
) -> Clip:
    """Convert chosen frames of a CMU file, at ``rate_hz``; frame 0 of the file is the T-pose."""
    missing = [joint for joint in JOINT_MAP if joint not in bvh.names]
    if missing:
        raise DataError(f"{path}: lacks the joints {', '.join(missing)} of the CMU skeleton")
    places = np.array([bvh.names.index(joint) for joint in JOINT_MAP])
    chosen = np.concatenate([[0], frames])
    cut = bvh.cut(chosen)
    turned = cut.turned()[:, places]
    joints = cut.positions(cut.turned())[:, places] * UNIT_M
    since_rest = multiply(turned[1:], conjugate(turned[:1]))
    for joint, child in _REALIGNED:
        arc = shortest_arc(BODY_OFFSETS_M[child], joints[0, child] - joints[0, joint])
        since_rest[:, joint] = multiply(since_rest[:, joint], arc)
    leg_m = _leg_length_m(bvh)
    if not 0.3 < leg_m < 1.5:
        raise DataError(f"{path}: legs of {leg_m:.2f} m; is this a CMU file in its own units?")
    scale = leg_m / LEG_LENGTH_M
    middle = joints[1:, 1:3].mean(axis=1)
    root = middle - rotate(since_rest[:, 0], scale * BODY_OFFSETS_M[1:3].mean(axis=0))
    motion = Clip(
        name=name,
        rotations=_local(since_rest),
        root_m=root,
        rate_hz=rate_hz,
        body_scale=scale,
        caption=caption,
        source=f"cmu/{path.name}[{frames[0]}:{frames[-1] + 1}]",
        licence=LICENCE,
    )
    return _hips_back(motion)


def _hips_back(motion: Clip) -> Clip:
    """Undo the forward bias of CMU's hip joints without moving the feet."""
    back = rotate(motion.rotations[:, 0], np.array([0.0, 0.0, -HIP_BIAS_M * motion.body_scale]))
    moved = motion.with_poses(motion.rotations, motion.root_m + back)
    feet = np.repeat(-back[:, None], 2, axis=1)
    return move_balls(moved, moved.joints_m(), feet)


def _local(turned: FloatArray) -> FloatArray:
    out = turned.copy()
    out[:, 1:] = multiply(conjugate(turned[:, PARENTS[1:]]), turned[:, 1:])
    return normalise(out)


def _leg_length_m(bvh: JointMotion) -> float:
    bones = [
        bvh.names.index(f"{side}{part}") for side in ("Left", "Right") for part in ("Leg", "Foot")
    ]
    return float(np.linalg.norm(bvh.offsets[bones], axis=1).sum()) / 2.0 * UNIT_M
