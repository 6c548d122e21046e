"""Two-bone leg solved exactly from the hip, the ankle and the side the knee points to."""

from __future__ import annotations

import math

from jaywalk.core.kernels import kernel
from jaywalk.motion.rotation import (
    Quat,
    Vec3,
    quat_conjugate,
    quat_from_columns,
    quat_multiply,
)


@kernel
def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def _unit(a: Vec3) -> Vec3:
    norm = max(math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), 1e-12)
    return (a[0] / norm, a[1] / norm, a[2] / norm)


@kernel
def _length(a: Vec3) -> float:
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def _frame(direction: Vec3, hinge: Vec3) -> Quat:
    """Orientation with one axis along a bone and one along the hinge square to it."""
    u = _unit(direction)
    dot = u[0] * hinge[0] + u[1] * hinge[1] + u[2] * hinge[2]
    n = _unit((hinge[0] - dot * u[0], hinge[1] - dot * u[1], hinge[2] - dot * u[2]))
    q: Quat = quat_from_columns(u, _cross(n, u), n)
    return q


@kernel
def solve_leg(
    hip: Vec3, ankle: Vec3, pole: Vec3, thigh_rest: Vec3, shank_rest: Vec3
) -> tuple[Quat, Quat]:
    """Turns of thigh and shank away from rest that put the ankle where it is wanted.

    Args:
        hip: Hip joint.
        ankle: Wanted ankle; out of reach, the leg points at it stretched.
        pole: Direction in which the knee bends forward.
        thigh_rest: Hip to knee at rest.
        shank_rest: Knee to ankle at rest.

    Returns:
        The two turns, in the space of the arguments; the rest hinge is the lateral x axis.
    """
    span = (ankle[0] - hip[0], ankle[1] - hip[1], ankle[2] - hip[2])
    a, b = _length(thigh_rest), _length(shank_rest)
    distance = min(max(_length(span), abs(a - b) + 1e-6), (a + b) * 0.999999)
    u = _unit(span)
    hinge = _unit(_cross(pole, u))
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
