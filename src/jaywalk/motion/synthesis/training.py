"""Training of the motion model, with its model of standing people, from CMU captures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.motion.clip import Clip
from jaywalk.motion.sources._cmu_bvh import read_clip_list
from jaywalk.motion.synthesis._action_model import fit_actions
from jaywalk.motion.synthesis._actions import ActionKind, find_actions
from jaywalk.motion.synthesis._capture import read_subjects, subject_of
from jaywalk.motion.synthesis._cycles import Cycle, find_cycles
from jaywalk.motion.synthesis._gait_fit import fit_gait
from jaywalk.motion.synthesis._stand_model import StandModel, mirrored_posture
from jaywalk.motion.synthesis._standing import Standing, all_standing, cosine_terms
from jaywalk.motion.synthesis.model_file import ACKNOWLEDGEMENT, MotionModel

POSTURE_DIMS: Final = 28
MOVE_DIMS: Final = 24
GESTURE_DIMS: Final = 36
_SHORTEST_GESTURE_S: Final = 1.5
_HEIGHT_WEIGHT: Final = 5.0


def fit_standing(stretches: Sequence[Standing]) -> StandModel:
    """Fit postures, sway and gestures.

    Raises:
        DataError: Too few people stand in the captures.
    """
    gestures = [s for s in stretches if not s.quiet and s.seconds >= _SHORTEST_GESTURE_S]
    quiet = [s for s in stretches if s.quiet and s.neutral]
    fewest = min(len(gestures), len(quiet))
    if fewest < 8:
        raise DataError(
            f"only {len(gestures)} gestures and {len(quiet)} quiet stretches were found; "
            "include captures of standing people (at least 8 of each)"
        )
    mean, axes, codes = _postures(np.stack([s.posture for s in stretches]))
    moved = np.concatenate([s.movement for s in stretches])
    moves = _axes(moved, mirrored_posture(moved), MOVE_DIMS)
    spread = np.stack([np.log((s.movement @ moves.T).std(axis=0) + 1e-5) for s in quiet])
    series = np.stack([(cosine_terms(s.movement) @ moves.T).ravel() for s in gestures])
    twins = np.stack(
        [(cosine_terms(mirrored_posture(s.movement)) @ moves.T).ravel() for s in gestures]
    )
    gesture_axes = _axes(series, twins, GESTURE_DIMS)
    return StandModel(
        posture_mean=mean,
        posture_axes=axes,
        postures=codes,
        neutral=np.array([s.neutral for s in stretches]),
        move_axes=moves,
        quiet_log=np.stack([spread.mean(axis=0), spread.std(axis=0)]),
        gesture_axes=gesture_axes,
        gestures=series @ gesture_axes.T,
        gesture_s=np.array([s.seconds for s in gestures]),
    )


def _axes(rows: FloatArray, twins: FloatArray, dims: int) -> FloatArray:
    """(dims, n) leading axes about zero of rows and their mirror images."""
    square = rows.T @ rows + twins.T @ twins
    values, vectors = np.linalg.eigh(square)
    order = np.argsort(-values, kind="stable")[:dims]
    return np.asarray(vectors[:, order].T)


def _postures(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    weight = np.ones(rows.shape[1])
    weight[-1] = _HEIGHT_WEIGHT
    twins = mirrored_posture(rows)
    mean = 0.5 * (rows.mean(axis=0) + twins.mean(axis=0))
    axes = _axes((rows - mean) * weight, (twins - mean) * weight, POSTURE_DIMS)
    return mean, axes / weight, ((rows - mean) * weight) @ axes.T


_FEWEST_CYCLES = 60


def training_files(folder: Path, clips: Path | None, leave_out: Sequence[str]) -> list[Path]:
    """BVH files to train on.

    Args:
        folder: Folder of ``SUBJECT_TRIAL.bvh`` files.
        clips: List of clips; only the sequences it names are used, whole.
        leave_out: Subjects kept away, for judging.

    Raises:
        UsageError: Nothing is left.
    """
    files = sorted(folder.rglob("*.bvh"))
    if clips is not None:
        named = {row.sequence for row in read_clip_list(clips)}
        files = [path for path in files if path.stem in named]
    out = {name.lstrip("0") for name in leave_out}
    files = [path for path in files if subject_of(path.stem).lstrip("0") not in out]
    if not files:
        raise UsageError(f"{folder} holds no .bvh files to train on; expected CMU's, as 35_01.bvh")
    return files


def train(
    files: Sequence[Path],
    *,
    descriptions: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> MotionModel:
    """Fit a model to captures.

    Files that cannot be read are named and left out.

    Args:
        files: BVH files of CMU.
        descriptions: What the sequences show. If given, the model also gets a bank of the actions
            of everyday people.
        say: Told about progress.

    Raises:
        DataError: Too few people walk in them.
    """
    motions: list[Clip] = []
    for subject in read_subjects(files):
        if isinstance(subject, tuple):
            say(f"left out {subject[0].name}: {subject[1]}")
            continue
        motions.extend(subject)
        if len(motions) // 50 > (len(motions) - len(subject)) // 50:
            say(f"{len(motions)} of {len(files)} files read")
    cycles: list[Cycle] = [cycle for motion in motions for cycle in find_cycles(motion)]
    if len(cycles) < _FEWEST_CYCLES:
        raise DataError(f"{len(cycles)} gait cycles found; at least {_FEWEST_CYCLES} are needed")
    gait = fit_gait(cycles)
    stretches = all_standing(motions, gait.means)
    stand = fit_standing(stretches)
    facts: dict[str, Any] = {
        "acknowledgement": ACKNOWLEDGEMENT,
        "sequences": len(motions),
        "subjects": len({subject_of(motion.name) for motion in motions}),
        "minutes": round(sum(motion.duration_s for motion in motions) / 60.0, 1),
        "cycles": len(cycles),
        "running_cycles": int(gait.model.codes.runs.sum()),
        "postures": len(stand.postures),
        "gestures": len(stand.gestures),
        "explained": round(gait.explained, 3),
        "explained_by_speed": round(gait.explained_by_speed, 3),
    }
    actions = None
    if descriptions is not None:
        found = find_actions(motions, descriptions)
        actions = fit_actions(found, gait.means)
        facts["actions"] = {
            kind.value: sum(one.kind is kind for one in found) for kind in ActionKind
        }
    say(", ".join(f"{key} {value}" for key, value in list(facts.items())[1:]))
    return MotionModel(means=gait.means, gait=gait.model, stand=stand, facts=facts, actions=actions)
