"""AMASS files: SMPL-H and SMPL-X parameters in a Z-up world."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import load_arrays
from jaywalk.geometry.rotation import from_rotvec, multiply
from jaywalk.motion.clip import Clip
from jaywalk.motion.smpl import JOINT_COUNT, PELVIS_REST_M

LICENCE: Final = "AMASS (amass.is.tue.mpg.de), non-commercial research"
_BODY: Final = 3 * JOINT_COUNT
# -90 degrees about x: the captured z becomes our y
_TO_Y_UP: Final = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])


def read_amass(path: Path, *, name: str = "", caption: str = "") -> Clip:
    """Read one ``.npz`` file at its own rate; hands, face and shape are ignored.

    The root rotation of AMASS includes the turn from Y-up to Z-up, and the pelvis lies at its rest
    position plus the translation, NOT rotated with the root. Both are undone here.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    arrays = _load(path)
    poses = _poses(path, arrays)
    trans = np.asarray(arrays.get("trans", np.zeros((0, 3))), dtype=np.float64)
    if trans.shape != (len(poses), 3):
        raise DataError(f"{path}: trans has shape {trans.shape}; expected ({len(poses)}, 3)")
    rotations = from_rotvec(poses.reshape(-1, JOINT_COUNT, 3))
    rotations[:, 0] = multiply(_TO_Y_UP, rotations[:, 0])
    pelvis = trans + PELVIS_REST_M
    return Clip(
        name=name or path.stem,
        rotations=rotations,
        root_m=np.stack([pelvis[:, 0], pelvis[:, 2], -pelvis[:, 1]], axis=1),
        rate_hz=_rate_hz(path, arrays),
        caption=caption,
        source=f"amass/{path.name}",
        licence=LICENCE,
    )


_WANTED = frozenset(
    {"poses", "trans", "mocap_framerate", "mocap_frame_rate", "root_orient", "pose_body"}
)


def _load(path: Path) -> dict[str, Any]:
    if path.is_file() and not zipfile.is_zipfile(path):
        raise DataError(f"{path}: is no .npz archive; is the file cut short or something else?")
    return dict(load_arrays(path, "an AMASS archive (.npz)", wanted=_WANTED))


def _poses(path: Path, arrays: dict[str, Any]) -> FloatArray:
    """Rotation vectors (frames, 66) of the 22 body joints."""
    if "poses" in arrays:
        poses = np.asarray(arrays["poses"], dtype=np.float64)
    elif "root_orient" in arrays and "pose_body" in arrays:
        poses = np.concatenate([arrays["root_orient"], arrays["pose_body"]], axis=1)
    else:
        raise DataError(f"{path}: holds neither poses nor root_orient and pose_body")
    if poses.ndim != 2 or poses.shape[1] < _BODY:
        raise DataError(
            f"{path}: poses have shape {poses.shape}; expected (frames, 156) for SMPL-H or "
            "(frames, 165) for SMPL-X"
        )
    return np.asarray(poses[:, :_BODY], dtype=np.float64)


def _rate_hz(path: Path, arrays: dict[str, Any]) -> float:
    for key in ("mocap_framerate", "mocap_frame_rate"):
        if key in arrays:
            rate = float(arrays[key])
            if 1.0 <= rate <= 2000.0:
                return rate
            raise DataError(f"{path}: {key} is {rate}; expected frames per second")
    raise DataError(f"{path}: has neither mocap_framerate (SMPL-H) nor mocap_frame_rate (SMPL-X)")
