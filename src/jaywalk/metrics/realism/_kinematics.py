"""Speeds and accelerations by central differences, and displacement from the log.

Single precision is part of the definition: under the 2023 configuration a bin edge of the
accelerations lies at zero, where the rounding of the official code decides the bin. The
displacement between rollouts and the log is reported, but is not part of the score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, Float32Array, IntArray
from jaywalk.metrics.realism._trajectories import SceneTrajectories
from jaywalk.metrics.realism.scene import STEP_S


def displacement(
    log: SceneTrajectories,
    sim: SceneTrajectories,
    rows: IntArray,
    *,
    from_step: int,
    in_space: bool,
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


_PI = np.float32(np.pi)
_TWO_PI = np.float32(2.0 * np.pi)
_DT = np.float32(STEP_S)
_DT2 = np.float32(STEP_S**2)


def central_difference(values: Float32Array) -> Float32Array:
    """Half the difference between the neighbours along the last axis; NaN at both ends."""
    out = np.full(values.shape, np.nan, dtype=np.float32)
    out[..., 1:-1] = (values[..., 2:] - values[..., :-2]) / np.float32(2.0)
    return out


def wrap(angle_rad: Float32Array) -> Float32Array:
    """Angles in [-pi, pi)."""
    return np.asarray(np.mod(angle_rad + _PI, _TWO_PI) - _PI, dtype=np.float32)


def linear_speed(
    x_m: Float32Array, y_m: Float32Array, z_m: Float32Array | None = None
) -> Float32Array:
    """Norm of the velocity, in space or (without z) in the plane."""
    dx, dy = central_difference(x_m), central_difference(y_m)
    squares = dx * dx + dy * dy
    if z_m is not None:
        dz = central_difference(z_m)
        squares = squares + dz * dz
    return np.asarray(np.sqrt(squares) / _DT, dtype=np.float32)


def linear_acceleration(speed_mps: Float32Array) -> Float32Array:
    """Signed change of the speed."""
    return central_difference(speed_mps) / _DT


def _angular_step(heading_rad: Float32Array) -> Float32Array:
    return wrap(central_difference(heading_rad) * np.float32(2.0)) / np.float32(2.0)


def angular_speed(heading_rad: Float32Array) -> Float32Array:
    """Wrapped change of heading over two steps, halved, per second."""
    return _angular_step(heading_rad) / _DT


def angular_acceleration(heading_rad: Float32Array) -> Float32Array:
    """Compute the angular acceleration: the wrapped difference of headings, applied twice."""
    return _angular_step(_angular_step(heading_rad)) / _DT2


def difference_validity(valid: BoolArray) -> BoolArray:
    """Return whether both neighbours of each step are valid; False at both ends."""
    out = np.zeros_like(valid)
    out[..., 1:-1] = valid[..., 2:] & valid[..., :-2]
    return out
