"""Rotations in batches: arrays (..., 4) ``w x y z``, matrices, rotation vectors, 6D.

Column vectors throughout: ``multiply(a, b)`` turns by ``b`` first, and a child's global rotation is
``multiply(parent_global, local)``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.motion.rotation import FloatArray

IDENTITY: Final[FloatArray] = np.array([1.0, 0.0, 0.0, 0.0])


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
