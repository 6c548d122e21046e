"""Feet while clips are joined: who stands keeps standing, who must stand elsewhere takes a step.

A blend of two poses would let feet slide from the one stance to the other. Here a standing foot is
held where it is until the new clip lifts it, or until it is too far from where the clip wants it:
then it steps there, one foot after the other. Legs follow by inverse kinematics.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import Quat, Vec3, quat_conjugate, quat_multiply, quat_rotate
from jaywalk.motion._legs import lead_leg
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.playback.bank import FREE, HELD, STEPPING, Rows
from jaywalk.motion.retarget import DRIVEN

_NAMES: Final = tuple(DRIVEN)
# places in DRIVEN, left then right, as constants the compiler can see
_THIGH: Final = (_NAMES.index("crl_thigh__L"), _NAMES.index("crl_thigh__R"))

_STEP_S = 0.3
_SWING_S = 0.22  # a foot that the clip lifts anyway finds its way sooner
_NEAR_M = 0.06  # a standing foot nearer than this to its place need not step
_FAR_SHARE = 0.4  # of the leg: beyond it a foot steps whatever the other does
_DONE_M = 0.004
_CREEP_MPS = 0.03  # unseen: a standing foot may drift so to its place
_LIFT_SHARE = 0.25
_MOST_LIFT_M = 0.09
_SINK_M = 0.004
_STEP_BEND = 0.05  # a stepping leg bends; knees of stretched ones would snap


class LegTables(NamedTuple):
    """Legs of the rigs in the bones' own axes; first axis the rig, second left and right."""

    root: FloatArray  # (rigs, 7) rest of crl_root, parent-relative
    bones: FloatArray  # (rigs, 2, 4, 3) rest places of thigh, shank, foot, toe in their parents
    flexion: FloatArray  # (rigs, 2, 3) in the thigh's axes
    ball_m: FloatArray  # (rigs, 2) height of the ball at rest
    leg_m: FloatArray  # (rigs,)


def leg_tables() -> LegTables:
    """Stack the four rigs."""
    rigs = [load_rig(name) for name in RIG_NAMES]
    chains = [
        [
            [rig.bone_index[f"crl_{part}__{side}"] for part in ("thigh", "leg", "foot", "toe")]
            for side in "LR"
        ]
        for rig in rigs
    ]
    flexion = np.zeros((len(rigs), 2, 3))
    for number, rig in enumerate(rigs):
        for side in range(2):
            q = rig.rest_mesh[chains[number][side][0], 3:]
            turned = quat_conjugate((q[0], q[1], q[2], q[3]))
            flexion[number, side] = quat_rotate(turned, (-1.0, 0.0, 0.0))
    return LegTables(
        root=np.stack([rig.rest_local[0] for rig in rigs]),
        bones=np.stack([rig.rest_local[c, :3] for rig, c in zip(rigs, chains, strict=True)]),
        flexion=flexion,
        ball_m=np.stack(
            [rig.rest_mesh[[c[0][3], c[1][3]], 2] for rig, c in zip(rigs, chains, strict=True)]
        ),
        leg_m=np.array([rig.leg_length_m for rig in rigs]),
    )


@kernel
def _quat(row: FloatArray) -> Quat:
    return (row[0], row[1], row[2], row[3])


@kernel
def _vec(row: FloatArray) -> Vec3:
    return (row[0], row[1], row[2])


