"""Decisions per pedestrian, from the sequence of decisions about their samples.

Sample weights favour early decisions about actions, and risks ahead of the car.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray

EARLINESS_SIGMA = 0.3
CENTRALITY_SIGMA = 0.5


def earliness_weights(tte_frames: NDArray[np.int64], sigma: float = EARLINESS_SIGMA) -> FloatArray:
    """Return weights that fall as the event comes nearer, 1 at the longest time to event given.

    >>> earliness_weights(np.array([90, 60])).round(4).tolist()
    [1.0, 0.5394]
    """
    longest = float(tte_frames.max())
    nearness = (longest - tte_frames.astype(np.float64)) / longest
    return np.exp(-0.5 * (nearness / sigma) ** 2)


def centrality_weights(
    regions: NDArray[np.int64], n_regions: int, sigma: float = CENTRALITY_SIGMA
) -> FloatArray:
    """Return weights that fall from the middle of the picture to its sides.

    With an even number of regions the two in the middle both have weight 1.

    >>> centrality_weights(np.arange(12), 12).round(3).tolist()[:6]
    [0.249, 0.411, 0.607, 0.801, 0.946, 1.0]
    """
    half = -(-n_regions // 2)
    place = regions.astype(np.float64)
    middle = (n_regions - 1) / 2.0
    # Half a region less for an even number, so that the distance of both middle ones is 0.
    distance = np.abs(place - middle) - (0.5 if n_regions % 2 == 0 else 0.0)
    return np.exp(-0.5 * ((distance / half) / sigma) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDecisions:
    """A model's decisions and confidence for each pedestrian.

    Attributes:
        truth: Label of the pedestrian's first sample.
        mean_confidence: Mean of the confidence vectors, ``(n, K)``.
        soft: Decision on the mean confidence.
        hard: The common decision of all samples; a wrong class if they differ.
        unanimous: Whether all samples were decided alike.
        max_delta: Largest change of any class's confidence between consecutive samples.
        mean_delta: Mean change over steps and classes; 0 for a single sample.
        n_samples: Samples of the pedestrian.
        label_changes: Whether the label differs between samples (risk only).
    """

    truth: IntArray
    mean_confidence: FloatArray
    soft: IntArray
    hard: IntArray
    unanimous: NDArray[np.bool_]
    max_delta: FloatArray
    mean_delta: FloatArray
    n_samples: IntArray
    label_changes: NDArray[np.bool_]


def decide(confidence: FloatArray) -> IntArray:
    """Return the class decided on: of a single column above one half, else the largest.

    One half itself is a "no", as rounding to even makes it in the benchmark.
    """
    if confidence.shape[1] == 1:
        return np.asarray(confidence[:, 0] > 0.5, np.int64)
    return np.asarray(confidence.argmax(1), np.int64)


def number_in_order(names: NDArray[np.str_]) -> tuple[IntArray, int]:
    """Number the pedestrians by first appearance; return the number of each sample and how many."""
    unique, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    rank = np.empty(len(unique), np.int64)
    rank[np.argsort(first)] = np.arange(len(unique))
    return rank[inverse], len(unique)


def group_instances(
    truth: IntArray, confidence: FloatArray, instance: IntArray, *, exact: bool = False
) -> InstanceDecisions:
    """Gather samples into pedestrians.

    Args:
        truth: Label of each sample.
        confidence: Confidence of each sample, ``(n, K)``; one column for a binary task.
        instance: Number of each sample's pedestrian, 0 to n - 1; samples in time order.
        exact: Call decisions unanimous only if all are equal. The benchmark compares their mean
            with the first, so that 5, 4, 6 passes for many classes; this is the default here too,
            for the published numbers.
    """
    order = np.argsort(instance, kind="stable")
    counts = np.bincount(instance)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    labels, values = truth[order], confidence[order]
    decisions = decide(values)
    first_label, first = labels[starts], decisions[starts]
    mean = np.add.reduceat(values, starts, axis=0) / counts[:, None]
    same = np.logical_and.reduceat(decisions == np.repeat(first, counts), starts)
    agreed = same if exact else np.add.reduceat(decisions, starts) == first * counts
    max_delta, mean_delta = _deltas(values, starts, counts)
    return InstanceDecisions(
        truth=first_label,
        mean_confidence=mean,
        soft=decide(mean),
        hard=np.where(agreed, first, _wrong(first_label, values.shape[1])),
        unanimous=agreed,
        max_delta=max_delta,
        mean_delta=mean_delta,
        n_samples=counts,
        label_changes=~np.logical_and.reduceat(labels == np.repeat(first_label, counts), starts),
    )


def _wrong(truth: IntArray, n_columns: int) -> IntArray:
    # For many classes the benchmark blames class 0, or class 1 if 0 is right.
    return 1 - truth if n_columns == 1 else (truth == 0).astype(np.int64)


def _deltas(
    values: FloatArray, starts: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    change = np.abs(np.diff(values, axis=0, prepend=values[:1]))
    change[starts] = 0.0  # the step from one pedestrian to the next does not count
    largest = np.maximum.reduceat(change.max(1), starts)
    total = np.add.reduceat(change.mean(1), starts)
    return largest, total / np.maximum(counts - 1, 1)
