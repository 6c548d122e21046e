"""Leg inverse kinematics: :func:`solve_leg` poses a leg, :func:`lead_leg` moves a posed one.

:func:`lead_leg` changes the pose as little as it can and keeps the twist of thigh and shank.
Rotations are turns away from rest in any space, so the same code serves SMPL and the walker rigs.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import (
    Quat,
    Vec3,
    quat_conjugate,
    quat_from_columns,
    quat_multiply,
    quat_normalise,
    quat_rotate,
)

#: A leg is never stretched beyond this share of its length: straight knees snap.
REACH: Final = 0.998


@kernel
def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def unit(a: Vec3) -> Vec3:
    """Direction of a vector."""
    norm = max(math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), 1e-12)
    return (a[0] / norm, a[1] / norm, a[2] / norm)


@kernel
def dot(a: Vec3, b: Vec3) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def length(a: Vec3) -> float:
    """Length of a vector."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def _scaled(a: Vec3, factor: float) -> Vec3:
    return (a[0] * factor, a[1] * factor, a[2] * factor)


@kernel
def _plus(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def _unit_by_product(a: Vec3) -> Vec3:
    """Direction of a vector; :func:`unit` differs in the last bit, and records depend on both."""
    return _scaled(a, 1.0 / max(math.sqrt(dot(a, a)), 1e-12))


@kernel
def _frame(direction: Vec3, hinge: Vec3) -> Quat:
    """Orientation with one axis along a bone and one along the hinge square to it."""
    u = unit(direction)
    along = u[0] * hinge[0] + u[1] * hinge[1] + u[2] * hinge[2]
    n = unit((hinge[0] - along * u[0], hinge[1] - along * u[1], hinge[2] - along * u[2]))
    q: Quat = quat_from_columns(u, _cross(n, u), n)
    return q


@kernel
def solve_leg(
    hip: Vec3, ankle: Vec3, pole: Vec3, thigh_rest: Vec3, shank_rest: Vec3
) -> tuple[Quat, Quat]:
    """Turns of thigh and shank away from rest that put the ankle where it is wanted.

    Args:
        hip: Hip joint.
        ankle: Wanted ankle; if it is out of reach, the stretched leg points at it.
        pole: Direction in which the knee bends forward.
        thigh_rest: Hip to knee at rest.
        shank_rest: Knee to ankle at rest.

    Returns:
        The two turns, in the space of the arguments; the rest hinge is the lateral x axis.
    """
    span = (ankle[0] - hip[0], ankle[1] - hip[1], ankle[2] - hip[2])
    a, b = length(thigh_rest), length(shank_rest)
    distance = min(max(length(span), abs(a - b) + 1e-6), (a + b) * 0.999999)
    u = unit(span)
    hinge = unit(_cross(pole, u))
    forward = _cross(u, hinge)
    cos_hip = (a * a + distance * distance - b * b) / (2.0 * a * distance)
    sin_hip = math.sqrt(max(1.0 - cos_hip * cos_hip, 0.0))
    knee = (
        a * (cos_hip * u[0] + sin_hip * forward[0]),
        a * (cos_hip * u[1] + sin_hip * forward[1]),
        a * (cos_hip * u[2] + sin_hip * forward[2]),
    )
    shank = (distance * u[0] - knee[0], distance * u[1] - knee[1], distance * u[2] - knee[2])
    # pole x leg at rest (forward y, leg down -z) is -x
    rest_hinge = (-1.0, 0.0, 0.0)
    turn_thigh = quat_multiply(_frame(knee, hinge), quat_conjugate(_frame(thigh_rest, rest_hinge)))
    turn_shank = quat_multiply(_frame(shank, hinge), quat_conjugate(_frame(shank_rest, rest_hinge)))
    return turn_thigh, turn_shank


@kernel
def arc(a: Vec3, b: Vec3) -> Quat:
    """Shortest turn from one unit direction to another."""
    c = _cross(a, b)
    q: Quat = quat_normalise((1.0 + dot(a, b), c[0], c[1], c[2]))
    return q


@kernel
def lead_leg(
    thigh: Quat, shank: Quat, thigh_rest: Vec3, shank_rest: Vec3, flexion: Vec3, wanted: Vec3
) -> tuple[Quat, Quat]:
    """Turns of thigh and shank near the given ones that put the ankle where it is wanted.

    Args:
        thigh: Turn of the thigh away from rest.
        shank: Turn of the shank away from rest.
        thigh_rest: Hip to knee at rest.
        shank_rest: Knee to ankle at rest.
        flexion: Axis at rest about which a positive turn of the shank bends the knee.
        wanted: Hip to ankle; if it is out of reach, the stretched leg points at it.

    Returns:
        The two new turns.
    """
    t, s = quat_rotate(thigh, thigh_rest), quat_rotate(shank, shank_rest)
    a, b = math.sqrt(dot(t, t)), math.sqrt(dot(s, s))
    along, below = _unit_by_product(t), _unit_by_product(s)
    # the hinge the knee bends about now; its anatomical axis decides when the leg is straight
    hinge = _plus(_cross(along, below), _scaled(quat_rotate(thigh, flexion), 0.1))
    hinge = _unit_by_product(_plus(hinge, _scaled(along, -dot(hinge, along))))
    distance = math.sqrt(dot(wanted, wanted))
    distance = min(max(distance, abs(a - b) + 1e-3), REACH * (a + b))
    cosine = (distance * distance - a * a - b * b) / (2.0 * a * b)
    cosine = min(max(cosine, -1.0), 1.0)
    sine = math.sqrt(1.0 - cosine * cosine)
    bent = _plus(_scaled(along, cosine), _scaled(_cross(hinge, along), sine))
    new_shank = quat_multiply(arc(below, bent), shank)
    swing = arc(_unit_by_product(_plus(t, _scaled(bent, b))), _unit_by_product(wanted))
    return quat_normalise(quat_multiply(swing, thigh)), quat_normalise(
        quat_multiply(swing, new_shank)
    )


@kernel
def lead_legs(
    thighs: FloatArray,
    shanks: FloatArray,
    thigh_rest: FloatArray,
    shank_rest: FloatArray,
    flexion: FloatArray,
    wanted: FloatArray,
) -> None:
    """:func:`lead_leg` for (frames, 2) legs, in place; ``wanted`` is (frames, 2, 3)."""
    axis = (flexion[0], flexion[1], flexion[2])
    for t in range(thighs.shape[0]):
        for side in range(2):
            p, q = thighs[t, side], shanks[t, side]
            w = wanted[t, side]
            new_thigh, new_shank = lead_leg(
                (p[0], p[1], p[2], p[3]),
                (q[0], q[1], q[2], q[3]),
                (thigh_rest[side, 0], thigh_rest[side, 1], thigh_rest[side, 2]),
                (shank_rest[side, 0], shank_rest[side, 1], shank_rest[side, 2]),
                axis,
                (w[0], w[1], w[2]),
            )
            for i in range(4):
                p[i] = new_thigh[i]
                q[i] = new_shank[i]


def lowering_m(wanted_m: FloatArray, leg_m: FloatArray, up: int, rate_hz: float) -> FloatArray:
    """Distance the pelvis must sink in each frame so that both feet are in reach, smoothed.

    Args:
        wanted_m: (frames, 2, 3) hip to ankle.
        leg_m: (2,) leg lengths.
        up: Index of the vertical axis.
        rate_hz: Frames per second.
    """
    flat = np.delete(wanted_m, up, axis=2)
    room = (REACH * leg_m) ** 2 - np.einsum("tsi,tsi->ts", flat, flat)
    # a foot further away on the ground than the leg is long cannot be helped by sinking
    need = -wanted_m[..., up] - np.sqrt(np.maximum(room, (0.5 * leg_m) ** 2))
    need = np.clip(need.max(axis=1), 0.0, 0.25 * float(leg_m.max()))
    if not need.any():
        return np.zeros(len(need))
    wide = maximum_filter1d(need, 2 * round(0.1 * rate_hz) + 1, mode="nearest")
    smooth = gaussian_filter1d(wide, 0.07 * rate_hz, mode="nearest")
    return np.asarray(np.maximum(smooth, need))