@kernel
def _add(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def _hips(rows: Rows, i: int, legs: LegTables) -> tuple[Vec3, Quat]:
    """Place and orientation of the hips in mesh space."""
    root = legs.root[rows.rig[i]]
    above = (root[3], root[4], root[5], root[6])
    place = _add((root[0], root[1], root[2]), quat_rotate(above, _vec(rows.hips_m[i])))
    return place, quat_multiply(above, _quat(rows.turns[i, 0]))


@kernel
def to_world(rows: Rows, i: int, point: Vec3) -> Vec3:
    """A point of mesh space on the ground of the world; z stays over the ground."""
    cos, sin = math.cos(rows.yaw_rad[i]), math.sin(rows.yaw_rad[i])
    forward, right = point[1], -point[0]
    return (
        rows.x_m[i] + cos * forward - sin * right,
        rows.y_m[i] + sin * forward + cos * right,
        point[2],
    )


@kernel
def _to_mesh(rows: Rows, i: int, point: Vec3) -> Vec3:
    cos, sin = math.cos(rows.yaw_rad[i]), math.sin(rows.yaw_rad[i])
    dx, dy = point[0] - rows.x_m[i], point[1] - rows.y_m[i]
    return (-(cos * dy - sin * dx), cos * dx + sin * dy, point[2])


@kernel
def _chain(
    rows: Rows, i: int, side: int, legs: LegTables
) -> tuple[Vec3, Quat, Quat, Quat, Vec3, Vec3]:
    """Hip joint, orientations of thigh, shank and foot, ankle and ball, in mesh space."""
    bones = legs.bones[rows.rig[i], side]
    first = _THIGH[0] if side == 0 else _THIGH[1]
    place, above = _hips(rows, i, legs)
    hip = _add(place, quat_rotate(above, _vec(bones[0])))
    thigh = quat_multiply(above, _quat(rows.turns[i, first]))
    knee = _add(hip, quat_rotate(thigh, _vec(bones[1])))
    shank = quat_multiply(thigh, _quat(rows.turns[i, first + 1]))
    ankle = _add(knee, quat_rotate(shank, _vec(bones[2])))
    foot = quat_multiply(shank, _quat(rows.turns[i, first + 2]))
    return hip, thigh, shank, foot, ankle, _add(ankle, quat_rotate(foot, _vec(bones[3])))


@kernel
def ball_place(rows: Rows, i: int, side: int, legs: LegTables) -> Vec3:
    """Where the ball of a foot is shown, in the world."""
    ball = _chain(rows, i, side, legs)[5]
    world: Vec3 = to_world(rows, i, ball)
    return world


@kernel
def _lead(rows: Rows, i: int, side: int, legs: LegTables, target: Vec3, bend: float = 0.0) -> None:
    """Put the ball at a place of the world; the foot keeps its orientation.

    ``bend`` is the share of its length by which the leg stays short of being stretched.
    """
    bones = legs.bones[rows.rig[i], side]
    first = _THIGH[0] if side == 0 else _THIGH[1]
    hip, thigh, shank, foot, ankle, ball = _chain(rows, i, side, legs)
    want = _to_mesh(rows, i, target)
    wanted = (
        want[0] - ball[0] + ankle[0] - hip[0],
        want[1] - ball[1] + ankle[1] - hip[1],
        want[2] - ball[2] + ankle[2] - hip[2],
    )
    far = math.sqrt(wanted[0] ** 2 + wanted[1] ** 2 + wanted[2] ** 2)
    short = min(1.0, (1.0 - bend) * legs.leg_m[rows.rig[i]] / max(far, 1e-9))
    wanted = (short * wanted[0], short * wanted[1], short * wanted[2])
    above = _hips(rows, i, legs)[1]
    thigh, shank = lead_leg(
        thigh, shank, _vec(bones[1]), _vec(bones[2]), _vec(legs.flexion[rows.rig[i], side]), wanted
    )
    new = (
        quat_multiply(quat_conjugate(above), thigh),
        quat_multiply(quat_conjugate(thigh), shank),
        quat_multiply(quat_conjugate(shank), foot),
    )
    for part in range(3):
        q = new[part]
        for k in range(4):
            rows.turns[i, first + part, k] = q[k]


@kernel
def _smooth(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@kernel
def _begin_step(rows: Rows, i: int, side: int, ball: Vec3) -> None:
    """From here on ``lock_m`` holds how far the foot is from its place, and fades."""
    rows.foot[i, side], rows.foot_s[i, side] = STEPPING, 0.0
    for k in range(3):
        rows.lock_m[i, side, k] -= ball[k]


@kernel
def _hold(rows: Rows, i: int, side: int, ball: Vec3) -> None:
    rows.foot[i, side] = HELD
    for k in range(3):
        rows.lock_m[i, side, k] = ball[k]


@kernel
def _held_on(
    rows: Rows,
    i: int,
    side: int,
    legs: LegTables,
    ball: Vec3,
    stands: bool,
    weight: float,
    dt_s: float,
) -> None:
    """Decide whether a held foot is let go, and let it creep when it need not step."""
    lock = rows.lock_m[i, side]
    gap = math.hypot(ball[0] - lock[0], ball[1] - lock[1])
    leg = legs.leg_m[rows.rig[i]]
    if not stands and weight > 0.2:
        _begin_step(rows, i, side, ball)
        rows.foot_s[i, side] = _STEP_S - _SWING_S
        return
    alone = rows.foot[i, 1 - side] != STEPPING
    near = _NEAR_M * leg / 0.9
    if gap > _FAR_SHARE * leg or (alone and weight > 0.3 and gap > near):
        _begin_step(rows, i, side, ball)
        return
    if weight >= 1.0:
        share = min(1.0, _CREEP_MPS * dt_s / max(gap, 1e-9))
        for k in range(3):
            lock[k] += share * (ball[k] - lock[k])
        if gap < _DONE_M:
            rows.foot[i, side] = FREE


@kernel
def pin_stance_feet(
    rows: Rows,
    i: int,
    legs: LegTables,
    stands_left: bool,
    stands_right: bool,
    weight: float,
    dt_s: float,
) -> None:
    """Correct the shown legs of one person.

    Args:
        rows: All people.
        i: Whose legs.
        legs: From :func:`leg_tables`.
        stands_left: Whether the clip that counts now stands on the left foot.
        stands_right: The same of the right one.
        weight: Of the new clip over the old one; 1 when the join is over.
        dt_s: Step.
    """
    for side in range(2):
        stands = stands_left if side == 0 else stands_right
        ball = ball_place(rows, i, side, legs)
        low = legs.ball_m[rows.rig[i], side]
        if rows.foot[i, side] == HELD:
            _held_on(rows, i, side, legs, ball, stands, weight, dt_s)
        elif rows.foot[i, side] == STEPPING:
            rows.foot_s[i, side] += dt_s
            if rows.foot_s[i, side] >= _STEP_S:
                rows.foot[i, side] = FREE
        if rows.foot[i, side] == FREE and weight < 1.0 and stands and ball[2] < low + 0.03:
            _hold(rows, i, side, ball)
        state = rows.foot[i, side]
        if state == HELD:
            lock = rows.lock_m[i, side]
            _lead(rows, i, side, legs, (lock[0], lock[1], lock[2]))
        elif state == STEPPING:
            share = rows.foot_s[i, side] / _STEP_S
            left = 1.0 - _smooth(share)
            off = rows.lock_m[i, side]
            far = math.hypot(off[0], off[1])
            lift = min(_LIFT_SHARE * far, _MOST_LIFT_M) * 4.0 * share * (1.0 - share)
            height = max(ball[2] + left * off[2], low - _SINK_M) + (lift if stands else 0.5 * lift)
            goal = (ball[0] + left * off[0], ball[1] + left * off[1], height)
            _lead(rows, i, side, legs, goal, _STEP_BEND * math.sin(math.pi * share) ** 2)
        elif ball[2] < low - _SINK_M and weight < 1.0:
            _lead(rows, i, side, legs, (ball[0], ball[1], low - _SINK_M))
