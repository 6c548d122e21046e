"""Feet during joins: a standing foot is held, or steps to its new position.

A blend of two poses would let feet slide from one stance to the other. Here a standing foot is held
until the new clip lifts it, or until it is too far from its position in the clip; then it steps
there, one foot after the other. Legs follow by inverse kinematics.
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
from jaywalk.motion.playback.bank import FREE, HELD, NOTHING, STEPPING, Rows
from jaywalk.motion.retarget import DRIVEN

_NAMES: Final = tuple(DRIVEN)
# indices in DRIVEN, left then right, as constants for the compiler
_THIGH: Final = (_NAMES.index("crl_thigh__L"), _NAMES.index("crl_thigh__R"))

_LEVEL_M = 0.003  # lower steps of the ground are not visible
_STEP_S = 0.3
_SWING_S = 0.22  # a foot that the clip lifts arrives sooner
_NEAR_M = 0.06  # a standing foot nearer to its target does not step
_FAR_SHARE = 0.4  # of the leg: beyond it a foot steps even while the other one does
_DONE_M = 0.004
_CREEP_MPS = 0.03  # not visible: speed at which a standing foot drifts to its target
_LIFT_SHARE = 0.25
_MAX_LIFT_M = 0.09
_SINK_M = 0.004
_STEP_BEND = 0.05  # a stepping leg bends; the knee of a straight leg would snap


class LegTables(NamedTuple):
    """Legs of the rigs in the axes of the bones; first axis the rig, second left and right."""

    root: FloatArray  # (rigs, 7) rest of crl_root, parent-relative
    bones: FloatArray  # (rigs, 2, 4, 3) rest offsets of thigh, shank, foot, toe in their parents
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
    """Position and orientation of the hips in mesh space."""
    root = legs.root[rows.rig[i]]
    above = (root[3], root[4], root[5], root[6])
    place = _add((root[0], root[1], root[2]), quat_rotate(above, _vec(rows.hips_m[i])))
    return place, quat_multiply(above, _quat(rows.turns[i, 0]))


@kernel
def to_world(rows: Rows, i: int, point: Vec3) -> Vec3:
    """Transform a point from mesh space to the world; z stays the height over the ground."""
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
    """Shown position of the ball of a foot, in the world."""
    ball = _chain(rows, i, side, legs)[5]
    world: Vec3 = to_world(rows, i, ball)
    return world


@kernel
def ball_places(rows: Rows, legs: LegTables) -> FloatArray:
    """Shown positions (n, 2, 3) of the balls of all people in the world, z over the ground."""
    out = np.zeros((rows.clip.shape[0], 2, 3))
    for i in range(out.shape[0]):
        if rows.clip[i] == NOTHING:
            continue
        for side in range(2):
            ball = ball_place(rows, i, side, legs)
            for k in range(3):
                out[i, side, k] = ball[k]
    return out


@kernel
def raise_feet(rows: Rows, legs: LegTables, raised_m: FloatArray) -> None:
    """Put the feet of all people on uneven ground; the pelvis sinks to the lower foot.

    Args:
        rows: Shown poses, changed in place.
        legs: From :func:`leg_tables`.
        raised_m: (n, 2) height of the ground under each foot over that under the person.
    """
    for i in range(rows.clip.shape[0]):
        left, right = raised_m[i, 0], raised_m[i, 1]
        if rows.clip[i] == NOTHING or max(abs(left), abs(right)) < _LEVEL_M:
            continue
        balls = (ball_place(rows, i, 0, legs), ball_place(rows, i, 1, legs))
        dip = min(left, right, 0.0)
        root = legs.root[rows.rig[i]]
        sink = quat_rotate(quat_conjugate((root[3], root[4], root[5], root[6])), (0.0, 0.0, dip))
        for k in range(3):
            rows.hips_m[i, k] += sink[k]
        for side in range(2):
            ball = balls[side]
            _lead(rows, i, side, legs, (ball[0], ball[1], ball[2] + raised_m[i, side]))


@kernel
def _lead(rows: Rows, i: int, side: int, legs: LegTables, target: Vec3, bend: float = 0.0) -> None:
    """Move the ball to a position in the world; the foot keeps its orientation.

    ``bend`` is the share of its length by which the leg stays shorter than a straight leg.
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
    """Begin a step: ``lock_m`` becomes the offset of the foot from its target, and fades."""
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
    """Release a held foot or begin a step if needed; otherwise let it drift to its target."""
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
        rows: State of all people.
        i: Row of the person.
        legs: From :func:`leg_tables`.
        stands_left: True if the clip with the larger weight stands on the left foot.
        stands_right: True if that clip stands on the right foot.
        weight: Weight of the new clip against the old one; 1 after the join.
        dt_s: Length of the step.
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
            lift = min(_LIFT_SHARE * far, _MAX_LIFT_M) * 4.0 * share * (1.0 - share)
            height = max(ball[2] + left * off[2], low - _SINK_M) + (lift if stands else 0.5 * lift)
            goal = (ball[0] + left * off[0], ball[1] + left * off[1], height)
            _lead(rows, i, side, legs, goal, _STEP_BEND * math.sin(math.pi * share) ** 2)
        elif ball[2] < low - _SINK_M and weight < 1.0:
            _lead(rows, i, side, legs, (ball[0], ball[1], low - _SINK_M))
