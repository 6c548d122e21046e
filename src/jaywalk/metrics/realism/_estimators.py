"""Likelihood of logged values under the values simulated for the same object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, Float32Array
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism.challenge import Histogram


def bin_edges(histogram: Histogram) -> NDArray[np.float64]:
    """Edges as the official code has them: rounded to single precision."""
    edges = np.linspace(histogram.low, histogram.high, histogram.bins + 1, dtype=np.float32)
    return edges.astype(np.float64)


@kernel
def bin_of(value: float, edges: NDArray[np.float64]) -> int:
    """Bin of a value: closed on the left, values outside in the end bins, NaN in the last."""
    last = len(edges) - 2
    if value < edges[1]:
        return 0
    for i in range(1, last):
        if value < edges[i + 1]:
            return i
    return last


@kernel
def _log_probability(
    log: NDArray[np.float32],
    sim: NDArray[np.float32],
    edges: NDArray[np.float64],
    pseudocount: float,
    count_nan: bool,
) -> NDArray[np.float64]:
    n_rollouts, n_objects, n_steps = sim.shape
    n_bins = len(edges) - 1
    out = np.empty((n_objects, n_steps))
    for e in range(n_objects):
        counts = np.full(n_bins, pseudocount)
        for k in range(n_rollouts):
            for step in range(n_steps):
                value = float(sim[k, e, step])
                if count_nan or not np.isnan(value):
                    counts[bin_of(value, edges)] += 1.0
        probability = np.log(counts / counts.sum())
        for step in range(n_steps):
            out[e, step] = probability[bin_of(float(log[e, step]), edges)]
    return out


def series_log_likelihood(
    log: Float32Array,
    sim: Float32Array,
    histogram: Histogram,
    *,
    count_nan: bool = True,
    pool_objects: bool = False,
) -> NDArray[np.float64]:
    """Log-probability [object, step] of logged values under each object's pooled histogram.

    Args:
        log: Logged values [object, step].
        sim: Simulated values [rollout, object, step], all steps pooled.
        histogram: Range, bins and pseudocount.
        count_nan: Count NaN in the last bin, as the official code does, or drop it.
        pool_objects: Use one histogram for all objects of the scene.
    """
    if pool_objects:
        likelihood = series_log_likelihood(
            log.reshape(1, -1), sim.reshape(len(sim), 1, -1), histogram, count_nan=count_nan
        )
        return likelihood.reshape(log.shape)
    return _log_probability(
        np.ascontiguousarray(log),
        np.ascontiguousarray(sim),
        bin_edges(histogram),
        histogram.pseudocount,
        count_nan,
    )


def event_log_likelihood(
    log: BoolArray, sim: BoolArray, pseudocount: float, *, pool_objects: bool = False
) -> NDArray[np.float64]:
    """Log-probability [object] of a logged yes or no under the rollouts' [rollout, object]."""
    if pool_objects:
        sim = np.repeat(sim.reshape(-1, 1), len(log), axis=1)
    matches = (sim == log).sum(axis=0)
    return np.asarray(np.log((matches + pseudocount) / (len(sim) + 2.0 * pseudocount)))
