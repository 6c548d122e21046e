"""Files of a library folder and what is in them.

``library.json``  version, rate, root policy of each rig, problems met while building
``clips.arrow``   one row a clip: name, base, class, caption, ..., first frame and count
``*.f32``         little-endian float32, one row a frame, all clips one after another
"""

from __future__ import annotations

from typing import Final

from jaywalk.motion.carla_rigs import RIG_NAMES
from jaywalk.motion.retarget import DRIVEN_COUNT
from jaywalk.motion.smpl import JOINT_COUNT

VERSION: Final = 1
META: Final = "library.json"
INDEX: Final = "clips.arrow"


def frame_columns() -> dict[str, tuple[int, ...]]:
    """Name of each file of frames and the shape of one frame in it."""
    columns: dict[str, tuple[int, ...]] = {"smpl_rotations": (JOINT_COUNT, 4), "smpl_root": (3,)}
    for rig in RIG_NAMES:
        columns[f"{rig}_turns"] = (DRIVEN_COUNT, 4)
        columns[f"{rig}_hips"] = (3,)
        columns[f"{rig}_actor"] = (4,)
    return columns
