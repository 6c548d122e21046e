"""Rotations: matrices and rotators of CARLA, quaternions in batches and in compiled kernels.

A quaternion is the tuple ``(w, x, y, z)`` of the matrix acting on column vectors of CARLA's
left-handed coordinates (:func:`rotation_matrix_carla`). The algebra is the same for both
handednesses; only the rotator conversions carry Unreal's signs. ``multiply(a, b)`` turns by ``b``
first, and a child's global rotation is ``multiply(parent_global, local)``.

Batches are arrays (..., 4) of quaternions, (..., 3, 3) of matrices, (..., 3) of rotation vectors
and (..., 6) of the first two columns of a matrix.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.core.units import DEG_TO_RAD

IDENTITY: Final[FloatArray] = np.array([1.0, 0.0, 0.0, 0.0])


def rotation_matrix_carla(pitch_deg: float, yaw_deg: float, roll_deg: float) -> FloatArray:
    """Rotation matrix of an Unreal rotator: columns are forward, right and up.

    The same matrix as ``carla.Transform.get_matrix``: world = R @ local, both left-handed.
    """
    cp, sp = np.cos(np.deg2rad(pitch_deg)), np.sin(np.deg2rad(pitch_deg))
    cy, sy = np.cos(np.deg2rad(yaw_deg)), np.sin(np.deg2rad(yaw_deg))
    cr, sr = np.cos(np.deg2rad(roll_deg)), np.sin(np.deg2rad(roll_deg))
    return np.array(
        [
            [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr],
            [cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr],
            [sp, -cp * sr, cp * cr],
        ]
    )


def rotator_from_matrix(rotation: FloatArray) -> tuple[float, float, float]:
    """Inverse of :func:`rotation_matrix_carla`: (pitch, yaw, roll) in degrees."""
    pitch = np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    roll = np.arctan2(-rotation[2, 1], rotation[2, 2])
    return float(np.rad2deg(pitch)), float(np.rad2deg(yaw)), float(np.rad2deg(roll))


@kernel
def fill_rotation_matrix(pitch: float, yaw: float, roll: float, out: FloatArray) -> None:
    """Write the matrix of an Unreal rotator in radians; columns are forward, right and up."""
    cp, sp = np.cos(pitch), np.sin(pitch)
    cy, sy = np.cos(yaw), np.sin(yaw)
    cr, sr = np.cos(roll), np.sin(roll)
    out[0, 0], out[0, 1], out[0, 2] = cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr
    out[1, 0], out[1, 1], out[1, 2] = cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr
    out[2, 0], out[2, 1], out[2, 2] = sp, -cp * sr, cp * cr


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Product ``a b`` with broadcasting."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: FloatArray) -> FloatArray:
    """Inverse of unit quaternions."""
    return np.asarray(np.asarray(q) * np.array([1.0, -1.0, -1.0, -1.0]))


def normalise(q: FloatArray) -> FloatArray:
    """Scale to unit length."""
    out: FloatArray = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return out


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Rotate vectors (..., 3), with broadcasting."""
    q, v = np.asarray(q), np.asarray(v)
    u = q[..., 1:]
    t = 2.0 * np.cross(u, v)
    out: FloatArray = v + q[..., :1] * t + np.cross(u, t)
    return out


def from_rotvec(vectors: FloatArray) -> FloatArray:
    """Exponential map: axis times angle, NOT three successive Euler angles."""
    vectors = np.asarray(vectors, dtype=np.float64)
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    # sin(a/2)/a, by its series near zero
    factor = np.where(
        angle < 1e-6,
        0.5 - angle**2 / 48.0,
        np.sin(0.5 * angle) / np.where(angle < 1e-6, 1.0, angle),
    )
    return np.concatenate([np.cos(0.5 * angle), vectors * factor], axis=-1)


