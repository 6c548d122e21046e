"""How varied a collection of motions is, and how much of another one it covers.

Distances are between two-second windows (:mod:`jaywalk.metrics.motion.frechet`), standardised and
projected with a reference. Windows of one base motion are neighbours of each other for no merit,
so neighbours are only ever counted in other motions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.metrics.motion.frechet import COMPONENTS, gaussian_frechet, window_features
from jaywalk.motion.clip import Motion
from jaywalk.motion.kinematics import IntArray
from jaywalk.motion.rotation import FloatArray

NEIGHBOURS: Final = 5
WINDOWS_PER_GROUP: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Features of the windows of a collection.

    Attributes:
        features: (windows, features).
        group: (windows,) number of the base motion each belongs to.
    """

    features: FloatArray
    group: IntArray

    def __len__(self) -> int:
        return len(self.features)


def collect_windows(motions: Iterable[Motion], groups: Sequence[str]) -> Windows:
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
    return Windows(features=np.concatenate(rows), group=np.array(owners, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The space of a reference in which distances are taken."""

    mean: FloatArray
    spread: FloatArray
    axes: FloatArray

    def of(self, windows: Windows) -> FloatArray:
        """(windows, 16) places."""
        return np.asarray(((windows.features - self.mean) / self.spread) @ self.axes.T)


def space_of(reference: Windows) -> Space:
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
    """How a collection lies beside a reference.

    Attributes:
        windows: Number of its windows.
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


def likeness(collection: Windows, reference: Windows, space: Space) -> Likeness:
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


def distinct_share(collection: Windows, reference: Windows, space: Space) -> float:
    """Share of a collection's motions that are no near copies of another one of it.

    A motion is a copy when its windows lie (median) nearer to another motion than the closest
    hundredth of the reference's windows lie to other motions.
    """
    own = nearest_other(space.of(collection), collection.group)
    limit = np.percentile(nearest_other(space.of(reference), reference.group), 1.0)
    groups = np.unique(collection.group)
    return float(np.mean([np.median(own[collection.group == g]) > limit for g in groups]))
