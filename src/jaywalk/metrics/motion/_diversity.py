"""Diversity of a collection of motions, and its coverage of and distance to a reference.

Distances are between two-second windows of motion, standardised and projected with a reference.
Windows of one base motion are trivially close to each other, so neighbours are counted only in
other motions.

The Frechet distance between collections uses standardised window features. The evaluator network
that is usual for this distance is not free. The features here are plain statistics of short
windows, so figures are comparable only with figures of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.motion.clip import Clip
from jaywalk.motion.heading import heading_rad, yaw_matrix_2d

WINDOW_S: Final = 2.0
COMPONENTS: Final = 16


def window_features(motion: Clip, *, window_s: float = WINDOW_S) -> FloatArray:
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
                    body.mean(0),
                    body.std(0),
                    speed[cut].mean(0),
                    speed[cut].std(0),
                    travel[cut].mean(0),
                    turning[cut].mean(0),
                ]
            )
        )
    width = 2 * joints.shape[1] * 3 + 2 * joints.shape[1] + 3
    return np.array(rows) if rows else np.zeros((0, width))


def collection_features(motions: Iterable[Clip]) -> FloatArray:
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


NEIGHBOURS: Final = 5
WINDOWS_PER_GROUP: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionWindows:
    """Features of the windows of a collection.

    Attributes:
        features: (windows, features).
        group: (windows,) number of the base motion each belongs to.
    """

    features: FloatArray
    group: IntArray

    def __len__(self) -> int:
        return len(self.features)


def collect_windows(motions: Iterable[Clip], groups: Sequence[str]) -> MotionWindows:
    """Windows of motions on the body of scale 1, at most 8 of each group.

    Args:
        motions: The collection.
        groups: Name of each motion's base (for captures the sequence), as many as motions.
    """
    rows, owners, taken = [], [], dict.fromkeys(groups, 0)
    number = {name: i for i, name in enumerate(dict.fromkeys(groups))}
    for motion, name in zip(motions, groups, strict=True):
        unit = replace(motion, root_m=motion.root_m / motion.body_scale, body_scale=1.0)
        found = window_features(unit)[: WINDOWS_PER_GROUP - taken[name]]
        taken[name] += len(found)
        rows.append(found)
        owners.extend([number[name]] * len(found))
    if not owners:
        raise UsageError("no motion lasts two seconds; nothing to compare")
    return MotionWindows(features=np.concatenate(rows), group=np.array(owners, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Feature space of a reference, in which distances are measured."""

    mean: FloatArray
    spread: FloatArray
    axes: FloatArray

    def of(self, windows: MotionWindows) -> FloatArray:
        """(windows, 16) places."""
        return np.asarray(((windows.features - self.mean) / self.spread) @ self.axes.T)


def space_of(reference: MotionWindows) -> Space:
    """Standardised leading components of a reference.

    Raises:
        UsageError: It has too few windows.
    """
    if len(reference) <= COMPONENTS:
        raise UsageError(f"{len(reference)} windows; more than {COMPONENTS} are needed")
    mean = reference.features.mean(axis=0)
    spread = np.maximum(reference.features.std(axis=0), 1e-6)
    _, _, axes = np.linalg.svd((reference.features - mean) / spread, full_matrices=False)
    return Space(mean=mean, spread=spread, axes=axes[:COMPONENTS])


def _distances(a: FloatArray, b: FloatArray) -> FloatArray:
    square = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * (a @ b.T)
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def nearest_other(places: FloatArray, group: IntArray, rank: int = 1) -> FloatArray:
    """(windows,) distance to the ``rank``-th nearest window of other groups of the same set."""
    distance = _distances(places, places)
    distance[group[:, None] == group] = np.inf
    return np.asarray(np.sort(distance, axis=1)[:, rank - 1])


def nearest(places: FloatArray, reference: FloatArray) -> FloatArray:
    """(windows,) distance to the nearest window of another set."""
    return np.asarray(_distances(places, reference).min(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Similarity of a collection to a reference.

    Attributes:
        windows: Number of windows in the collection.
        frechet: Frechet distance to the reference.
        coverage: Share of the reference's windows that have one of the collection's nearer than
            their fifth neighbour in the reference.
        precision: Share of its windows nearer to one of the reference's than that one's radius.
        nearest: Median distance of its windows to the reference's.
        spread: Median distance of its windows to the nearest of its other motions, among as many
            motions as the reference has.
    """

    windows: int
    frechet: float
    coverage: float
    precision: float
    nearest: float
    spread: float


def likeness(collection: MotionWindows, reference: MotionWindows, space: Space) -> Likeness:
    """Compare a collection with a reference."""
    a, b = space.of(collection), space.of(reference)
    groups = len(np.unique(reference.group))
    radius = nearest_other(b, reference.group, min(NEIGHBOURS, groups - 1))
    distance = _distances(a, b)
    return Likeness(
        windows=len(collection),
        frechet=gaussian_frechet(a, b),
        coverage=float((distance.min(axis=0) <= radius).mean()),
        precision=float((distance <= radius).any(axis=1).mean()),
        nearest=float(np.median(distance.min(axis=1))),
        spread=spread_among(a, collection.group, groups),
    )


def spread_among(places: FloatArray, group: IntArray, count: int) -> float:
    """Median distance to the nearest window of another motion, among ``count`` motions.

    The more motions there are, the nearer the nearest: only equal numbers compare. The motions are
    taken evenly from the collection.
    """
    groups = np.unique(group)
    chosen = groups[np.linspace(0, len(groups) - 1, min(count, len(groups))).astype(np.int64)]
    kept = np.isin(group, chosen)
    return float(np.median(nearest_other(places[kept], group[kept])))


def distinct_share(collection: MotionWindows, reference: MotionWindows, space: Space) -> float:
    """Return the share of a collection's motions that are not near copies of another motion in it.

    A motion is a copy when its windows lie (median) nearer to another motion than the closest
    hundredth of the reference's windows lie to other motions.
    """
    own = nearest_other(space.of(collection), collection.group)
    limit = np.percentile(nearest_other(space.of(reference), reference.group), 1.0)
    groups = np.unique(collection.group)
    return float(np.mean([np.median(own[collection.group == g]) > limit for g in groups]))
