"""Distance between two motions of the same person: joints (MPJPE, PA-MPJPE) and path."""

from __future__ import annotations

import numpy as np

from jaywalk.motion.rotation import FloatArray


def mpjpe_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """Mean distance of joints (frames, joints, 3) once the pelvis (joint 0) is laid over the other.

    Orientation and size count.
    """
    apart = (found_m - found_m[:, :1]) - (true_m - true_m[:, :1])
    return float(np.linalg.norm(apart, axis=-1).mean())


def pa_mpjpe_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """As :func:`mpjpe_m` after the best similarity (turn, size, place) of every frame."""
    a = found_m - found_m.mean(axis=1, keepdims=True)
    b = true_m - true_m.mean(axis=1, keepdims=True)
    u, sizes, vt = np.linalg.svd(np.einsum("tki,tkj->tij", b, a))
    flip = np.ones((len(a), 3))
    flip[:, 2] = np.sign(np.linalg.det(u @ vt))
    turn = (u * flip[:, None]) @ vt
    scale = (sizes * flip).sum(axis=1) / np.maximum((a * a).sum(axis=(1, 2)), 1e-12)
    fitted = scale[:, None, None] * np.einsum("tij,tkj->tki", turn, a)
    return float(np.linalg.norm(fitted - b, axis=-1).mean())


def path_error_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """Root mean square distance on the ground of two pelvis paths (frames, 3), as they lie."""
    apart = (found_m - true_m)[:, [0, 2]]
    return float(np.sqrt((apart * apart).sum(axis=1).mean()))


def path_shape_error_m(found_m: FloatArray, true_m: FloatArray) -> float:
    """As :func:`path_error_m` once the mean places agree: what is left in a library's clip."""
    moved = found_m - found_m.mean(axis=0) + true_m.mean(axis=0)
    return path_error_m(moved, true_m)
