"""Turns of head, neck and chest that are added to the pose of a clip: where a person looks.

Clips stay as they are: the overlay works on the rotations that are shown in one step.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import quat_about_z, quat_conjugate, quat_multiply, quat_rotate
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN

MOST_RAD: Final = math.radians(75.0)  # of head, neck and chest together; the eyes do the rest
_FASTEST_RADPS: Final = 4.0
_SETTLE_S: Final = 0.12  # time constant; a turn of 60 degrees takes about 0.4 s
_NAMES: Final = tuple(DRIVEN)
_CHAIN: Final = np.array(
    [
        _NAMES.index(name)
        for name in (
            "crl_hips__C",
            "crl_spine__C",
            "crl_spine01__C",
            "crl_neck__C",
            "crl_Head__C",
        )
    ],
    np.int64,
)
_SHARES: Final = np.array([0.0, 0.0, 0.15, 0.35, 0.50])
_ROOT: Final[FloatArray] = np.array(load_rig("man").rest_local[0, 3:7])  # equal in all rigs


class GazeOverlay:
    """Smooth gaze of a number of people.

    Attributes:
        shown_rad: (n, 2) yaw to the right and pitch upward that are shown now.
    """

    def __init__(self, count: int) -> None:
        self.shown_rad: FloatArray = np.zeros((count, 2))

    def follow(self, wanted_rad: FloatArray, delta_s: float) -> None:
        """Move the gaze towards ``wanted_rad`` (n, 2) without jerks."""
        goal = np.clip(wanted_rad, -MOST_RAD, MOST_RAD)
        step = (goal - self.shown_rad) * (1.0 - math.exp(-delta_s / _SETTLE_S))
        most = _FASTEST_RADPS * delta_s
        self.shown_rad = self.shown_rad + np.clip(step, -most, most)

    def applied(self, turns: FloatArray, chosen: list[int]) -> FloatArray:
        """Return a copy of the rotations (n, 21, 4) of some people with their gaze."""
        shown = turns[chosen]
        turn_heads(shown, self.shown_rad[chosen])
        return shown


@kernel
def turn_heads(turns: FloatArray, gaze_rad: FloatArray) -> None:
    """Turn chest, neck and head of people (n, 21, 4) by yaw and pitch (n, 2) in the world.

    A part's rotation about a world axis is the rotation of the part's local frame about that axis
    as seen from its parent. The pitch is that of the head alone.
    """
    for i in range(turns.shape[0]):
        yaw, pitch = gaze_rad[i, 0], gaze_rad[i, 1]
        if abs(yaw) < 1e-4 and abs(pitch) < 1e-4:
            continue
        parent = (_ROOT[0], _ROOT[1], _ROOT[2], _ROOT[3])
        for k in range(_CHAIN.shape[0]):
            bone = _CHAIN[k]
            q = turns[i, bone]
            local = (q[0], q[1], q[2], q[3])
            if _SHARES[k] > 0.0:
                turn = quat_about_z(_SHARES[k] * yaw)
                if k == _CHAIN.shape[0] - 1:
                    turn = quat_multiply(turn, _pitch_of(parent, local, pitch))
                local = quat_multiply(
                    quat_conjugate(parent), quat_multiply(turn, quat_multiply(parent, local))
                )
                for c in range(4):
                    turns[i, bone, c] = local[c]
            parent = quat_multiply(parent, local)


@kernel
def _pitch_of(
    parent: tuple[float, float, float, float],
    local: tuple[float, float, float, float],
    pitch: float,
) -> tuple[float, float, float, float]:
    """Rotation that raises the head by ``pitch``, about the horizontal axis through the ears."""
    if pitch == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    world = quat_multiply(parent, local)
    ax, ay, _ = quat_rotate(world, (1.0, 0.0, 0.0))  # the head bone's x axis leads sideways
    size = math.sqrt(ax * ax + ay * ay)
    if size < 1e-6:
        return 1.0, 0.0, 0.0, 0.0
    half = -0.5 * pitch
    return math.cos(half), math.sin(half) * ax / size, math.sin(half) * ay / size, 0.0
