"""Cases from a user's input, and readers of simulated rollouts.

Rollouts come as submission messages of the challenge or as numpy archives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import DATA_BYTES, read_bytes
from jaywalk.metrics.realism.baselines import N_ROLLOUTS, log_replay
from jaywalk.metrics.realism.scene import N_FUTURE, N_STEPS, Case, LoggedScene, Rollouts
from jaywalk.record.run import RunFolder
from jaywalk.rollouts._policies import roll_out_scene
from jaywalk.rollouts.cases._npz import (
    load_arrays,
    read_npz_case,
    rollouts_from_arrays,
    scene_from_arrays,
)
from jaywalk.rollouts.cases._protobuf import decode, wire_fields
from jaywalk.rollouts.cases._recorded import rollouts_in_run, run_scenes
from jaywalk.rollouts.cases._waymo import WAYMO, read_waymo_scenes

_FIELDS = {"x_m": "center_x", "y_m": "center_y", "z_m": "center_z", "heading_rad": "heading"}
_SIZES = {"length_m": "length", "width_m": "width", "height_m": "height"}


def _is_single(data: memoryview) -> bool:
    """Return True for a message with one scenario: its field 2 is then a message, not a number."""
    return any(number == 2 and wire == 2 for number, wire, _ in wire_fields(data))


def read_submission(path: Path) -> dict[str, dict[str, Any]]:
    """Read rollouts by scenario id from a submission, or the rollouts of one scenario."""
    try:
        data = memoryview(read_bytes(path, "a submission", DATA_BYTES))
        if _is_single(data):
            scenarios = [decode(WAYMO, "ScenarioRollouts", data)]
        else:
            scenarios = decode(WAYMO, "Submission", data)["scenario_rollouts"]
    except DataError as problem:
        raise DataError(f"'{path}' is not a readable submission: {problem}.") from problem
    except OSError as problem:
        raise DataError(f"Cannot read '{path}': {problem.strerror}.") from problem
    return {message["scenario_id"]: message for message in scenarios}


def _form(scenes: list[dict[str, Any]]) -> tuple[int, dict[str, str]]:
    """Return the number of steps and the fields to read, from the first trajectory."""
    first = next((t for scene in scenes for t in scene["simulated_trajectories"]), None)
    if first is None or len(first["center_x"]) != N_STEPS:
        return N_FUTURE, _FIELDS
    sized = any(len(first[name]) for name in _SIZES.values())
    return N_STEPS, _FIELDS | _SIZES if sized else _FIELDS


def rollouts_of(message: dict[str, Any], scene: LoggedScene) -> Rollouts:
    """Order the trajectories of a message by the scene's simulated tracks.

    Trajectories of 91 steps are generated scenes; only those have their own box sizes.
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


DEFAULT_POLICY = "lanes"
"""Policy for a run without rollouts."""

_SCENARIO_ENDINGS = (".json", ".binproto", ".pb", ".proto", ".bin")


def _is_scenario(path: Path) -> bool:
    return path.suffix in _SCENARIO_ENDINGS or ".tfrecord" in path.name


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise PrerequisiteError(f"There is no '{path}'; give a scene file or a folder of them.")
    archives = sorted(p for p in path.glob("*.npz") if not p.stem.endswith("_features"))
    if archives:
        return archives
    scenarios = sorted(p for p in path.iterdir() if p.is_file() and ".tfrecord" in p.name)
    if scenarios:
        return scenarios
    raise DataError(f"Folder '{path}' holds no scene (.npz or .tfrecord).")


class _RolloutSource:
    """Rollouts by scene: one archive, one submission, or a folder of either."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise PrerequisiteError(f"There are no rollouts at '{path}'.")
        self.path = path
        self.archives: dict[str, Path] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.suffix == ".npz":
                self.archives[file.stem] = file
            elif file.is_file():
                self.messages |= read_submission(file)

    def of(self, scene: LoggedScene) -> Rollouts:
        if scene.name in self.messages:
            return rollouts_of(self.messages[scene.name], scene)
        if scene.name in self.archives:
            return read_npz_rollouts(self.archives[scene.name], scene)
        if self.path.is_file() and self.archives:
            return read_npz_rollouts(self.path, scene)
        raise DataError(f"'{self.path}' has no rollouts of scenario '{scene.name}'.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """Cases and, for a run, the policy of its rollouts."""

    cases: list[Case]
    policy: str | None = None
    made_here: bool = False
    """True if the rollouts were made for this reading and are not on disk."""


def read_case_set(
    path: Path, rollouts: Path | None = None, *, or_log: bool = False, policy: str | None = None
) -> CaseSet:
    """Read scenes with rollouts.

    Args:
        path: An archive, a folder of them, Waymo scenarios (TFRecord, message or JSON), or a run.
        rollouts: Rollouts of the scenarios; they replace those of an archive.
        or_log: Use the repeated log itself for scenarios without rollouts.
        policy: Policy whose rollouts in a run's folder are read.
    """
    if RunFolder(path).is_run:
        return _of_run(path, rollouts, or_log=or_log, policy=policy)
    if policy is not None:
        raise UsageError(f"--policy chooses among the rollouts of a run; '{path}' is not a run.")
    source = _RolloutSource(rollouts) if rollouts else None
    cases: list[Case] = []
    for file in _files(path):
        if file.suffix == ".npz" and source is None:
            cases.append(read_npz_case(file))
        elif source is not None:
            cases.extend(Case(scene=s, rollouts=source.of(s)) for s in scenes_in(file))
        elif or_log:
            cases.extend(Case(scene=s, rollouts=log_replay(s)) for s in scenes_in(file))
        else:
            raise UsageError(f"'{file}' has no rollouts of its own; add --rollouts PATH.")
    return CaseSet(cases=cases)


def read_cases(path: Path, rollouts: Path | None = None, *, or_log: bool = False) -> list[Case]:
    """Read the cases of :func:`read_case_set`."""
    return read_case_set(path, rollouts, or_log=or_log).cases


def _of_run(path: Path, rollouts: Path | None, *, or_log: bool, policy: str | None) -> CaseSet:
    """Read the archives of a run; if there are none, cut scenes and roll them out here."""
    folder = rollouts or rollouts_in_run(path, policy)
    if folder is not None:
        cases = [read_npz_case(file) for file in _files(folder) if file.suffix == ".npz"]
        if not cases:
            raise DataError(f"'{folder}' holds no archive; see jaywalk realism rollout --help.")
        return CaseSet(cases=cases, policy=policy or folder.name)
    scenes = [recorded.scene for recorded in run_scenes(path)]
    chosen = "log-replay" if or_log else DEFAULT_POLICY
    cases = [
        Case(scene=s, rollouts=roll_out_scene(s, chosen, n=N_ROLLOUTS, seed=0)) for s in scenes
    ]
    return CaseSet(cases=cases, policy=chosen, made_here=True)


def read_scenes(path: Path) -> list[LoggedScene]:
    """Read the logged scenes of an archive, a folder or Waymo scenarios, without rollouts."""
    return [scene for file in _files(path) for scene in scenes_in(file)]


def scenes_in(file: Path) -> list[LoggedScene]:
    """Read all scenes of a file."""
    if file.suffix == ".npz":
        return [scene_from_arrays(load_arrays(file), str(file), file.stem)]
    if not _is_scenario(file):
        raise UsageError(
            f"'{file}' is not a scene: expected .npz, .tfrecord, .json or {_SCENARIO_ENDINGS[1]}."
        )
    return list(read_waymo_scenes(file))
