"""Foot clean-up: a standing foot stays where it stands, and no sole sinks into the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.motion.clip import Motion
from jaywalk.motion.floor import contacts, runs_of
from jaywalk.motion.leg_reach import lead_legs, lowering_m
from jaywalk.motion.quaternions import conjugate, multiply
from jaywalk.motion.rotation import FloatArray
from jaywalk.motion.smpl import (
    BALL_HEIGHT_M,
    LEFT_ANKLE,
    LEFT_BALL,
    LEFT_HIP,
    LEFT_KNEE,
    RIGHT_ANKLE,
    RIGHT_BALL,
    RIGHT_HIP,
    RIGHT_KNEE,
)

_HIPS: Final = [LEFT_HIP, RIGHT_HIP]
_KNEES: Final = [LEFT_KNEE, RIGHT_KNEE]
_ANKLES: Final = [LEFT_ANKLE, RIGHT_ANKLE]
_BALLS: Final = [LEFT_BALL, RIGHT_BALL]
_FLEXION: Final = np.array([1.0, 0.0, 0.0])
_SHORTEST_S: Final = 0.12  # contacts shorter than this are chance
_WANDER_M: Final = 0.06  # a foot that moves further than this is sliding on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class FootLock:
    """Result of :func:`lock_feet`.

    Attributes:
        motion: The cleaned motion.
        moved_m: Greatest horizontal displacement given to a ball.
        locked: Number of contacts that were locked.
    """

    motion: Motion
    moved_m: float
    locked: int


def lock_feet(motion: Motion) -> FootLock:
    """Hold the ball of each standing foot at its mean place; legs follow by inverse kinematics.

    Between contacts the displacement fades from the one lock to the next. Expects the ground at
    y = 0 (:func:`jaywalk.motion.floor.on_floor`).
    """
    joints = motion.joints_m()
    balls = joints[:, _BALLS]
    standing = contacts(motion)
    offset = np.zeros_like(balls)
    locked = 0
    for side in range(2):
        runs = _lockable(balls[:, side], runs_of(standing[:, side]), motion.rate_hz)
        locked += len(runs)
        offset[:, side] = _offsets(balls[:, side], runs)
    lowest = motion.body_scale * BALL_HEIGHT_M
    offset[..., 1] = np.maximum(lowest - balls[..., 1], 0.0)
    return FootLock(
        motion=move_balls(motion, joints, offset),
        moved_m=float(np.linalg.norm(offset[..., [0, 2]], axis=-1).max()),
        locked=locked,
    )


def _lockable(
    ball: FloatArray, runs: list[tuple[int, int]], rate_hz: float
) -> list[tuple[int, int]]:
    shortest = max(2, round(_SHORTEST_S * rate_hz))
    kept = []
    for first, end in runs:
        place = ball[first:end, [0, 2]]
        wander = np.linalg.norm(place - place.mean(axis=0), axis=1).max()
        if end - first >= shortest and wander <= _WANDER_M:
            kept.append((first, end))
    return kept


def _offsets(ball: FloatArray, runs: list[tuple[int, int]]) -> FloatArray:
    """(frames, 3) displacement that holds the ball in every run and fades between them."""
    out = np.zeros_like(ball)
    if not runs:
        return out
    for first, end in runs:
        out[first:end] = ball[first:end].mean(axis=0) - ball[first:end]
    gaps = zip([(0, 0), *runs], [*runs, (len(ball), len(ball))], strict=True)
    for (_, before), (after, _) in gaps:
        if after <= before:
            continue
        start = out[before - 1] if before > 0 else np.zeros(3)
        stop = out[after] if after < len(ball) else np.zeros(3)
        share = np.arange(1, after - before + 1) / (after - before + 1)
        weight = (share * share * (3.0 - 2.0 * share))[:, None]
        out[before:after] = (1.0 - weight) * start + weight * stop
    out[:, 1] = 0.0
    return out


def move_balls(motion: Motion, joints: FloatArray, offset: FloatArray) -> Motion:
    """Move the balls of the feet by (frames, 2, 3), keeping the feet's orientation."""
    turned = motion.turned()
    offsets = motion.offsets_m()
    thighs = np.ascontiguousarray(turned[:, _HIPS])
    shanks = np.ascontiguousarray(turned[:, _KNEES])
    wanted = joints[:, _ANKLES] + offset - joints[:, _HIPS]
    legs = np.linalg.norm(offsets[_KNEES], axis=1) + np.linalg.norm(offsets[_ANKLES], axis=1)
    drop = lowering_m(wanted, legs, 1, motion.rate_hz)
    wanted[..., 1] += drop[:, None]
    lead_legs(thighs, shanks, offsets[_KNEES], offsets[_ANKLES], _FLEXION, wanted)
    rotations = motion.rotations.copy()
    rotations[:, _HIPS] = multiply(conjugate(turned[:, :1]), thighs)
    rotations[:, _KNEES] = multiply(conjugate(thighs), shanks)
    rotations[:, _ANKLES] = multiply(conjugate(shanks), turned[:, _ANKLES])
    root = motion.root_m.copy()
    root[:, 1] -= drop
    return motion.with_poses(rotations, root)
