"""Quaternions and Unreal rotators for compiled kernels.

A quaternion is the tuple ``(w, x, y, z)`` of the matrix acting on column vectors of CARLA's
left-handed coordinates (``jaywalk.core.frames.rotation_matrix_carla``). The algebra does not care
about handedness; only the rotator conversions carry Unreal's signs.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel

Quat: TypeAlias = tuple[float, float, float, float]
Vec3: TypeAlias = tuple[float, float, float]
FloatArray: TypeAlias = NDArray[np.float64]

_DEG = math.pi / 180.0


@kernel
def quat_multiply(a: Quat, b: Quat) -> Quat:
    """Product ``a b``: rotate by ``b`` first, then by ``a``."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def quat_conjugate(a: Quat) -> Quat:
    """Inverse of a unit quaternion."""
    return (a[0], -a[1], -a[2], -a[3])


@kernel
def quat_normalise(a: Quat) -> Quat:
    """Scale to unit length; a zero quaternion becomes the identity."""
    norm = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    if norm < 1e-12:
        return (1.0, 0.0, 0.0, 0.0)
    return (a[0] / norm, a[1] / norm, a[2] / norm, a[3] / norm)


@kernel
def quat_rotate(q: Quat, v: Vec3) -> Vec3:
    """Rotate a vector."""
    tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
    ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
    tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
    return (
        v[0] + q[0] * tx + q[2] * tz - q[3] * ty,
        v[1] + q[0] * ty + q[3] * tx - q[1] * tz,
        v[2] + q[0] * tz + q[1] * ty - q[2] * tx,
    )


@kernel
def quat_about_x(angle_rad: float) -> Quat:
    """Turn about x (algebraic sense: y goes towards z)."""
    return (math.cos(0.5 * angle_rad), math.sin(0.5 * angle_rad), 0.0, 0.0)


@kernel
def quat_about_y(angle_rad: float) -> Quat:
    """Turn about y (algebraic sense: z goes towards x)."""
    return (math.cos(0.5 * angle_rad), 0.0, math.sin(0.5 * angle_rad), 0.0)


@kernel
def quat_about_z(angle_rad: float) -> Quat:
    """Turn about z (algebraic sense: x goes towards y; CARLA's yaw)."""
    return (math.cos(0.5 * angle_rad), 0.0, 0.0, math.sin(0.5 * angle_rad))


@kernel
def quat_from_rotator(pitch_deg: float, yaw_deg: float, roll_deg: float) -> Quat:
    """Quaternion of an Unreal rotator: Rz(yaw) Ry(-pitch) Rx(-roll)."""
    q: Quat = quat_multiply(
        quat_multiply(quat_about_z(yaw_deg * _DEG), quat_about_y(-pitch_deg * _DEG)),
        quat_about_x(-roll_deg * _DEG),
    )
    return q


@kernel
def rotator_from_quat(q: Quat) -> Vec3:
    """(pitch, yaw, roll) in degrees; pitch by atan2, since rest hands and toes are near 90."""
    w, x, y, z = q
    r00 = 1.0 - 2.0 * (y * y + z * z)
    r10 = 2.0 * (x * y + w * z)
    r20 = 2.0 * (x * z - w * y)
    r21 = 2.0 * (y * z + w * x)
    r22 = 1.0 - 2.0 * (x * x + y * y)
    pitch = math.atan2(r20, math.sqrt(r00 * r00 + r10 * r10))
    return (pitch / _DEG, math.atan2(r10, r00) / _DEG, math.atan2(-r21, r22) / _DEG)


@kernel
def quat_from_columns(a: Vec3, b: Vec3, c: Vec3) -> Quat:
    """Quaternion of the rotation matrix whose columns are ``a``, ``b``, ``c``."""
    trace = a[0] + b[1] + c[2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(trace + 1.0)
        return (0.25 * s, (b[2] - c[1]) / s, (c[0] - a[2]) / s, (a[1] - b[0]) / s)
    if a[0] >= b[1] and a[0] >= c[2]:
        s = 2.0 * math.sqrt(1.0 + a[0] - b[1] - c[2])
        return ((b[2] - c[1]) / s, 0.25 * s, (b[0] + a[1]) / s, (c[0] + a[2]) / s)
    if b[1] >= c[2]:
        s = 2.0 * math.sqrt(1.0 + b[1] - a[0] - c[2])
        return ((c[0] - a[2]) / s, (b[0] + a[1]) / s, 0.25 * s, (c[1] + b[2]) / s)
    s = 2.0 * math.sqrt(1.0 + c[2] - a[0] - b[1])
    return ((a[1] - b[0]) / s, (c[0] + a[2]) / s, (c[1] + b[2]) / s, 0.25 * s)


@kernel
def quat_slerp(a: Quat, b: Quat, weight: float) -> Quat:
    """Shortest-arc interpolation; weight 0 gives ``a``, 1 gives ``b``."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0
    if dot < 0.0:
        dot, sign = -dot, -1.0
    if dot > 0.9999995:  # nearly equal: the sine below would divide by zero
        wa, wb = 1.0 - weight, sign * weight
    else:
        angle = math.acos(dot)
        wa = math.sin((1.0 - weight) * angle) / math.sin(angle)
        wb = sign * math.sin(weight * angle) / math.sin(angle)
    q: Quat = quat_normalise(
        (
            wa * a[0] + wb * b[0],
            wa * a[1] + wb * b[1],
            wa * a[2] + wb * b[2],
            wa * a[3] + wb * b[3],
        )
    )
    return q


@kernel
def transforms_from_rotators(rows: FloatArray) -> FloatArray:
    """(n, 6) rows ``x y z pitch yaw roll`` (degrees) to (n, 7) rows ``x y z qw qx qy qz``."""
    out = np.empty((rows.shape[0], 7))
    for i in range(rows.shape[0]):
        q = quat_from_rotator(rows[i, 3], rows[i, 4], rows[i, 5])
        out[i, 0], out[i, 1], out[i, 2] = rows[i, 0], rows[i, 1], rows[i, 2]
        out[i, 3], out[i, 4], out[i, 5], out[i, 6] = q[0], q[1], q[2], q[3]
    return out
