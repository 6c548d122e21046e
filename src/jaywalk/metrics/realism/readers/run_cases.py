"""A run of ours as something to score: scenes cut from its records, and rollouts of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jaywalk.record
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import read_text
from jaywalk.metrics.realism.records.record_scene import RANGE_M, RecordedScene, recorded_scenes
from jaywalk.record.episode import EPISODE_FILE

FOLDER = "realism"
"""Where the rollouts of a run lie in its folder, by policy."""

MANIFEST = "rollouts.json"


def is_run(path: Path) -> bool:
    """Whether a folder is a run of ours, or one episode of it."""
    return path.is_dir() and (
        (path / "run.sqlite").is_file()
        or (path / EPISODE_FILE).is_file()
        or next(path.glob(f"episodes/*/{EPISODE_FILE}"), None) is not None
    )


def run_scenes(
    path: Path, count: int = 1, range_m: float = RANGE_M, at_s: float | None = None
) -> list[RecordedScene]:
    """Windows of all episodes of a run, ``count`` of each; see ``recorded_scenes``."""
    folders = list(jaywalk.record.find_records(path))
    if not folders:
        raise PrerequisiteError(f"Run '{path}' has no finished episode; run it first.")
    found = [
        scene
        for folder in folders
        for scene in recorded_scenes(jaywalk.record.open(folder), count, range_m, at_s)
    ]
    if not found:
        raise DataError(
            f"None of the {len(folders)} episodes of '{path}' can be scored: a scene needs an ego "
            "and 9.1 s without a gap."
        )
    doubled = [name for name, k in Counter(s.scene.name for s in found).items() if k > 1]
    if doubled:
        raise UsageError(f"'{path}' has two episodes named '{doubled[0]}'; give one run at a time.")
    return found


def rollouts_in_run(path: Path, policy: str | None) -> Path | None:
    """The folder of a run's rollouts: of a policy, or of the only one there is.

    Raises:
        UsageError: There are several and none is chosen.
        PrerequisiteError: Those of the chosen policy were not made.
    """
    made = {}
    for file in sorted(path.glob(f"{FOLDER}/*/{MANIFEST}")):
        try:
            made[str(json.loads(read_text(file, "a manifest"))["policy"])] = file.parent
        except (ValueError, KeyError, TypeError) as problem:
            raise DataError(f"'{file}' is cut off or edited; make the rollouts again.") from problem
    if policy is not None:
        if policy not in made:
            raise PrerequisiteError(
                f"'{path}' has no rollouts of '{policy}' (it has: {', '.join(made) or 'none'}). "
                f"Make them with: jaywalk realism rollout {path} --policy {policy}"
            )
        return made[policy]
    if len(made) > 1:
        raise UsageError(
            f"'{path}' has rollouts of {', '.join(made)}; choose one with --policy NAME."
        )
    return next(iter(made.values()), None)
