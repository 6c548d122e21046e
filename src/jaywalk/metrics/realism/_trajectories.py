"""Trajectories over all 91 steps: logged history followed by the logged or a simulated future."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jaywalk.core.arrays import BoolArray, Float32Array
from jaywalk.core.errors import UsageError
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_FUTURE,
    N_HISTORY,
    N_STEPS,
    LoggedScene,
    Rollouts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneTrajectories:
    """Poses [rollout, simulated track, 91], and values shared by all rollouts.

    Boxes keep their logged size of the current step, in the log's future too.
    """

    x_m: Float32Array
    y_m: Float32Array
    z_m: Float32Array
    heading_rad: Float32Array
    valid: BoolArray
    length_m: Float32Array
    width_m: Float32Array
    height_m: Float32Array

    def at(self, rollouts: slice, step: int, sizes: BoxSizes) -> SceneTrajectories:
        """One step of some rollouts, with the boxes it has then."""
        at_step = slice(step, step + 1)
        row = rollouts.start if len(sizes.length_m) > 1 else 0
        return SceneTrajectories(
            x_m=np.ascontiguousarray(self.x_m[rollouts, :, at_step]),
            y_m=np.ascontiguousarray(self.y_m[rollouts, :, at_step]),
            z_m=np.ascontiguousarray(self.z_m[rollouts, :, at_step]),
            heading_rad=np.ascontiguousarray(self.heading_rad[rollouts, :, at_step]),
            valid=np.ascontiguousarray(self.valid[:, at_step]),
            length_m=np.ascontiguousarray(sizes.length_m[row, :, step]),
            width_m=np.ascontiguousarray(sizes.width_m[row, :, step]),
            height_m=np.ascontiguousarray(sizes.height_m[row, :, step]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSizes:
    """Box sizes at every step, [rollout, simulated track, 91], or [1, ...] for all rollouts."""

    length_m: Float32Array
    width_m: Float32Array
    height_m: Float32Array


def _sizes(scene: LoggedScene) -> tuple[Float32Array, Float32Array, Float32Array]:
    rows = scene.simulated_index
    return (
        scene.length_m[rows, CURRENT_STEP],
        scene.width_m[rows, CURRENT_STEP],
        scene.height_m[rows, CURRENT_STEP],
    )


def logged_trajectories(scene: LoggedScene) -> SceneTrajectories:
    """The log of the simulated tracks as one rollout."""
    rows = scene.simulated_index
    length, width, height = _sizes(scene)
    return SceneTrajectories(
        x_m=np.ascontiguousarray(scene.x_m[rows])[None],
        y_m=np.ascontiguousarray(scene.y_m[rows])[None],
        z_m=np.ascontiguousarray(scene.z_m[rows])[None],
        heading_rad=np.ascontiguousarray(scene.heading_rad[rows])[None],
        valid=scene.valid[rows],
        length_m=length,
        width_m=width,
        height_m=height,
    )


def simulated_trajectories(scene: LoggedScene, rollouts: Rollouts) -> SceneTrajectories:
    """Logged history and simulated future; every simulated step counts as valid."""
    rows = scene.simulated_index
    if rollouts.n_steps != N_FUTURE:
        raise UsageError(
            f"Scene '{scene.name}' has generated scenes of {rollouts.n_steps} steps, and this "
            f"score needs futures of {N_FUTURE}. Use --config 2025-scenario-gen."
        )

    def joined(logged: Float32Array, future: Float32Array) -> Float32Array:
        history = np.broadcast_to(
            logged[None, rows, :N_HISTORY], (len(future), len(rows), N_HISTORY)
        )
        return np.asarray(np.concatenate([history, future], axis=2), dtype=np.float32)

    length, width, height = _sizes(scene)
    future_valid = np.ones((len(rows), N_FUTURE), dtype=np.bool_)
    return SceneTrajectories(
        x_m=joined(scene.x_m, rollouts.x_m),
        y_m=joined(scene.y_m, rollouts.y_m),
        z_m=joined(scene.z_m, rollouts.z_m),
        heading_rad=joined(scene.heading_rad, rollouts.heading_rad),
        valid=np.concatenate([scene.valid[rows, :N_HISTORY], future_valid], axis=1),
        length_m=length,
        width_m=width,
        height_m=height,
    )


def generated_log(scene: LoggedScene) -> tuple[SceneTrajectories, BoxSizes]:
    """The log as a generated scene.

    As in the official code, every step counts as valid, so what the log does not show stands at the
    origin, with the size it is logged with there (none).
    """
    rows = scene.simulated_index
    log = logged_trajectories(scene)
    sizes = BoxSizes(
        length_m=scene.length_m[None, rows],
        width_m=scene.width_m[None, rows],
        height_m=scene.height_m[None, rows],
    )
    return replace(log, valid=np.ones_like(log.valid)), sizes


def generated_trajectories(
    scene: LoggedScene, rollouts: Rollouts
) -> tuple[SceneTrajectories, BoxSizes]:
    """Generated scenes, or simulated futures behind the logged history; every step is valid.

    Boxes have the sizes of the rollouts, else the logged sizes: those of the current step for
    simulated steps, and those of the same step for history.
    """
    length, width, height = _sizes(scene)
    every = np.ones((len(length), N_STEPS), dtype=np.bool_)
    logged = generated_log(scene)[1]
    if rollouts.n_steps != N_STEPS:
        sim = replace(simulated_trajectories(scene, rollouts), valid=every)
    else:
        sim = SceneTrajectories(
            x_m=rollouts.x_m,
            y_m=rollouts.y_m,
            z_m=rollouts.z_m,
            heading_rad=rollouts.heading_rad,
            valid=every,
            length_m=length,
            width_m=width,
            height_m=height,
        )
    kept = N_HISTORY if rollouts.n_steps != N_STEPS else 0

    def size(given: Float32Array | None, log: Float32Array, now: Float32Array) -> Float32Array:
        if given is not None:
            return given
        out = np.repeat(now[None, :, None], N_STEPS, axis=2)
        out[..., :kept] = log[..., :kept]
        return out

    return sim, BoxSizes(
        length_m=size(rollouts.length_m, logged.length_m, length),
        width_m=size(rollouts.width_m, logged.width_m, width),
        height_m=size(rollouts.height_m, logged.height_m, height),
    )
