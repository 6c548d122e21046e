"""Trajectories over all 91 steps: logged history followed by the logged or a simulated future."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_FUTURE,
    N_HISTORY,
    BoolArray,
    FloatArray,
    LoggedScene,
    Rollouts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectories:
    """Poses [rollout, simulated track, 91], and what holds for every rollout.

    Boxes keep their logged size of the current step, in the log's future too.
    """

    x_m: FloatArray
    y_m: FloatArray
    z_m: FloatArray
    heading_rad: FloatArray
    valid: BoolArray
    length_m: FloatArray
    width_m: FloatArray
    height_m: FloatArray


def _sizes(scene: LoggedScene) -> tuple[FloatArray, FloatArray, FloatArray]:
    rows = scene.simulated_index
    return (
        scene.length_m[rows, CURRENT_STEP],
        scene.width_m[rows, CURRENT_STEP],
        scene.height_m[rows, CURRENT_STEP],
    )


def logged_trajectories(scene: LoggedScene) -> Trajectories:
    """The log of the simulated tracks as one rollout."""
    rows = scene.simulated_index
    length, width, height = _sizes(scene)
    return Trajectories(
        x_m=np.ascontiguousarray(scene.x_m[rows])[None],
        y_m=np.ascontiguousarray(scene.y_m[rows])[None],
        z_m=np.ascontiguousarray(scene.z_m[rows])[None],
        heading_rad=np.ascontiguousarray(scene.heading_rad[rows])[None],
        valid=scene.valid[rows],
        length_m=length,
        width_m=width,
        height_m=height,
    )


def simulated_trajectories(scene: LoggedScene, rollouts: Rollouts) -> Trajectories:
    """Logged history and simulated future; every simulated step counts as valid."""
    rows = scene.simulated_index

    def joined(logged: FloatArray, future: FloatArray) -> FloatArray:
        history = np.broadcast_to(
            logged[None, rows, :N_HISTORY], (len(future), len(rows), N_HISTORY)
        )
        return np.asarray(np.concatenate([history, future], axis=2), dtype=np.float32)

    length, width, height = _sizes(scene)
    future_valid = np.ones((len(rows), N_FUTURE), dtype=np.bool_)
    return Trajectories(
        x_m=joined(scene.x_m, rollouts.x_m),
        y_m=joined(scene.y_m, rollouts.y_m),
        z_m=joined(scene.z_m, rollouts.z_m),
        heading_rad=joined(scene.heading_rad, rollouts.heading_rad),
        valid=np.concatenate([scene.valid[rows, :N_HISTORY], future_valid], axis=1),
        length_m=length,
        width_m=width,
        height_m=height,
    )
