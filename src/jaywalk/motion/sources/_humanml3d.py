"""Reader of HumanML3D (263 features per frame, joint positions, index and texts).

The joint rotations of HumanML3D come from positions (undefined twist, arms-down rest), so they are
not SMPL rotations. A motion is rebuilt from the positions instead, by an analytic fit.

Positions determine the direction of a bone, not its twist. Trunk and pelvis are solved from several
joints at once; knees and elbows are hinges, which determines the twist of thigh and upper arm while
they are bent; all other bones take the twist of the parent.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import csv_lines, load_array, read_text
from jaywalk.geometry.rotation import (
    conjugate,
    continuous,
    from_matrix,
    matrix_from_6d,
    multiply,
    normalise,
    rotate,
    shortest_arc,
)
from jaywalk.motion.clip import Clip
from jaywalk.motion.heading import yaw_matrix_2d
from jaywalk.motion.smpl import BODY_OFFSETS_M, JOINT_COUNT, LEG_LENGTH_M, PARENTS

# Joint, child, and for the upper bone of a hinge the grandchild and the flexion axis at rest.
_CHAIN: Final = ((3, 6), (6, 9), (12, 15), (13, 16), (14, 17), (7, 10), (8, 11))
_HINGES: Final = (
    (1, 4, 7, (1.0, 0.0, 0.0)),
    (2, 5, 8, (1.0, 0.0, 0.0)),
    (16, 18, 20, (0.0, -1.0, 0.0)),
    (17, 19, 21, (0.0, 1.0, 0.0)),
)
_FREE: Final = (10, 11, 15, 20, 21)  # joints without children


def read_joints(path: Path, *, rate_hz: float = 20.0, name: str = "", caption: str = "") -> Clip:
    """Read a ``.npy`` of (frames, 22 or more, 3) positions in SMPL's axes and joint order.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    joints = load_array(path, "an array of positions (.npy)")
    if joints.ndim != 3 or joints.shape[1] < JOINT_COUNT or joints.shape[2] != 3:
        raise DataError(f"{path}: has shape {joints.shape}; expected (frames, 22, 3)")
    return fit_joints(
        np.asarray(joints[:, :JOINT_COUNT], dtype=np.float64),
        rate_hz=rate_hz,
        name=name or path.stem,
        caption=caption,
        source=f"joints/{path.name}",
    )


def fit_joints(
    joints_m: FloatArray,
    *,
    rate_hz: float,
    name: str,
    caption: str = "",
    source: str = "",
    licence: str = "",
) -> Clip:
    """Fit SMPL rotations to joint positions (frames, 22, 3), so that the bone directions agree.

    The body is scaled by the ratio of leg lengths; the pelvis is placed so that the centre of the
    hips agrees.
    """
    if not np.isfinite(joints_m).all():
        raise DataError(f"{name}: joint positions that are not finite")
    scale = _leg_m(joints_m) / LEG_LENGTH_M
    if not 0.2 < scale < 3.0:
        raise DataError(f"{name}: legs of {scale * LEG_LENGTH_M:.2f} m; are positions in metres?")
    turned = _global_turns(joints_m)
    local = turned.copy()
    local[:, 1:] = multiply(conjugate(turned[:, PARENTS[1:]]), turned[:, 1:])
    middle = joints_m[:, 1:3].mean(axis=1)
    root = middle - rotate(turned[:, 0], scale * BODY_OFFSETS_M[1:3].mean(axis=0))
    return Clip(
        name=name,
        rotations=continuous(normalise(local)),
        root_m=root,
        rate_hz=rate_hz,
        body_scale=scale,
        caption=caption,
        source=source,
        licence=licence,
    )


def _leg_m(joints: FloatArray) -> float:
    bones = [(1, 4), (2, 5), (4, 7), (5, 8)]
    lengths = [np.median(np.linalg.norm(joints[:, b] - joints[:, a], axis=1)) for a, b in bones]
    return float(sum(lengths)) / 2.0


def _global_turns(joints: FloatArray) -> FloatArray:
    turned = np.zeros((len(joints), JOINT_COUNT, 4))
    turned[:, 0] = _best_turn(joints, 0, (1, 2, 3))
    for joint, child in _CHAIN[:2]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    turned[:, 9] = _best_turn(joints, 9, (12, 13, 14))
    for joint, child in _CHAIN[2:5]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    for upper, lower, end, axis in _HINGES:
        straight = _swing(turned[:, PARENTS[upper]], joints, upper, lower)
        turned[:, upper] = _twisted(straight, joints, upper, lower, end, np.array(axis))
        turned[:, lower] = _swing(turned[:, upper], joints, lower, end)
    for joint, child in _CHAIN[5:]:
        turned[:, joint] = _swing(turned[:, PARENTS[joint]], joints, joint, child)
    for joint in _FREE:
        turned[:, joint] = turned[:, PARENTS[joint]]
    return turned


