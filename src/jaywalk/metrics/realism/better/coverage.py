"""Many futures are right: does the ensemble hold the one that happened, and how wide is it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism.scene import N_HISTORY, Case

_NEAR_M = 2.0


def coverage(case: Case) -> dict[str, float]:
    """Numbers over the evaluated agents, at the last step at which the log knows them.

    Returns:
        ``coverage``: share of agents with a rollout within 2 m; ``precision``: share of rollouts
        within 2 m; ``diversity_m``: mean distance between two rollouts; ``min_error_m`` and
        ``mean_error_m``: distance of the best and of the mean rollout.
    """
    scene = case.scene
    covered, precise, spread, best, mean = [], [], [], [], []
    for index, row in zip(scene.evaluated_index, scene.evaluated_row, strict=True):
        known = np.flatnonzero(scene.valid[index, N_HISTORY:])
        if not len(known):
            continue
        step = int(known[-1])
        ends = np.stack([case.rollouts.x_m[:, row, step], case.rollouts.y_m[:, row, step]], axis=1)
        truth = np.array([scene.x_m[index, N_HISTORY + step], scene.y_m[index, N_HISTORY + step]])
        error: NDArray[np.float64] = np.linalg.norm(ends - truth, axis=1).astype(np.float64)
        covered.append(bool(error.min() < _NEAR_M))
        precise.append(float((error < _NEAR_M).mean()))
        best.append(float(error.min()))
        mean.append(float(error.mean()))
        pairs = np.linalg.norm(ends[:, None] - ends[None], axis=-1)
        spread.append(float(pairs.sum()) / max(len(ends) * (len(ends) - 1), 1))
    if not covered:
        return {}
    return {
        "coverage": float(np.mean(covered)),
        "precision": float(np.mean(precise)),
        "diversity_m": float(np.mean(spread)),
        "min_error_m": float(np.mean(best)),
        "mean_error_m": float(np.mean(mean)),
    }
