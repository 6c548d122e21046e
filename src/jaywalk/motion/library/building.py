"""Building of motion libraries, and the classes of their clips.

Clips are read, cleaned, retargeted and written; a broken file is reported and does not stop the
build. :func:`class_rows` gives the class of each clip, and :func:`class_agreement` the agreement of
the classes with the labels of the dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import JaywalkError, UsageError
from jaywalk.motion.carla_rigs import RIG_NAMES, load_rig
from jaywalk.motion.clip import LIBRARY_RATE_HZ, Clip, mirror, resample
from jaywalk.motion.foot_lock import lock_feet, on_floor
from jaywalk.motion.heading import to_origin
from jaywalk.motion.library.classes import CLASSES, ClassRule, agreement, fit_rule, parse_class
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.retarget import RigClip, RootPolicy, retarget
from jaywalk.motion.sources._amass import read_amass
from jaywalk.motion.sources._cmu_bvh import ClipRow, read_clip_list
from jaywalk.motion.sources._humanml3d import read_humanml3d, read_texts
from jaywalk.motion.sources._joint_motion import JointMotion
from jaywalk.motion.sources.joint_mapping import JointMapping
from jaywalk.motion.sources.motion_files import (
    MappedReader,
    clip_names,
    motion_files,
    read_motion,
)


def displacements_m(library: MotionLibrary) -> FloatArray:
    """Net displacement and largest excursion of each clip, (clips, 2)."""
    columns = library.columns
    return np.array([columns["net_m"], columns["excursion_m"]], dtype=np.float64).T


def class_rows(library: MotionLibrary, rule: ClassRule) -> list[dict[str, Any]]:
    """Return the class by the rule, the label and the displacement of every clip."""
    moved = displacements_m(library)
    return [
        {
            "name": name,
            "class": str(CLASSES[place]),
            "label": label,
            "net_m": float(net),
            "excursion_m": float(far),
        }
        for name, place, label, (net, far) in zip(
            library.names, rule.classify(moved), library.columns["label"], moved, strict=True
        )
    ]


def class_agreement(library: MotionLibrary, *, splits: int, seed: int) -> dict[str, Any] | None:
    """Agreement with the labels over random splits by base id; None without enough labels."""
    given = [parse_class(label) for label in library.columns["label"]]
    have = np.array([kind is not None for kind in given], dtype=np.bool_)
    bases = [base for base, ok in zip(library.columns["base"], have, strict=True) if ok]
    if len(set(bases)) < 4:
        return None
    labels = np.array([CLASSES.index(kind) for kind in given if kind is not None], dtype=np.int64)
    moved = displacements_m(library)[have]
    score = agreement(moved, labels, bases, splits=splits, seed=seed)
    best = fit_rule(moved, labels)
    return {
        "accuracy": score.accuracy,
        "macro_recall": score.macro_recall,
        "splits": score.splits,
        "clips": score.clips,
        "fitted_on_all": {"net_m": best.net_m, "excursion_m": best.excursion_m},
    }


#: Adults keep their path. Children would need overlong strides, so their path is scaled.
DEFAULT_POLICIES: Final[dict[str, RootPolicy]] = {
    "man": RootPolicy.KEEP,
    "woman": RootPolicy.KEEP,
    "girl": RootPolicy.SCALE,
    "boy": RootPolicy.SCALE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Sources of a library.

    Attributes:
        bvh: Motion file, or folder of motion files, of any skeleton.
        clips: List of clips to cut from them.
        mapping: Joint mapping of these files, except CMU's; None: guessed for each skeleton.
        accept_doubts: Use guessed mappings that are not certain.
        licence: Licence of these files, except CMU's.
        amass: Folder of AMASS files.
        humanml3d: Folder of HumanML3D.
    """

    bvh: Path | None = None
    clips: Path | None = None
    mapping: JointMapping | None = None
    accept_doubts: bool = False
    licence: str = ""
    amass: Path | None = None
    humanml3d: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A file or clip that could not be used."""

    name: str
    reason: str


Found = Clip | Problem


def clean(motion: Clip, *, foot_lock: bool) -> Clip:
    """Resample to 20 Hz, put on the floor at the origin along +z, and lock standing feet."""
    motion = to_origin(on_floor(resample(motion, LIBRARY_RATE_HZ)))
    return lock_feet(motion).motion if foot_lock else motion


def on_rigs(motion: Clip, policies: Mapping[str, RootPolicy]) -> dict[str, RigClip]:
    """Retarget the motion to every rig."""
    return {rig: retarget(motion, load_rig(rig), policies[rig]) for rig in RIG_NAMES}


def build_library(
    sources: Sources,
    out: Path,
    *,
    policies: Mapping[str, RootPolicy] | None = None,
    foot_lock: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> list[Problem]:
    """Build a library folder from all motions of the sources.

    Returns:
        Files and clips that could not be used; all others are in the library.

    Raises:
        UsageError: No source was given, or a folder does not exist.
    """
    return write_library(read_all(sources), out, policies=policies, foot_lock=foot_lock, say=say)


def write_library(
    motions: Iterable[Found],
    out: Path,
    *,
    policies: Mapping[str, RootPolicy] | None = None,
    foot_lock: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> list[Problem]:
    """Clean motions, retarget them to the rigs and write them to a library folder.

    Returns:
        Files and clips that could not be used, including the problems in ``motions``.
    """
    chosen = dict(policies or DEFAULT_POLICIES)
    notes = {"foot_lock": foot_lock}
    problems: list[Problem] = []
    with LibraryWriter(out, chosen, notes) as writer:
        for source in motions:
            if isinstance(source, Clip):
                try:
                    motion = clean(source, foot_lock=foot_lock)
                    writer.add(motion, on_rigs(motion, chosen))
                except JaywalkError as problem:
                    source = Problem(name=source.name, reason=str(problem))
            if isinstance(source, Problem):
                problems.append(source)
                writer.problems.append({"name": source.name, "reason": source.reason})
                say(f"left out {source.name}: {source.reason}")
            elif writer.clips % 100 == 0:
                say(f"{writer.clips} clips")
    return problems


def read_all(sources: Sources) -> Iterator[Found]:
    """Yield every motion of the sources, as captured, and every problem."""
    given = {
        name: path
        for name in ("bvh", "clips", "amass", "humanml3d")
        if (path := getattr(sources, name)) is not None
    }
    if not set(given) - {"clips"}:
        raise UsageError("no source of motions; give at least one of --files, --amass, --humanml3d")
    for name, path in given.items():
        if not path.exists():
            raise UsageError(f"--{name} {path} does not exist")
    if sources.bvh:
        reader = MappedReader(
            mapping=sources.mapping, accept_doubts=sources.accept_doubts, licence=sources.licence
        )
        files = motion_files(sources.bvh)
        if sources.clips:
            yield from _listed(sources.bvh, files, reader, read_clip_list(sources.clips))
        else:
            names = clip_names(files, sources.bvh)
            yield from _each(files, lambda path: reader.read(path, names[path]))
    if sources.amass:
        yield from _each(sorted(sources.amass.rglob("*.npz")), read_amass)
    if sources.humanml3d:
        yield from _each(_feature_files(sources.humanml3d), _with_text)


def _each(paths: Iterable[Path], read: Callable[[Path], Clip]) -> Iterator[Found]:
    for path in paths:
        try:
            yield read(path)
        except (JaywalkError, ValueError, ArithmeticError, np.linalg.LinAlgError) as problem:
            yield Problem(name=path.name, reason=str(problem))


def _listed(
    folder: Path, files: list[Path], reader: MappedReader, rows: list[ClipRow]
) -> Iterator[Found]:
    """Yield the clips of a list; every file is parsed once."""
    by_sequence: dict[str, list[ClipRow]] = {}
    for row in rows:
        by_sequence.setdefault(row.sequence, []).append(row)
    places = {path.stem: path for path in files}
    for sequence, wanted in by_sequence.items():
        path = places.get(sequence)
        try:
            if path is None:
                raise UsageError(f"{sequence}.bvh is not in {folder}")
            motion = read_motion(path)
        except (JaywalkError, ValueError) as problem:
            for row in wanted:
                yield Problem(name=row.name, reason=str(problem))
            continue
        for row in wanted:
            try:
                yield _clip(reader, motion, path, row)
            except (JaywalkError, ValueError, ArithmeticError) as problem:
                yield Problem(name=row.name, reason=str(problem))


def _clip(reader: MappedReader, motion: JointMotion, path: Path, row: ClipRow) -> Clip:
    clip = reader.convert(motion, path, row.name.removeprefix("M"), row)
    clip = mirror(clip) if row.mirrored else clip
    return replace(clip, caption=row.caption, label=row.label)


def _feature_files(folder: Path) -> list[Path]:
    for name in ("new_joint_vecs", "new_joints"):
        if (folder / name).is_dir():
            return sorted((folder / name).glob("*.npy"))
    return sorted(folder.glob("*.npy"))


def _with_text(path: Path) -> Clip:
    motion = read_humanml3d(path)
    text = path.parent.parent / "texts" / f"{path.stem}.txt"
    texts = read_texts(text) if text.exists() else []
    caption = texts[0].caption if texts else ""
    return replace(motion, caption=caption, mirrored=path.stem.startswith("M"))
