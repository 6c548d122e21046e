"""HumanML3D: 263 features a frame, joint positions, index and texts.

Its joint rotations come from positions (undefined twist, arms-down rest), so they are no SMPL
rotations: a motion is rebuilt from the positions instead (:mod:`jaywalk.motion.sources.joint_fit`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.files import csv_lines, load_array, read_text
from jaywalk.motion.clip import Motion
from jaywalk.motion.heading import yaw_matrix_2d
from jaywalk.motion.quaternions import matrix_from_6d
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import JOINT_COUNT
from jaywalk.motion.sources.joint_fit import fit_joints

RATE_HZ: Final = 20.0
FEATURES: Final = 263
LICENCE: Final = "HumanML3D annotations (MIT); motions under the terms of AMASS and HumanAct12"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """A row of ``index.csv``: which frames (20 Hz) of which sequence a clip is; end -1: all."""

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
    """Features (frames, 263) to joint positions (frames, 22, 3) in metres.

    Column 0 is HALF the yaw step to the next frame, of the rotation from world to facing; columns
    1 and 2 are the step to the next frame as seen in the next frame.
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
    """Ground path (frames, 2) as x and z, and heading (frames,) of HumanML3D features."""
    halves = np.concatenate([[0.0], np.cumsum(features[:-1, 0])])
    yaw = -2.0 * halves
    steps = np.concatenate([np.zeros((1, 2)), features[:-1, 1:3]])
    world = np.einsum("tij,tj->ti", yaw_matrix_2d(yaw), steps)
    return np.cumsum(world, axis=0), yaw


def joint_rotations(features: FloatArray) -> FloatArray:
    """(frames, 21, 3, 3) rotations of joints 1..21 as stored; see the warning of this module."""
    return matrix_from_6d(features[:, 67:193].reshape(-1, JOINT_COUNT - 1, 6))


def read_humanml3d(path: Path, *, name: str = "", caption: str = "") -> Motion:
    """Read a ``.npy`` of features (frames, 263) or of positions (frames, 22, 3).

    Raises:
        DataError: Names the file and what is wrong with it.
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
    """Read the captions of one clip: ``caption#token/POS ...#start#end`` a line."""
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
