"""Rollouts that mark the scale: the log itself, constant velocity, random driving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaywalk.core.arrays import Float32Array
from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_FUTURE,
    N_HISTORY,
    STEP_S,
    LoggedScene,
    Rollouts,
)

N_ROLLOUTS = 32
RANDOM_ACCELERATION_MPS2 = 4.0
RANDOM_YAW_RATE_RADPS = 0.6


def _repeated(values: Float32Array, n: int) -> Float32Array:
    return np.ascontiguousarray(np.broadcast_to(values, (n, *values.shape)), dtype=np.float32)


def log_replay(scene: LoggedScene, n: int = N_ROLLOUTS) -> Rollouts:
    """The log, n times.

    States that are not valid stay at the origin, as the official code has it: holding the last
    pose instead would put ghosts on the road.
    """
    rows = scene.simulated_index
    return Rollouts(
        x_m=_repeated(scene.x_m[rows, N_HISTORY:], n),
        y_m=_repeated(scene.y_m[rows, N_HISTORY:], n),
        z_m=_repeated(scene.z_m[rows, N_HISTORY:], n),
        heading_rad=_repeated(scene.heading_rad[rows, N_HISTORY:], n),
    )


def last_step(scene: LoggedScene) -> Float32Array:
    """Displacement [track, 3] over the last step of the history; 0 if it was not seen."""
    rows = scene.simulated_index
    seen = scene.valid[rows, CURRENT_STEP - 1]
    position = np.stack([scene.x_m[rows], scene.y_m[rows], scene.z_m[rows]], axis=-1)
    moved = position[:, CURRENT_STEP] - position[:, CURRENT_STEP - 1]
    return np.where(seen[:, None], moved, np.float32(0.0))


def constant_velocity(scene: LoggedScene, n: int = N_ROLLOUTS) -> Rollouts:
    """Return rollouts in which all objects keep their velocity and heading of the last step."""
    rows = scene.simulated_index
    moved = last_step(scene)
    steps = np.arange(1, N_FUTURE + 1, dtype=np.float32)

    def line(start: Float32Array, change: Float32Array) -> Float32Array:
        return _repeated(start[rows, CURRENT_STEP, None] + change[:, None] * steps, n)

    return Rollouts(
        x_m=line(scene.x_m, moved[:, 0]),
        y_m=line(scene.y_m, moved[:, 1]),
        z_m=line(scene.z_m, moved[:, 2]),
        heading_rad=line(scene.heading_rad, np.zeros(len(rows), np.float32)),
    )


def random_driving(scene: LoggedScene, n: int = N_ROLLOUTS, seed: int = 0) -> Rollouts:
    """Return rollouts in which objects draw acceleration and yaw rate uniformly at each step."""
    rows = scene.simulated_index
    rng = stream(seed, "realism", "random_driving", scene.name)
    shape = (n, len(rows), N_FUTURE)
    acceleration = rng.uniform(-RANDOM_ACCELERATION_MPS2, RANDOM_ACCELERATION_MPS2, shape)
    turn = rng.uniform(-RANDOM_YAW_RATE_RADPS, RANDOM_YAW_RATE_RADPS, shape)
    speed = np.hypot(*last_step(scene)[:, :2].T)[None, :] / STEP_S
    heading = scene.heading_rad[rows, CURRENT_STEP][:, None] + np.cumsum(turn * STEP_S, axis=2)
    speeds = np.empty(shape)
    current = np.broadcast_to(speed, shape[:2]).astype(np.float64)
    for step in range(N_FUTURE):
        current = np.maximum(current + acceleration[:, :, step] * STEP_S, 0.0)
        speeds[:, :, step] = current
    x = scene.x_m[rows, CURRENT_STEP][:, None] + np.cumsum(speeds * np.cos(heading), 2) * STEP_S
    y = scene.y_m[rows, CURRENT_STEP][:, None] + np.cumsum(speeds * np.sin(heading), 2) * STEP_S
    z = np.broadcast_to(scene.z_m[rows, CURRENT_STEP][:, None], shape)
    return Rollouts(
        x_m=x.astype(np.float32),
        y_m=y.astype(np.float32),
        z_m=np.ascontiguousarray(z, dtype=np.float32),
        heading_rad=heading.astype(np.float32),
    )


BASELINES: dict[str, Callable[[LoggedScene, int], Rollouts]] = {
    "log_replay": log_replay,
    "random": random_driving,
    "constant_velocity": constant_velocity,
}
