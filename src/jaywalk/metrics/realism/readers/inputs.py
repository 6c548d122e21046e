"""What a user points at, turned into cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.metrics.realism.baselines import log_replay
from jaywalk.metrics.realism.readers.npz_case import load_arrays, read_npz_case, scene_from_arrays
from jaywalk.metrics.realism.readers.submission import (
    read_npz_rollouts,
    read_submission,
    rollouts_of,
)
from jaywalk.metrics.realism.readers.waymo_scenario import read_waymo_scenes
from jaywalk.metrics.realism.scene import Case, LoggedScene, Rollouts

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
    if (path / "run.sqlite").exists() or (path / "episode.json").exists():
        raise UsageError(
            f"'{path}' is a run of Jaywalk; its rollouts have to be made first "
            "(jaywalk realism rollout), then score the folder that it writes."
        )
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


def read_cases(path: Path, rollouts: Path | None = None, *, or_log: bool = False) -> list[Case]:
    """Read scenes with rollouts.

    Args:
        path: An archive, a folder of them, or Waymo scenarios (TFRecord, message or JSON).
        rollouts: Rollouts of the scenarios; overrides those of an archive.
        or_log: Put the log itself, repeated, where scenarios come without rollouts.
    """
    source = _RolloutSource(rollouts) if rollouts else None
    cases: list[Case] = []
    for file in _files(path):
        if file.suffix == ".npz" and source is None:
            cases.append(read_npz_case(file))
        elif source is not None:
            cases.extend(Case(scene=s, rollouts=source.of(s)) for s in _scenes(file))
        elif or_log:
            cases.extend(Case(scene=s, rollouts=log_replay(s)) for s in _scenes(file))
        else:
            raise UsageError(f"'{file}' has no rollouts of its own; add --rollouts PATH.")
    return cases


def _scenes(file: Path) -> list[LoggedScene]:
    if file.suffix == ".npz":
        return [scene_from_arrays(load_arrays(file), str(file), file.stem)]
    if not _is_scenario(file):
        raise UsageError(
            f"'{file}' is no scene: expected .npz, .tfrecord, .json or {_SCENARIO_ENDINGS[1]}."
        )
    return list(read_waymo_scenes(file))
