"""Densities that are continuous in the data and depend on time.

The density of a feature at a step is a kernel estimate over the rollouts' values at nearby steps,
relative to the peak for a perfect copy of the log: 1 is a certain and correct forecast.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import Float32Array
from jaywalk.core.kernels import kernel

SCALES = MappingProxyType(
    {
        "linear_speed": 0.5,
        "linear_acceleration": 0.5,
        "angular_speed": 0.05,
        "angular_acceleration": 0.2,
        "distance_to_nearest_object": 1.0,
        "closing_per_s": 0.1,
        "road_edge_gap_m": 0.5,
    }
)
"""Smallest kernel width of every feature: differences below it hardly matter."""

_RANGES = MappingProxyType(
    {
        "distance_to_nearest_object": (0.0, 40.0),
        "closing_per_s": (0.0, 2.0),
        "road_edge_gap_m": (0.0, 20.0),
    }
)
"""Overlaps are safety, reported apart; for likeness they are contacts."""

_TIME_WIDTH_STEPS = 2.0
_REACH_STEPS = 4
_SILVERMAN = 1.06
_FLOOR = 1e-3


def clipped(name: str, values: Float32Array) -> Float32Array:
    """Clip values of a feature to the range that is relevant for likeness."""
    if name not in _RANGES:
        return values
    return np.clip(values, *_RANGES[name]).astype(np.float32)


@kernel
def _kernel_log_density(
    log: NDArray[np.float64], sim: NDArray[np.float64], scale: float
) -> NDArray[np.float64]:
    n_rollouts, n_objects, n_steps = sim.shape
    out = np.empty((n_objects, n_steps))
    near = np.empty(2 * _REACH_STEPS + 1)
    for i in range(len(near)):
        near[i] = math.exp(-0.5 * ((i - _REACH_STEPS) / _TIME_WIDTH_STEPS) ** 2)
    shrink = n_rollouts**-0.2
    for e in range(n_objects):
        for step in range(n_steps):
            total, mean, square = 0.0, 0.0, 0.0
            for k in range(n_rollouts):
                value = sim[k, e, step]
                if not np.isnan(value):
                    total += 1.0
                    mean += value
                    square += value * value
            spread = 0.0
            if total > 1.0:
                mean /= total
                spread = math.sqrt(max(square / total - mean * mean, 0.0))
            width = math.sqrt(scale * scale + (_SILVERMAN * shrink * spread) ** 2)
            weight, density = 0.0, 0.0
            for other in range(max(0, step - _REACH_STEPS), min(n_steps, step + _REACH_STEPS + 1)):
                w = near[other - step + _REACH_STEPS]
                for k in range(n_rollouts):
                    value = sim[k, e, other]
                    if not np.isnan(value):
                        away = (log[e, step] - value) / width
                        weight += w
                        density += w * math.exp(-0.5 * away * away)
            relative = scale / width * density / weight if weight > 0.0 else 0.0
            out[e, step] = math.log((relative + _FLOOR) / (1.0 + _FLOOR))
    return out


def smooth_log_density(log: Float32Array, sim: Float32Array, scale: float) -> NDArray[np.float64]:
    """Log of the relative density [object, step] of logged values; 0 at best.

    Args:
        log: Logged values [object, step].
        sim: Simulated values [rollout, object, step].
        scale: Smallest kernel width.
    """
    return _kernel_log_density(log.astype(np.float64), sim.astype(np.float64), scale)