def to_rotvec(q: FloatArray) -> FloatArray:
    """Logarithm: rotation vectors of at most pi."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    out: FloatArray = q[..., 1:] * np.where(
        sine < 1e-9, 2.0, angle / np.where(sine < 1e-9, 1.0, sine)
    )
    return out


def from_matrix(matrices: FloatArray) -> FloatArray:
    """Quaternions of proper rotation matrices (..., 3, 3)."""
    # Imported here: most users of this module need no scipy, which is slow to import.
    from scipy.spatial.transform import Rotation

    flat = np.asarray(matrices, dtype=np.float64).reshape(-1, 3, 3)
    xyzw = Rotation.from_matrix(flat).as_quat()
    return np.asarray(xyzw[:, [3, 0, 1, 2]].reshape(*np.shape(matrices)[:-2], 4))


def to_matrix(q: FloatArray) -> FloatArray:
    """Matrices (..., 3, 3) acting on column vectors."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angle_between_rad(a: FloatArray, b: FloatArray) -> FloatArray:
    """Geodesic angle, exact also for tiny differences."""
    d = multiply(conjugate(a), b)
    half = np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))
    return np.asarray(2.0 * half)


def continuous(q: FloatArray) -> FloatArray:
    """Choose signs so that neighbours along the first axis lie in the same half-space."""
    dots = np.einsum("...i,...i->...", q[1:], q[:-1])
    signs = np.concatenate([np.ones((1, *dots.shape[1:])), np.where(dots < 0.0, -1.0, 1.0)])
    out: FloatArray = q * np.cumprod(signs, axis=0)[..., None]
    return out


def slerp(a: FloatArray, b: FloatArray, weight: FloatArray) -> FloatArray:
    """Shortest-arc interpolation; ``weight`` broadcasts against the leading axes."""
    dot = np.einsum("...i,...i->...", a, b)
    b = np.where((dot < 0.0)[..., None], -b, b)
    delta = to_rotvec(multiply(conjugate(a), b))
    return multiply(a, from_rotvec(delta * np.asarray(weight)[..., None]))


def shortest_arc(a: FloatArray, b: FloatArray) -> FloatArray:
    """Smallest rotation that takes directions ``a`` to ``b`` (..., 3), with broadcasting."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    a, b = np.broadcast_arrays(a, b)
    w = 1.0 + np.einsum("...i,...i->...", a, b)
    q = np.concatenate([w[..., None], np.cross(a, b)], axis=-1)
    # opposite directions: half a turn about anything square to them
    other = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    half = np.concatenate([np.zeros_like(w)[..., None], np.cross(a, other)], axis=-1)
    return normalise(np.where((w < 1e-9)[..., None], half, q))


def matrix_from_6d(numbers: FloatArray) -> FloatArray:
    """HumanML3D's six numbers, the matrix's first two COLUMNS, to matrices by Gram-Schmidt.

    PyTorch3D stores ROWS: transpose the result for its files. The scale of the numbers does not
    matter; parallel columns describe no rotation.
    """
    a, b = np.asarray(numbers)[..., :3], np.asarray(numbers)[..., 3:]
    x = a / np.linalg.norm(a, axis=-1, keepdims=True)
    y = b - np.einsum("...i,...i->...", x, b)[..., None] * x
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def matrix_to_6d(matrices: FloatArray) -> FloatArray:
    """Inverse of :func:`matrix_from_6d`."""
    return np.concatenate([matrices[..., :, 0], matrices[..., :, 1]], axis=-1)


Quat: TypeAlias = tuple[float, float, float, float]
Vec3: TypeAlias = tuple[float, float, float]


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
        quat_multiply(quat_about_z(yaw_deg * DEG_TO_RAD), quat_about_y(-pitch_deg * DEG_TO_RAD)),
        quat_about_x(-roll_deg * DEG_TO_RAD),
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
    return (
        pitch / DEG_TO_RAD,
        math.atan2(r10, r00) / DEG_TO_RAD,
        math.atan2(-r21, r22) / DEG_TO_RAD,
    )


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
