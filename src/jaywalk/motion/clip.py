"""Clips: joint rotations and pelvis path of a person over time, with mirroring and resampling."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.geometry.rotation import normalise, slerp
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    JOINT_COUNT,
    LEG_LENGTH_M,
    MIRRORED,
    PARENTS,
    global_rotations,
    joint_positions,
)

#: Rate of every motion in a library.
LIBRARY_RATE_HZ: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """Motion of one person, in SMPL's axes (right-handed, x left, y up, z forward at rest), metres.

    Attributes:
        name: Unique in a library, e.g. ``004041``. The names of mirrored copies begin with ``M``;
            the part after a ``+`` names the change of an augmented clip.
        rotations: (frames, 22, 4) joint rotations relative to the parent, quaternions w x y z.
        root_m: (frames, 3) pelvis position, in the metres of the captured person.
        rate_hz: Frames per second.
        body_scale: Leg length of the person over that of the SMPL mean shape.
        caption: Description of the person's action.
        source: File and frames from which the clip was read.
        licence: Licence of the data.
        label: Class from the dataset (HABIT), or empty.
        mirrored: True for a mirror image.
        augmented: Changes of a copy (:mod:`jaywalk.motion.augment`); empty for originals.
    """

    name: str
    rotations: FloatArray
    root_m: FloatArray
    rate_hz: float
    body_scale: float = 1.0
    caption: str = ""
    source: str = ""
    licence: str = ""
    label: str = ""
    mirrored: bool = False
    augmented: str = ""

    def __post_init__(self) -> None:
        frames = len(self.root_m)
        if self.rotations.shape != (frames, JOINT_COUNT, 4) or self.root_m.shape != (frames, 3):
            raise DataError(
                f"{self.name}: rotations {self.rotations.shape} and path {self.root_m.shape} do "
                f"not fit; expected (frames, {JOINT_COUNT}, 4) and (frames, 3)"
            )
        if frames < 2:
            raise DataError(f"{self.name}: has {frames} frames; a motion needs at least 2")
        if not (np.isfinite(self.rotations).all() and np.isfinite(self.root_m).all()):
            raise DataError(f"{self.name}: holds values that are not finite")

    @property
    def base_name(self) -> str:
        """Name of the original motion; train and test are split by it."""
        name = self.name.partition("+")[0] if self.augmented else self.name
        return name[1:] if self.mirrored and name.startswith("M") else name

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.root_m)

    @property
    def duration_s(self) -> float:
        """Time from the first to the last frame."""
        return (self.frames - 1) / self.rate_hz

    @property
    def leg_length_m(self) -> float:
        """Thigh plus shank of the captured person."""
        return self.body_scale * LEG_LENGTH_M

    def turned(self) -> FloatArray:
        """(frames, 22, 4) global rotations."""
        out: FloatArray = global_rotations(np.ascontiguousarray(self.rotations), PARENTS)
        return out

    def joints_m(self) -> FloatArray:
        """(frames, 22, 3) joint positions by forward kinematics."""
        out: FloatArray = joint_positions(
            self.turned(), np.ascontiguousarray(self.root_m), self.offsets_m(), PARENTS
        )
        return out

    def offsets_m(self) -> FloatArray:
        """(22, 3) rest offsets of this person."""
        return np.asarray(self.body_scale * BODY_OFFSETS_M)

    def with_poses(self, rotations: FloatArray, root_m: FloatArray) -> Clip:
        """Return the clip with other rotations and another path."""
        return replace(self, rotations=normalise(rotations), root_m=np.array(root_m))

    def content_hash(self) -> str:
        """Fingerprint of the motion (in single precision), independent of the name."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.rotations, self.root_m):
            digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        digest.update(f"{self.rate_hz:.6f} {self.body_scale:.6f}".encode())
        return digest.hexdigest()


def mirror(motion: Clip) -> Clip:
    """Reflect a motion in the plane x = 0; mirroring twice gives the original."""
    rotations = motion.rotations[:, MIRRORED] * np.array([1.0, 1.0, -1.0, -1.0])
    root = motion.root_m * np.array([-1.0, 1.0, 1.0])
    name = motion.name[1:] if motion.mirrored else "M" + motion.name
    return replace(
        motion,
        name=name,
        rotations=rotations,
        root_m=root,
        mirrored=not motion.mirrored,
        caption=mirror_caption(motion.caption),
    )


def mirror_caption(caption: str) -> str:
    """Exchange left and right, clockwise and counterclockwise."""
    exchange = {"left": "right", "right": "left", "clockwise": "counterclockwise"}

    def swap(match: re.Match[str]) -> str:
        word = match.group(0)
        other = exchange.get(word.lower(), "clockwise")
        return other.capitalize() if word[0].isupper() else other

    return re.sub(r"\b(left|right|counter-?clockwise|clockwise)\b", swap, caption, flags=re.I)


def resample(motion: Clip, rate_hz: float) -> Clip:
    """Resample a motion to another rate, from its first frame to the last instant it covers.

    The motion is sampled at the exact instants. Taking every ``int(rate/20)``-th frame instead
    would turn 100 Hz into 20 Hz but leave 30 Hz at 30 Hz. Rotations are interpolated by slerp and
    the path linearly; poses at common instants are kept exactly.
    """
    if not rate_hz > 0.0:
        raise UsageError(f"rate {rate_hz} Hz; expected a positive number")
    # rounding may put the last frame slightly before the wanted instant
    count = int(np.floor(motion.duration_s * rate_hz + 1e-6)) + 1
    frames = np.minimum(np.arange(count) * (motion.rate_hz / rate_hz), motion.frames - 1.0)
    before = np.minimum(frames.astype(np.int64), motion.frames - 2)
    share = frames - before
    near = np.rint(share)
    share = np.where(np.abs(share - near) < 1e-9, near, share)
    return replace(
        motion,
        rotations=_turns_at(motion.rotations, before, share),
        root_m=motion.root_m[before] * (1.0 - share[:, None])
        + motion.root_m[before + 1] * share[:, None],
        rate_hz=rate_hz,
    )


def _turns_at(rotations: FloatArray, before: np.ndarray, share: FloatArray) -> FloatArray:
    if not ((share > 0.0) & (share < 1.0)).any():
        return np.asarray(rotations[before + share.astype(np.int64)])
    return slerp(rotations[before], rotations[before + 1], share[:, None])
