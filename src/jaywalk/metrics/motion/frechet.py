"""Frechet distance between collections of motions, on standardised window features.

The evaluator network usually used for this is not free; these are plain statistics of short
windows, so figures compare only with figures of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.motion.clip import Motion
from jaywalk.motion.heading import heading_rad, yaw_matrix_2d
from jaywalk.motion.rotation import FloatArray

WINDOW_S: Final = 2.0
COMPONENTS: Final = 16


def window_features(motion: Motion, *, window_s: float = WINDOW_S) -> FloatArray:
    """(windows, features): means and spreads of joints in the facing frame, speeds, turning."""
    size = round(window_s * motion.rate_hz)
    joints = motion.joints_m()
    yaw = heading_rad(motion, smooth_s=0.2)
    back = np.swapaxes(yaw_matrix_2d(yaw), -1, -2)
    ground = motion.root_m[:, [0, 2]]
    local = joints.copy()
    local[..., [0, 2]] = np.einsum("tij,tkj->tki", back, joints[..., [0, 2]] - ground[:, None])
    speed = np.linalg.norm(np.gradient(joints, axis=0), axis=-1) * motion.rate_hz
    travel = np.einsum("tij,tj->ti", back, np.gradient(ground, axis=0)) * motion.rate_hz
    turning = np.gradient(yaw)[:, None] * motion.rate_hz
    rows = []
    for first in range(0, motion.frames - size + 1, size):
        cut = slice(first, first + size)
        body = local[cut].reshape(size, -1)
        rows.append(
            np.concatenate(
                [
                    body.mean(0), body.std(0), speed[cut].mean(0), speed[cut].std(0),
                    travel[cut].mean(0), turning[cut].mean(0),
                ]
            )
        )  # fmt: skip
    width = 2 * joints.shape[1] * 3 + 2 * joints.shape[1] + 3
    return np.array(rows) if rows else np.zeros((0, width))


def collection_features(motions: Iterable[Motion]) -> FloatArray:
    """Features of all windows of a collection."""
    return np.concatenate([window_features(motion) for motion in motions])


def frechet_distance(features: FloatArray, reference: FloatArray) -> float:
    """Distance of two Gaussian fits after standardising and projecting with the reference.

    Raises:
        UsageError: Fewer windows than components.
    """
    fewest = min(len(features), len(reference))
    if fewest <= COMPONENTS:
        raise UsageError(f"{fewest} windows of two seconds; more than {COMPONENTS} are needed")
    mean, spread = reference.mean(axis=0), np.maximum(reference.std(axis=0), 1e-6)
    a, b = (features - mean) / spread, (reference - mean) / spread
    _, _, axes = np.linalg.svd(b, full_matrices=False)
    return gaussian_frechet(a @ axes[:COMPONENTS].T, b @ axes[:COMPONENTS].T)


def gaussian_frechet(a: FloatArray, b: FloatArray) -> float:
    """|mean difference|^2 + tr(A + B - 2 (A B)^(1/2)) of two samples' Gaussian fits."""
    cov_a, cov_b = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    values, vectors = np.linalg.eigh(cov_a)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    # (A B)^(1/2) has the trace of (A^1/2 B A^1/2)^(1/2), which is symmetric
    middle = np.linalg.eigvalsh(root @ cov_b @ root)
    gap = a.mean(axis=0) - b.mean(axis=0)
    trace = float(np.trace(cov_a) + np.trace(cov_b) - 2.0 * np.sqrt(np.maximum(middle, 0.0)).sum())
    return float(gap @ gap) + max(trace, 0.0)
