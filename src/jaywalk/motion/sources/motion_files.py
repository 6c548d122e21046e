"""Motion files of any skeleton: found in folders, read, and mapped to our joints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError, JaywalkError, UsageError
from jaywalk.motion.clip import Clip, resample
from jaywalk.motion.sources import _bvh_file, _cmu_bvh, _gltf_file
from jaywalk.motion.sources._cmu_bvh import ClipRow
from jaywalk.motion.sources._joint_guess import MappingGuess, guess_mapping
from jaywalk.motion.sources._joint_motion import JointMotion
from jaywalk.motion.sources._mapped import mapped_clip
from jaywalk.motion.sources.joint_mapping import JointMapping

_GLTF: Final = (".glb", ".gltf")
SUFFIXES: Final = (".bvh", *_GLTF)
_MAX_FILES: Final = 20_000
_CMU_STEM: Final = re.compile(r"\d+_\d+")
_RATE_HZ: Final = 20.0  # in which lists of clips count frames


def motion_files(place: Path) -> list[Path]:
    """Return a file, or the motion files in a folder and the folders below it, in order.

    Raises:
        UsageError: There are no motion files, or far too many.
    """
    if place.is_file():
        if place.suffix.lower() not in SUFFIXES:
            raise UsageError(f"--files is '{place}'; expected a folder, or a file {_endings()}")
        return [place]
    paths = []
    for path in place.rglob("*"):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            paths.append(path)
            if len(paths) > _MAX_FILES:
                raise UsageError(f"--files {place} holds more than {_MAX_FILES} motion files")
    if not paths:
        raise UsageError(f"--files {place} holds no motion files ({_endings()})")
    return sorted(paths)


def _endings() -> str:
    return ", ".join(SUFFIXES)


def clip_names(files: Iterable[Path], place: Path) -> dict[Path, str]:
    """Return a name for the clip of each file: its stem, with its folders if stems repeat."""
    names: dict[Path, str] = {}
    files = list(files)
    stems = [_plain(path.stem) for path in files]
    for path, stem in zip(files, stems, strict=True):
        name = stem
        if stems.count(stem) > 1 and path != place:
            name = _plain("-".join(path.relative_to(place).with_suffix("").parts))
        number, free = 2, name
        while free in names.values():
            free, number = f"{name}-{number}", number + 1
        names[path] = free
    return names


def _plain(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "clip"


def read_motion(path: Path) -> JointMotion:
    """Read the skeleton and the frames of a motion file.

    Raises:
        DataError: The file is broken; the message names the file and the error.
    """
    if path.suffix.lower() in _GLTF:
        return _gltf_file.read_gltf(path)
    return _bvh_file.read_bvh(path)


def joint_names(path: Path) -> tuple[str, ...]:
    """Read the names of the joints of a motion file."""
    if path.suffix.lower() in _GLTF:
        return _gltf_file.read_joints(path)
    return _bvh_file.read_skeleton(path)


def is_cmu(names: tuple[str, ...], path: Path) -> bool:
    """Return True for a sequence of CMU's database in its BVH conversion, by joints and name."""
    return (
        _CMU_STEM.fullmatch(path.stem) is not None
        and "LHipJoint" in names
        and all(joint in names for joint in _cmu_bvh.JOINT_MAP)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonKind:
    """Files with the same joints, and the guess of their mapping.

    Attributes:
        names: The joints.
        files: The files, in order.
        cmu: They are CMU's, whose mapping is known.
        guess: The guessed mapping; None for CMU's, or if no file could be read.
        rate_hz: Frames per second of the first file.
    """

    names: tuple[str, ...]
    files: tuple[Path, ...]
    cmu: bool = False
    guess: MappingGuess | None = None
    rate_hz: float = 0.0


def survey(files: Iterable[Path], *, known_cmu: bool = True) -> list[SkeletonKind]:
    """Group files by their joints, and guess a mapping for each group.

    Files that cannot be read are left out: reading them again says why. With ``known_cmu`` False,
    CMU's files are guessed like others.
    """
    groups: dict[tuple[tuple[str, ...], bool], list[Path]] = {}
    for path in files:
        try:
            names = joint_names(path)
        except JaywalkError:
            continue
        groups.setdefault((names, known_cmu and is_cmu(names, path)), []).append(path)
    return [_kind(names, tuple(paths), cmu) for (names, cmu), paths in groups.items()]


def _kind(names: tuple[str, ...], files: tuple[Path, ...], cmu: bool) -> SkeletonKind:
    if cmu:
        return SkeletonKind(names=names, files=files, cmu=True)
    for path in files:
        try:
            motion = read_motion(path)
        except JaywalkError:
            continue
        rate_hz = 1.0 / motion.frame_time_s if motion.frame_time_s > 0.0 else 0.0
        return SkeletonKind(names=names, files=files, guess=guess_mapping(motion), rate_hz=rate_hz)
    return SkeletonKind(names=names, files=files)


@dataclass(slots=True, kw_only=True)
class MappedReader:
    """Reads clips of any skeleton; the first file of each skeleton decides its guessed mapping.

    Attributes:
        mapping: Mapping for all files but CMU's; None: guessed.
        accept_doubts: Use uncertain guesses.
        licence: Licence of the data, for all files but CMU's.
    """

    mapping: JointMapping | None = None
    accept_doubts: bool = False
    licence: str = ""
    _guesses: dict[tuple[str, ...], MappingGuess] = field(default_factory=dict)

    def read(self, path: Path, name: str, row: ClipRow | None = None) -> Clip:
        """Read one file, or the frames of it that a row of a clip list names.

        Raises:
            DataError: The file is broken, or its joints cannot be mapped.
        """
        return self.convert(read_motion(path), path, name, row)

    def convert(
        self, motion: JointMotion, path: Path, name: str, row: ClipRow | None = None
    ) -> Clip:
        """Convert what was read from a file; see :meth:`read`."""
        start, end = (row.start_20hz, row.end_20hz) if row is not None else (0, -1)
        if self.mapping is None and is_cmu(motion.names, path):
            return _cmu_bvh.clip_of(motion, path, name=name, start_20hz=start, end_20hz=end)
        clip = mapped_clip(
            motion,
            self._mapping_for(motion, path),
            name=name,
            where=str(path),
            source=f"{path.suffix[1:].lower()}/{path.name}",
            caption=re.sub(r"[-_.]+", " ", path.stem),
            licence=self.licence,
        )
        if row is None:
            return clip
        clip = resample(clip, _RATE_HZ)
        end = clip.frames if end < 0 else min(end, clip.frames)
        if not 0 <= start < end - 1:
            raise DataError(f"{path}: frames {start} to {row.end_20hz}, it has {clip.frames}")
        return clip.with_poses(clip.rotations[start:end], clip.root_m[start:end])

    def _mapping_for(self, motion: JointMotion, path: Path) -> JointMapping:
        if self.mapping is not None:
            return self.mapping
        guess = self._guesses.setdefault(motion.names, guess_mapping(motion))
        if guess.doubts and not self.accept_doubts:
            raise DataError(
                f"{path}: its joints are not certain ({guess.doubts[0]}); look at them with "
                f"'jaywalk motion map {path} -o mapping.toml' and give --mapping mapping.toml"
            )
        return guess.mapping
