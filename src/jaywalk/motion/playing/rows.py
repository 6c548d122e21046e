"""What is known of every person who plays a clip: arrays with one row a person."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from jaywalk.motion.kinematics import IntArray
from jaywalk.motion.retarget import DRIVEN_COUNT
from jaywalk.motion.rotation import FloatArray

# What holds a foot during and after a join.
FREE: Final = 0  # the clip alone
HELD: Final = 1  # stands where it stood
STEPPING: Final = 2  # on its way to where the clip wants it
NOTHING: Final = -1  # in place of a clip


class Rows(NamedTuple):
    """State of the players. Frame: CARLA's left-handed metres, the walker on the ground.

    A person plays ``clip`` at ``time_s``; for ``blend_s`` from the last join on, what was played
    before (``old_*``) fades out. A join that begins within a join fades the pose shown then, which
    stays ``frozen`` in ``source_*``, while the path still follows the old clip.
    """

    rig: IntArray  # index in RIG_NAMES
    clip: IntArray  # place in the bank
    time_s: FloatArray
    rate: FloatArray  # 1 plays as captured
    old_clip: IntArray
    old_time_s: FloatArray
    old_rate: FloatArray
    frozen: IntArray  # 1: the pose to fade is in ``source_*``, and not the old clip's
    since_s: FloatArray  # since the last join
    blend_s: FloatArray
    turn_rad: FloatArray  # to be turned in all since the last join, in ``turn_s``
    turn_s: FloatArray
    steer_radps: FloatArray  # turning added by the caller
    x_m: FloatArray
    y_m: FloatArray
    yaw_rad: FloatArray
    speed_mps: FloatArray  # over the ground, of the last advance
    foot: IntArray  # (n, 2) FREE, HELD or STEPPING; left, right
    foot_s: FloatArray  # (n, 2) since the step began
    lock_m: FloatArray  # (n, 2, 3) HELD: the ball's place, z over the ground; STEPPING: offset
    turns: FloatArray  # (n, 21, 4) shown
    hips_m: FloatArray  # (n, 3) shown
    source_turns: FloatArray  # (n, 21, 4)
    source_hips_m: FloatArray


def make_rows(rigs: IntArray) -> Rows:
    """Rows of people who play nothing yet."""
    n = len(rigs)
    turns = np.zeros((n, DRIVEN_COUNT, 4))
    turns[..., 0] = 1.0
    return Rows(
        rig=np.array(rigs, np.int64),
        clip=np.full(n, NOTHING, np.int64),
        time_s=np.zeros(n),
        rate=np.ones(n),
        old_clip=np.full(n, NOTHING, np.int64),
        old_time_s=np.zeros(n),
        old_rate=np.ones(n),
        frozen=np.ones(n, np.int64),
        since_s=np.zeros(n),
        blend_s=np.zeros(n),
        turn_rad=np.zeros(n),
        turn_s=np.zeros(n),
        steer_radps=np.zeros(n),
        x_m=np.zeros(n),
        y_m=np.zeros(n),
        yaw_rad=np.zeros(n),
        speed_mps=np.zeros(n),
        foot=np.zeros((n, 2), np.int64),
        foot_s=np.zeros((n, 2)),
        lock_m=np.zeros((n, 2, 3)),
        turns=turns,
        hips_m=np.zeros((n, 3)),
        source_turns=turns.copy(),
        source_hips_m=np.zeros((n, 3)),
    )


def with_row(rows: Rows, rig: int) -> Rows:
    """The rows and one more, of a new person."""
    new = make_rows(np.array([rig]))
    return Rows(*(np.concatenate([a, b]) for a, b in zip(rows, new, strict=True)))
