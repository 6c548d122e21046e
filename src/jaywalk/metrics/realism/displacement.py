"""Displacement between rollouts and the log (reported, not part of the score)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism.scene import IntArray
from jaywalk.metrics.realism.trajectories import Trajectories


def displacement(
    log: Trajectories, sim: Trajectories, rows: IntArray, *, from_step: int, in_space: bool
) -> NDArray[np.float64]:
    """Mean distance to the log [rollout, row] over the steps at which the log is valid.

    Steps of the history count, with distance zero, if ``from_step`` lets them.
    """
    squares = np.zeros(())
    fields = ("x_m", "y_m", "z_m") if in_space else ("x_m", "y_m")
    for field in fields:
        a = getattr(sim, field)[:, rows, from_step:].astype(np.float64)
        b = getattr(log, field)[:, rows, from_step:].astype(np.float64)
        squares = squares + (a - b) ** 2
    valid = log.valid[rows, from_step:]
    total = np.where(valid, np.sqrt(squares), 0.0).sum(axis=2)
    return np.asarray(total / np.maximum(valid.sum(axis=1), 1), dtype=np.float64)


def average_displacement(displacement_m: NDArray[np.float64]) -> float:
    """Mean over rollouts and objects."""
    return float(displacement_m.mean())


def min_average_displacement(displacement_m: NDArray[np.float64], *, per_agent: bool) -> float:
    """Displacement of the best rollout: jointly for all objects, or for each object by itself."""
    if per_agent:
        return float(displacement_m.min(axis=0).mean())
    return float(displacement_m.mean(axis=1).min())
