"""Time-dependent costs of a scene's rollouts: densities, trajectories, recent past.

Every cost is zero for rollouts that all equal the log (densities: near zero) and grows with the
distance to it; all are continuous in the rollouts. The proper scores of an ensemble against the log
are the energy score and CRPS, its one-dimensional case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._features import CaseFeatures
from jaywalk.metrics.realism._smooth_density import SCALES, clipped, smooth_log_density
from jaywalk.metrics.realism.challenge import BUCKET_OF, INTERACTIVE, KINEMATIC, MAP_BASED
from jaywalk.metrics.realism.jaywalk_score import _closing as closing
from jaywalk.metrics.realism.jaywalk_score import _safety as edge_gap
from jaywalk.metrics.realism.scene import N_HISTORY, Case
from jaywalk.metrics.realism.score import series_mask


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
        log: Logged values [item, dimension].
        sim: The ensemble [rollout, item, dimension].
    """
    return _energy(
        np.ascontiguousarray(log, dtype=np.float64), np.ascontiguousarray(sim, dtype=np.float64)
    )


def crps(log: NDArray[np.float64], sim: NDArray[np.float64]) -> NDArray[np.float64]:
    """Continuous ranked probability score of every item; ``sim`` is [rollout, item]."""
    return energy_score(log[:, None], sim[:, :, None])


_BUCKET_OF = {**BUCKET_OF, closing.NAME: INTERACTIVE, edge_gap.NAME: MAP_BASED}
_EVERY_STEPS = 5
_LAGS_STEPS = (0, 5, 10)


def _known(features: CaseFeatures) -> list[tuple[str, float]]:
    return [item for item in SCALES.items() if item[0] in features.log.series]


def density_costs(features: CaseFeatures) -> dict[str, float]:
    """Mean negative log density by bucket, over the features of each that the log has."""
    costs: dict[str, list[float]] = {KINEMATIC: [], INTERACTIVE: [], MAP_BASED: []}
    for name, scale in _known(features):
        mask = series_mask(name, features)
        if mask.any():
            log_p = smooth_log_density(
                clipped(name, features.log.series[name][0]),
                clipped(name, features.sim.series[name]),
                scale,
            )
            costs[_BUCKET_OF[name]].append(-float(log_p[mask].mean()))
    return {f"{k}_density": float(np.mean(v)) if v else math.nan for k, v in costs.items()}


def timing_cost(features: CaseFeatures) -> float:
    """CRPS of every feature at every step, in units of the feature's scale."""
    costs = []
    for name, scale in _known(features):
        mask = series_mask(name, features)
        if mask.any():
            log = clipped(name, features.log.series[name][0])[mask].astype(np.float64)
            sim = clipped(name, features.sim.series[name])[:, mask].astype(np.float64)
            costs.append(float(crps(log, sim).mean()) / scale)
    return float(np.mean(costs)) if costs else math.nan


def trajectory_cost_m(case: Case, features: CaseFeatures) -> float:
    """Energy score of the joint trajectory of all evaluated agents, per coordinate (RMS metres)."""
    picked = np.zeros_like(features.log_valid)
    picked[:, _EVERY_STEPS - 1 :: _EVERY_STEPS] = True
    picked &= features.log_valid
    if not picked.any():
        return math.nan
    scene, rows = case.scene, case.scene.evaluated_row
    logs, sims = [], []
    for logged, simulated in ((scene.x_m, case.rollouts.x_m), (scene.y_m, case.rollouts.y_m)):
        logs.append(logged[scene.evaluated_index, N_HISTORY:][picked])
        sims.append(simulated[:, rows][:, picked])
    log = np.concatenate(logs).astype(np.float64)
    sim = np.concatenate(sims, axis=1).astype(np.float64)
    return float(energy_score(log[None], sim[:, None])[0]) / math.sqrt(int(picked.sum()))


def _lagged(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values now and at the lags before, [..., step, lag]."""
    longest = _LAGS_STEPS[-1]
    n = values.shape[-1] - longest
    parts = [values[..., longest - lag : longest - lag + n] for lag in _LAGS_STEPS]
    return np.stack(parts, axis=-1)


def recent_past_cost(features: CaseFeatures) -> float:
    """Energy score of speed and turning now, half a second ago and a second ago, together."""
    mask = series_mask("linear_speed", features)
    kept = _lagged(mask.astype(np.float64)).all(axis=-1)
    if not kept.any():
        return math.nan
    logs, sims = [], []
    for name in ("linear_speed", "angular_speed"):
        logs.append(_lagged(features.log.series[name][0].astype(np.float64))[kept] / SCALES[name])
        sims.append(_lagged(features.sim.series[name].astype(np.float64))[:, kept] / SCALES[name])
    return float(
        energy_score(
            np.concatenate(logs, axis=-1).astype(np.float64),
            np.concatenate(sims, axis=-1).astype(np.float64),
        ).mean()
    )


def likeness_costs(case: Case, features: CaseFeatures) -> Mapping[str, float]:
    """All costs of a scene; NaN where the log has nothing to compare with."""
    return {
        **density_costs(features),
        "timing": timing_cost(features),
        "recent_past": recent_past_cost(features),
        "trajectory": trajectory_cost_m(case, features),
    }
