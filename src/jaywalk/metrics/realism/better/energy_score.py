"""Proper scores of an ensemble against what happened: energy score, and CRPS as its 1-d case."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel


@kernel
def _energy(log: NDArray[np.float64], sim: NDArray[np.float64]) -> NDArray[np.float64]:
    n_rollouts, n_items, n_dims = sim.shape
    out = np.empty(n_items)
    for item in range(n_items):
        error, spread = 0.0, 0.0
        for k in range(n_rollouts):
            square = 0.0
            for d in range(n_dims):
                square += (sim[k, item, d] - log[item, d]) ** 2
            error += math.sqrt(square)
            for other in range(k):
                square = 0.0
                for d in range(n_dims):
                    square += (sim[k, item, d] - sim[other, item, d]) ** 2
                spread += math.sqrt(square)
        out[item] = error / n_rollouts - spread / (n_rollouts * n_rollouts)
    return out


def energy_score(log: NDArray[np.float64], sim: NDArray[np.float64]) -> NDArray[np.float64]:
    """Energy score of every item: mean distance to the log minus half the mean spread.

    Zero if all members equal the log; a certain and wrong ensemble pays the whole distance.

    Args:
        log: What happened [item, dimension].
        sim: The ensemble [rollout, item, dimension].
    """
    return _energy(
        np.ascontiguousarray(log, dtype=np.float64), np.ascontiguousarray(sim, dtype=np.float64)
    )


def crps(log: NDArray[np.float64], sim: NDArray[np.float64]) -> NDArray[np.float64]:
    """Continuous ranked probability score of every item; ``sim`` is [rollout, item]."""
    return energy_score(log[:, None], sim[:, :, None])
