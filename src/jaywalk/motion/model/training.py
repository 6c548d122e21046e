"""Training the motion model from a folder of CMU captures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jaywalk.core.errors import DataError, UsageError
from jaywalk.motion.clip import Motion
from jaywalk.motion.model.capture import read_subjects, subject_of
from jaywalk.motion.model.cycles import Cycle, find_cycles
from jaywalk.motion.model.gait_fit import fit_gait
from jaywalk.motion.model.model_file import ACKNOWLEDGEMENT, MotionModel
from jaywalk.motion.model.stand_fit import fit_standing
from jaywalk.motion.model.standing import all_standing
from jaywalk.motion.sources.clip_list import read_clip_list

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


def train(files: Sequence[Path], *, say: Callable[[str], None] = lambda _: None) -> MotionModel:
    """Fit a model to captures.

    Files that cannot be read are named and left out.

    Raises:
        DataError: Too few people walk in them.
    """
    motions: list[Motion] = []
    for found in read_subjects(files):
        if isinstance(found, tuple):
            say(f"left out {found[0].name}: {found[1]}")
            continue
        motions.extend(found)
        if len(motions) // 50 > (len(motions) - len(found)) // 50:
            say(f"{len(motions)} of {len(files)} files read")
    cycles: list[Cycle] = [cycle for motion in motions for cycle in find_cycles(motion)]
    if len(cycles) < _FEWEST_CYCLES:
        raise DataError(f"{len(cycles)} gait cycles found; at least {_FEWEST_CYCLES} are needed")
    gait = fit_gait(cycles)
    stretches = all_standing(motions, gait.means)
    stand = fit_standing(stretches)
    facts = {
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
    say(", ".join(f"{key} {value}" for key, value in list(facts.items())[1:]))
    return MotionModel(means=gait.means, gait=gait.model, stand=stand, facts=facts)
