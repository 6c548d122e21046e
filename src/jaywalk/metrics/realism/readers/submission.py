"""Simulated rollouts: submission messages of the challenge, or numpy archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.core.files import DATA_BYTES, read_bytes
from jaywalk.metrics.realism.readers.npz_case import load_arrays, rollouts_from_arrays
from jaywalk.metrics.realism.readers.protobuf import decode, wire_fields
from jaywalk.metrics.realism.readers.waymo_schema import WAYMO
from jaywalk.metrics.realism.scene import N_FUTURE, N_STEPS, LoggedScene, Rollouts

_FIELDS = {"x_m": "center_x", "y_m": "center_y", "z_m": "center_z", "heading_rad": "heading"}
_SIZES = {"length_m": "length", "width_m": "width", "height_m": "height"}


def _is_single(data: memoryview) -> bool:
    """Whether the message holds one scenario: its field 2 is then a message, not a number."""
    return any(number == 2 and wire == 2 for number, wire, _ in wire_fields(data))


def read_submission(path: Path) -> dict[str, dict[str, Any]]:
    """Read rollouts by scenario id from a submission (or the rollouts of one scenario)."""
    try:
        data = memoryview(read_bytes(path, "a submission", DATA_BYTES))
        if _is_single(data):
            found = [decode(WAYMO, "ScenarioRollouts", data)]
        else:
            found = decode(WAYMO, "Submission", data)["scenario_rollouts"]
    except DataError as problem:
        raise DataError(f"'{path}' is not a readable submission: {problem}.") from problem
    except OSError as problem:
        raise DataError(f"Cannot read '{path}': {problem.strerror}.") from problem
    return {message["scenario_id"]: message for message in found}


def _form(scenes: list[dict[str, Any]]) -> tuple[int, dict[str, str]]:
    """Number of steps and fields to read, from the first trajectory."""
    first = next((t for one in scenes for t in one["simulated_trajectories"]), None)
    if first is None or len(first["center_x"]) != N_STEPS:
        return N_FUTURE, _FIELDS
    sized = any(len(first[name]) for name in _SIZES.values())
    return N_STEPS, _FIELDS | _SIZES if sized else _FIELDS


def rollouts_of(message: dict[str, Any], scene: LoggedScene) -> Rollouts:
    """Order the trajectories of a message by the scene's simulated tracks.

    Trajectories of 91 steps are generated scenes; only those bring their own box sizes.
    """
    ids = scene.object_id[scene.simulated_index].tolist()
    scenes = message["joint_scenes"]
    steps, fields = _form(scenes)
    arrays = {name: np.empty((len(scenes), len(ids), steps), np.float32) for name in fields}
    for k, joint in enumerate(scenes):
        by_id = {t["object_id"]: t for t in joint["simulated_trajectories"]}
        if set(by_id) != set(ids):
            raise DataError(
                f"Scene '{scene.name}', rollout {k}: objects {sorted(set(ids) - set(by_id))} are "
                f"missing and {sorted(set(by_id) - set(ids))} are not wanted; simulate exactly the "
                "tracks valid at step 10."
            )
        for row, object_id in enumerate(ids):
            for ours, theirs in fields.items():
                values = by_id[object_id][theirs]
                if len(values) != steps:
                    raise DataError(
                        f"Scene '{scene.name}', rollout {k}, object {object_id}: {theirs} has "
                        f"{len(values)} values, expected {steps}."
                    )
                arrays[ours][k, row] = values
    return Rollouts(**arrays)


def read_npz_rollouts(path: Path, scene: LoggedScene) -> Rollouts:
    """Read ``sim_*`` arrays [rollout, track, 80], tracks in log order or as ``sim_object_id``."""
    arrays = load_arrays(path)
    rollouts = rollouts_from_arrays(arrays, str(path))
    if "sim_object_id" not in arrays:
        return rollouts
    given = arrays["sim_object_id"].reshape(-1).tolist()
    wanted = scene.object_id[scene.simulated_index].tolist()
    if sorted(given) != sorted(wanted):
        raise DataError(f"'{path}': sim_object_id is {given}, expected the tracks {wanted}.")
    order = [given.index(object_id) for object_id in wanted]
    return rollouts.ordered(order)
