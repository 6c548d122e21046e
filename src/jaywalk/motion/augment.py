"""Augmentation of motions: mirroring, time warping, changes of speed and style.

Every copy is marked as a copy, keeps the base name of its original, and is the same for the same
seed. The base name decides between train and test (:func:`split_of`), so a copy is always in the
same split as its original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.geometry.rotation import conjugate, continuous, from_rotvec, multiply, slerp, to_rotvec
from jaywalk.motion.clip import Clip, mirror
from jaywalk.motion.library.building import on_rigs
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.motion.retarget import RootPolicy
from jaywalk.motion.smpl import JOINTS
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._pose_channels import mean_rotations

#: Joints whose movement a style changes; legs and pelvis are kept, so the feet do not move.
_UPPER: Final = tuple(
    i
    for i, name in enumerate(JOINTS)
    if any(part in name for part in ("spine", "neck", "head", "collar", "shoulder", "elbow"))
)
_TRUNK: Final = tuple(i for i, name in enumerate(JOINTS) if "spine" in name)
_GREATEST_WARP: Final = 0.22
_SPEEDS: Final = (0.8, 1.25)


def _at(motion: Clip, frames: FloatArray) -> Clip:
    """Sample the motion at fractional frames."""
    before = np.clip(frames.astype(np.int64), 0, motion.frames - 2)
    share = np.clip(frames - before, 0.0, 1.0)
    root = motion.root_m[before] * (1.0 - share[:, None])
    root = root + motion.root_m[before + 1] * share[:, None]
    turns = slerp(motion.rotations[before], motion.rotations[before + 1], share[:, None])
    return replace(motion, rotations=turns, root_m=root)


def change_speed(motion: Clip, factor: float) -> Clip:
    """Play the same movement in less (factor above 1) or more time.

    Raises:
        UsageError: The factor is not positive.
    """
    if not factor > 0.0:
        raise UsageError(f"speed factor {factor}; expected a positive number")
    count = max(2, int(np.floor((motion.frames - 1) / factor + 1e-9)) + 1)
    return _at(motion, np.arange(count, dtype=np.float64) * factor)


def warp_time(motion: Clip, waves: Sequence[float]) -> Clip:
    """Vary the tempo within a motion; start, end and duration are kept.

    Args:
        motion: Motion to warp.
        waves: Amplitudes of sine waves with 1, 2, ... half waves over the clip. The tempo changes
            by at most the sum of their magnitudes, which must stay below 1.

    Raises:
        UsageError: Time would run backward.
    """
    if sum(abs(size) for size in waves) >= 1.0:
        raise UsageError(f"warp {list(waves)} is too strong; magnitudes must add to less than 1")
    share = np.linspace(0.0, 1.0, motion.frames)
    moved = share.copy()
    for number, size in enumerate(waves, 1):
        moved += size * np.sin(np.pi * number * share) / (np.pi * number)
    return _at(motion, np.clip(moved, 0.0, 1.0) * (motion.frames - 1))


def change_style(motion: Clip, *, swing: float, lean_rad: float, arms_rad: float) -> Clip:
    """Scale the movement of the upper body about its mean, lean the trunk, and spread the arms.

    Args:
        motion: Motion to change.
        swing: Factor on the movement of the upper-body joints about their mean.
        lean_rad: Additional forward bend of the trunk.
        arms_rad: Additional angle between arms and body.
    """
    rotations = motion.rotations.copy()
    upper = list(_UPPER)
    means = mean_rotations(rotations[:, upper])
    away = to_rotvec(multiply(conjugate(means), continuous(rotations[:, upper])))
    rotations[:, upper] = multiply(means, from_rotvec(swing * away))
    for joint in _TRUNK:
        lean = from_rotvec(np.array([lean_rad / len(_TRUNK), 0.0, 0.0]))
        rotations[:, joint] = multiply(lean, rotations[:, joint])
    for joint, sign in ((16, 1.0), (17, -1.0)):
        wide = from_rotvec(np.array([0.0, 0.0, sign * arms_rad]))
        rotations[:, joint] = multiply(wide, rotations[:, joint])
    return motion.with_poses(rotations, motion.root_m)


def _speed(motion: Clip, draws: Draws) -> tuple[Clip, str]:
    factor = float(np.exp(draws.uniform(np.log(_SPEEDS[0]), np.log(_SPEEDS[1]))))
    return change_speed(motion, factor), f"speed{factor:.2f}"


def _warp(motion: Clip, draws: Draws) -> tuple[Clip, str]:
    waves = [draws.uniform(-1.0, 1.0) * _GREATEST_WARP / n for n in (1, 1, 2)]
    return warp_time(motion, waves), "warp" + "".join(f"{size:+.2f}" for size in waves)


def _style(motion: Clip, draws: Draws) -> tuple[Clip, str]:
    swing, lean = draws.uniform(0.6, 1.4), draws.angle(-5.0, 9.0)
    arms = draws.angle(-4.0, 12.0)
    changed = change_style(motion, swing=swing, lean_rad=float(lean), arms_rad=float(arms))
    suffix = f"style{swing:.2f}lean{np.rad2deg(lean):+.0f}arms{np.rad2deg(arms):+.0f}"
    return changed, suffix


def _mirror(motion: Clip, _draws: Draws) -> tuple[Clip, str]:
    return mirror(motion), "mirror"


#: Changes of a motion, by name.
WAYS: Final[Mapping[str, Callable[[Clip, Draws], tuple[Clip, str]]]] = {
    "mirror": _mirror,
    "warp": _warp,
    "speed": _speed,
    "style": _style,
}


def augment(motion: Clip, ways: Sequence[str], seed: int, copy: int = 0) -> Clip:
    """Return one changed copy, marked as a copy.

    Args:
        motion: The original.
        ways: Changes to apply, names of ``WAYS``.
        seed: Decides the sizes of the changes, with the clip's name and the copy's number.
        copy: Number of the copy.

    Raises:
        UsageError: A name is unknown, or ``motion`` is itself a copy.
    """
    unknown = [way for way in ways if way not in WAYS]
    if unknown or not ways:
        raise UsageError(f"cannot augment by {list(ways)}; expected some of {', '.join(WAYS)}")
    if motion.augmented:
        raise UsageError(f"{motion.name} is a copy already; augment originals")
    suffix, changed = [], motion
    for way in ways:
        changed, how = WAYS[way](changed, Draws(seed, "augment", motion.name, copy, way))
        suffix.append(how)
    # the name of a mirror image already says so
    name = changed.name + "".join(f"+{how}" for how in suffix if how != "mirror")
    return replace(changed, name=name, augmented=" ".join(suffix))


def split_of(base: str, test_share: float, seed: int = 0) -> str:
    """Return the split of a base motion and of all its copies: ``train`` or ``test``."""
    if not 0.0 <= test_share <= 1.0:
        raise UsageError(f"test share {test_share}; expected a number from 0 to 1")
    place = derive_seed(seed, "split", base) / 2.0**64
    return "test" if place < test_share else "train"


def augmented_motions(
    library: MotionLibrary, ways: Sequence[str], *, copies: int, seed: int, test_share: float
) -> Iterator[Clip]:
    """Yield the originals of a library, each followed by its copies; test motions get none.

    Each copy gets a random choice of the changes. A mirror image that already exists is not made
    again.
    """
    have = set(library.names)
    for name in library.names:
        motion = library.motion(name)
        yield motion
        if motion.augmented or split_of(motion.base_name, test_share) == "test":
            continue
        for copy in range(copies):
            draws = Draws(seed, "ways", name, copy)
            chosen = [way for way in ways if draws.chance(0.6)] or [draws.one_of(ways)]
            made = augment(motion, chosen, seed, copy)
            if made.name not in have:
                have.add(made.name)
                yield made


def augment_library(
    library: MotionLibrary,
    out: Path,
    *,
    ways: Sequence[str] = tuple(WAYS),
    copies: int = 2,
    seed: int = 0,
    test_share: float = 0.0,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Write a library with the motions of another library and copies of them.

    Raises:
        UsageError: A change is unknown, or ``out`` is the folder of ``library``.
    """
    if out.resolve() == library.folder.resolve():
        raise UsageError(f"{out} is the library itself; give another folder")
    policies = {rig: RootPolicy(text) for rig, text in library.meta["policies"].items()}
    notes = {
        "augmented": {"ways": list(ways), "copies": copies, "seed": seed, "test_share": test_share}
    }
    with LibraryWriter(out, policies, notes) as writer:
        for motion in augmented_motions(
            library, ways, copies=copies, seed=seed, test_share=test_share
        ):
            writer.add(motion, on_rigs(motion, policies))
            if writer.clips % 100 == 0:
                say(f"{writer.clips} clips")