def _best_turn(joints: FloatArray, joint: int, children: tuple[int, ...]) -> FloatArray:
    """Rotation that best maps the rest directions of several bones to the observed ones."""
    rest = BODY_OFFSETS_M[list(children)]
    rest = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    seen = joints[:, list(children)] - joints[:, [joint]]
    seen = seen / np.maximum(np.linalg.norm(seen, axis=2, keepdims=True), 1e-9)
    u, _, vt = np.linalg.svd(np.einsum("tki,kj->tij", seen, rest))
    flip = np.ones((len(joints), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    return from_matrix((u * flip[:, None]) @ vt)


def _swing(parent: FloatArray, joints: FloatArray, joint: int, child: int) -> FloatArray:
    """Rotation of the parent, swung so that the bone has its observed direction."""
    seen = joints[:, child] - joints[:, joint]
    return multiply(shortest_arc(rotate(parent, BODY_OFFSETS_M[child]), seen), parent)


def _twisted(
    turn: FloatArray, joints: FloatArray, upper: int, lower: int, end: int, axis: FloatArray
) -> FloatArray:
    """Twist a bone about its axis until its hinge axis is the one about which the limb bends."""
    along = joints[:, lower] - joints[:, upper]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    below = joints[:, end] - joints[:, lower]
    below = below / np.linalg.norm(below, axis=1, keepdims=True)
    now = rotate(turn, axis)
    # a nearly straight limb keeps its hinge axis
    wanted = np.cross(along, below) + 0.1 * now
    now = now - np.einsum("ti,ti->t", now, along)[:, None] * along
    wanted = wanted - np.einsum("ti,ti->t", wanted, along)[:, None] * along
    return multiply(shortest_arc(now, wanted), turn)


RATE_HZ: Final = 20.0
FEATURES: Final = 263
LICENCE: Final = "HumanML3D annotations (MIT); motions under the terms of AMASS and HumanAct12"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """A row of ``index.csv``: sequence and frames (20 Hz) of a clip; end -1 means all."""

    source_path: str
    start_frame: int
    end_frame: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One caption; ``start_s`` = ``end_s`` = 0 means the whole clip."""

    caption: str
    tokens: tuple[str, ...]
    start_s: float
    end_s: float


def recover_joints(features: FloatArray) -> FloatArray:
    """Convert features (frames, 263) to joint positions (frames, 22, 3) in metres.

    Column 0 is HALF the yaw step to the next frame, of the rotation from world to facing; columns
    1 and 2 are the step to the next frame, in the axes of the next frame.
    """
    path, yaw = recover_root(features)
    relative = features[:, 4:67].reshape(-1, JOINT_COUNT - 1, 3)
    out = np.empty((len(features), JOINT_COUNT, 3))
    out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = path[:, 0], features[:, 3], path[:, 1]
    turn = yaw_matrix_2d(yaw)
    out[:, 1:, [0, 2]] = np.einsum("tij,tkj->tki", turn, relative[..., [0, 2]]) + path[:, None]
    out[:, 1:, 1] = relative[..., 1]
    return out


def recover_root(features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ground path (frames, 2), x and z, and the heading (frames,) of the features."""
    halves = np.concatenate([[0.0], np.cumsum(features[:-1, 0])])
    yaw = -2.0 * halves
    steps = np.concatenate([np.zeros((1, 2)), features[:-1, 1:3]])
    world = np.einsum("tij,tj->ti", yaw_matrix_2d(yaw), steps)
    return np.cumsum(world, axis=0), yaw


def joint_rotations(features: FloatArray) -> FloatArray:
    """Stored rotations (frames, 21, 3, 3) of joints 1..21, not SMPL's: see the module docstring."""
    return matrix_from_6d(features[:, 67:193].reshape(-1, JOINT_COUNT - 1, 6))


def read_humanml3d(path: Path, *, name: str = "", caption: str = "") -> Clip:
    """Read a ``.npy`` of features (frames, 263) or of positions (frames, 22, 3).

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    values = load_array(path, "an array of features or positions (.npy)").astype(np.float64)
    if values.ndim == 2 and values.shape[1] == FEATURES:
        joints = recover_joints(values)
    elif values.ndim == 3 and values.shape[1:] == (JOINT_COUNT, 3):
        joints = values
    else:
        raise DataError(
            f"{path}: has shape {values.shape}; expected (frames, 263) or (frames, 22, 3)"
        )
    if len(joints) < 2:
        raise DataError(f"{path}: has {len(joints)} frames; a motion needs at least 2")
    name = name or path.stem
    return fit_joints(
        joints,
        rate_hz=RATE_HZ,
        name=name,
        caption=caption,
        source=f"humanml3d/{path.name}",
        licence=LICENCE,
    )


def read_index(path: Path) -> list[IndexRow]:
    """Read ``index.csv``."""
    try:
        with csv_lines(path, "HumanML3D's index (.csv)", "utf-8") as file:
            return [
                IndexRow(
                    source_path=row["source_path"],
                    start_frame=int(row["start_frame"]),
                    end_frame=int(row["end_frame"]),
                    name=Path(row["new_name"]).stem,
                )
                for row in csv.DictReader(file)
            ]
    except (OSError, KeyError, ValueError, TypeError) as problem:
        raise DataError(f"{path}: cannot be read as HumanML3D's index ({problem!r})") from problem


def read_texts(path: Path) -> list[Text]:
    """Read the captions of one clip, one line each: ``caption#token/POS ...#start#end``."""
    lines = read_text(path, "captions of a clip (.txt)").splitlines()
    texts = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        parts = line.split("#")
        try:
            caption, tokens, start, end = parts
            times = [0.0 if value.strip() == "nan" else float(value) for value in (start, end)]
        except ValueError as problem:
            raise DataError(f"{path}: line {number} is not caption#tokens#start#end") from problem
        texts.append(
            Text(
                caption=caption.strip(),
                tokens=tuple(tokens.split()),
                start_s=times[0],
                end_s=times[1],
            )
        )
    return texts
