"""Where somebody on a walker rig faces: yaws of the head and of the chest in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.quaternions import conjugate, multiply, rotate
from jaywalk.motion.retarget import DRIVEN, RigMotion
from jaywalk.motion.rotation import FloatArray

HEAD: Final = "crl_Head__C"
CHEST: Final = "crl_spine01__C"
_PLACE: Final = {name: i for i, name in enumerate(DRIVEN)}
_AHEAD: Final = np.array([0.0, 1.0, 0.0])  # of the mesh, at rest
_STEEP: Final = 0.2  # horizontal part of a direction below which it has no yaw: 78 degrees up, down


@dataclass(frozen=True, slots=True, kw_only=True)
class Facing:
    """Yaws of one person, one a frame.

    Radians from -pi to pi in CARLA's axes, as an actor's yaw: seen from above to the right. NaN
    where a face or a chest points at the sky or at the ground.

    Attributes:
        head_rad: (frames,) of the face.
        body_rad: (frames,) of the chest.
    """

    head_rad: FloatArray
    body_rad: FloatArray


def facing(motion: RigMotion) -> Facing:
    """Head and chest of a motion, turned from rest by all bones below them."""
    return Facing(head_rad=_yaw_rad(motion, HEAD), body_rad=_yaw_rad(motion, CHEST))


def _yaw_rad(motion: RigMotion, bone: str) -> FloatArray:
    ahead = rotate(_turned(motion, bone), _AHEAD)
    # mesh y is the actor's forward, mesh x its left
    forward, right = ahead[:, 1], -ahead[:, 0]
    yaw = motion.actor[:, 3] + np.arctan2(right, forward)
    wrapped = np.arctan2(np.sin(yaw), np.cos(yaw))
    return np.where(np.hypot(forward, right) < _STEEP, np.nan, wrapped)


def _turned(motion: RigMotion, bone: str) -> FloatArray:
    """(frames, 4) how far a bone is turned from rest, in mesh axes."""
    rig = load_rig(motion.rig)
    here = rig.bone_index[bone]
    away = conjugate(rig.rest_mesh[here, 3:])
    while here >= 0:
        name = rig.bones[here]
        local = motion.turns[:, _PLACE[name]] if name in _PLACE else rig.rest_local[here, 3:]
        away = multiply(local, away)
        here = int(rig.parents[here])
    return np.broadcast_to(away, (len(motion.actor), 4))
