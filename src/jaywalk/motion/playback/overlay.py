"""Turns of trunk, neck and head that are added to the pose of a clip: gaze, and stoop of seniors.

Clips stay as they are: the overlay works on the rotations that are shown in one step.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.core.seeds import stream
from jaywalk.geometry.rotation import (
    quat_about_x,
    quat_about_z,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
)
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN

MAX_TURN_RAD: Final = math.radians(75.0)  # of head, neck and chest together; the eyes do the rest
_FASTEST_RADPS: Final = 4.0
_MOVE_S: Final = (0.25, 0.45)  # a small and the largest turn
_NEW_GOAL_RAD: Final = math.radians(6.0)  # a farther goal begins a new turn
_STOOP_RAD: Final = (math.radians(8.0), math.radians(15.0))
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
_BENDS: Final = np.array([0.0, 0.5, 0.5, -0.4, -0.3])  # people who stoop still look ahead
_ROOT: Final[FloatArray] = np.array(load_rig("man").rest_local[0, 3:7])  # equal in all rigs


class GazeOverlay:
    """Smooth gaze of a number of people.

    Attributes:
        shown_rad: (n, 2) yaw to the right and pitch upward that are shown now.
    """

    def __init__(self, count: int) -> None:
        self.shown_rad: FloatArray = np.zeros((count, 2))
        self._goal_rad = np.zeros((count, 2))
        self._rate: FloatArray = np.zeros((count, 2))  # first and second derivative
        self._bend: FloatArray = np.zeros((count, 2))
        self._left_s = np.zeros(count)

    def follow(self, wanted_rad: FloatArray, delta_s: float) -> None:
        """Move the gaze towards ``wanted_rad`` (n, 2) with minimum jerk, a step of the time."""
        goal = np.clip(wanted_rad, -MAX_TURN_RAD, MAX_TURN_RAD)
        moved = np.abs(goal - self._goal_rad).max(axis=1)
        angle = np.abs(goal - self.shown_rad).max(axis=1)
        whole_s = _MOVE_S[0] + (_MOVE_S[1] - _MOVE_S[0]) * np.minimum(angle / MAX_TURN_RAD, 1.0)
        # the peak rate of a movement of minimum jerk is 15/8 of its mean
        whole_s = np.maximum(whole_s, 1.875 * angle / _FASTEST_RADPS)
        begins = moved > _NEW_GOAL_RAD
        self._left_s = np.where(begins, whole_s, self._left_s)
        self._goal_rad = np.where(begins[:, None], goal, self._goal_rad)
        # a goal that moves slowly is followed with the time that is left
        left = np.maximum(self._left_s, 2.0 * delta_s)[:, None]
        place, rate, bend = _ahead(self.shown_rad, self._rate, self._bend, goal, left, delta_s)
        most = _FASTEST_RADPS * delta_s
        step = np.clip(place - self.shown_rad, -most, most)
        cut = np.abs(place - self.shown_rad) > most
        self._rate = np.where(cut, step / delta_s, rate)
        self._bend = np.where(cut, 0.0, bend)
        self.shown_rad = np.clip(self.shown_rad + step, -MAX_TURN_RAD, MAX_TURN_RAD)
        self._goal_rad = np.where(self._left_s[:, None] <= delta_s, goal, self._goal_rad)
        self._left_s = np.maximum(self._left_s - delta_s, 0.0)


def _ahead(
    place: FloatArray,
    rate: FloatArray,
    bend: FloatArray,
    goal: FloatArray,
    left_s: FloatArray,
    t: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """State after ``t`` on the movement of minimum jerk that rests at the goal after ``left_s``."""
    way = goal - place
    a = (10.0 * way - 6.0 * rate * left_s - 1.5 * bend * left_s**2) / left_s**3
    b = (-15.0 * way + 8.0 * rate * left_s + 1.5 * bend * left_s**2) / left_s**4
    c = (6.0 * way - 3.0 * rate * left_s - 0.5 * bend * left_s**2) / left_s**5
    return (
        place + rate * t + 0.5 * bend * t**2 + a * t**3 + b * t**4 + c * t**5,
        rate + bend * t + 3.0 * a * t**2 + 4.0 * b * t**3 + 5.0 * c * t**4,
        bend + 6.0 * a * t + 12.0 * b * t**2 + 20.0 * c * t**3,
    )


def stoop_rad(age: str, type_id: str) -> float:
    """Forward bend of a walker by age and blueprint: seniors stoop."""
    return float(stream(0, "stoop", type_id).uniform(*_STOOP_RAD)) if age == "elderly" else 0.0


@kernel
def bend_trunks(turns: FloatArray, bend_rad: FloatArray) -> None:
    """Bend the trunks of people (n, 21, 4) forward by an angle (n,) in the world."""
    for i in range(turns.shape[0]):
        if bend_rad[i] < 1e-4:
            continue
        parent = (_ROOT[0], _ROOT[1], _ROOT[2], _ROOT[3])
        for k in range(_CHAIN.shape[0]):
            bone = _CHAIN[k]
            q = turns[i, bone]
            local = (q[0], q[1], q[2], q[3])
            if _BENDS[k] != 0.0:
                # a positive turn about the axis to the left leans back
                turn = quat_about_x(-_BENDS[k] * bend_rad[i])
                local = quat_multiply(
                    quat_conjugate(parent), quat_multiply(turn, quat_multiply(parent, local))
                )
                for c in range(4):
                    turns[i, bone, c] = local[c]
            parent = quat_multiply(parent, local)


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
