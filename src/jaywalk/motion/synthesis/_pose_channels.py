"""Joint rotations as numbers that may be averaged: rotation vectors about each joint's mean."""

from __future__ import annotations

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.rotation import conjugate, from_rotvec, multiply, to_rotvec


def mean_rotations(rotations: FloatArray) -> FloatArray:
    """(joints, 4) mean of (poses, joints, 4): the leading eigenvector of the sum of q q^T."""
    out = np.empty(rotations.shape[1:])
    for joint in range(rotations.shape[1]):
        q = rotations[:, joint]
        out[joint] = np.linalg.eigh(q.T @ q)[1][:, -1]
    return np.asarray(np.where(out[:, :1] < 0.0, -out, out))


def symmetric_means(rotations: FloatArray, mirrored: FloatArray) -> FloatArray:
    """Mean of poses and their mirror images, so that mirroring is exchange and change of sign."""
    return mean_rotations(np.concatenate([rotations, mirrored]))


def to_angles(rotations: FloatArray, means: FloatArray) -> FloatArray:
    """(..., joints, 4) to (..., 3 joints)."""
    vectors = to_rotvec(multiply(conjugate(means), rotations))
    return np.asarray(vectors.reshape(*rotations.shape[:-2], -1))


def to_rotations(angles: FloatArray, means: FloatArray) -> FloatArray:
    """Inverse of :func:`to_angles`."""
    vectors = angles.reshape(*angles.shape[:-1], -1, 3)
    return multiply(means, from_rotvec(vectors))
