"""Clip banks and player state, as arrays for compiled kernels.

A bank stacks the frames of many clips in memory. :class:`Rows` holds the state of all people who
play a clip, with one row per person.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.clip import LIBRARY_RATE_HZ
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.playback.joins import walking_stretch
from jaywalk.motion.retarget import DRIVEN_COUNT, RigClip

# States of a foot during and after a join.
FREE: Final = 0  # follows the clip
HELD: Final = 1  # held at its position
STEPPING: Final = 2  # moves to its position in the clip
NOTHING: Final = -1  # index that means no clip


class Rows(NamedTuple):
    """State of the players. Frame: CARLA's left-handed metres, the walker on the ground.

    A person plays ``clip`` at ``time_s``. For ``blend_s`` after the last join, the previous clip
    (``old_*``) fades out. If a join begins during a join, the pose shown at that moment is
    ``frozen`` in ``source_*`` and fades out, while the path still follows the old clip.
    """

    rig: IntArray  # index in RIG_NAMES
    clip: IntArray  # index in the bank
    time_s: FloatArray
    rate: FloatArray  # 1 plays at the captured speed
    old_clip: IntArray
    old_time_s: FloatArray
    old_rate: FloatArray
    frozen: IntArray  # 1: the fading pose is the one in ``source_*``, not that of the old clip
    since_s: FloatArray  # time since the last join
    blend_s: FloatArray
    turn_rad: FloatArray  # total turn after the last join, spread over ``turn_s``
    turn_s: FloatArray
    steer_radps: FloatArray  # turning added by the caller
    x_m: FloatArray
    y_m: FloatArray
    yaw_rad: FloatArray
    speed_mps: FloatArray  # over the ground, of the last advance
    foot: IntArray  # (n, 2) FREE, HELD or STEPPING; left, right
    foot_s: FloatArray  # (n, 2) time since the step began
    lock_m: FloatArray  # (n, 2, 3) HELD: position of the ball, z over the ground; STEPPING: offset
    turns: FloatArray  # (n, 21, 4) shown
    hips_m: FloatArray  # (n, 3) shown
    source_turns: FloatArray  # (n, 21, 4)
    source_hips_m: FloatArray


def make_rows(rigs: IntArray) -> Rows:
    """Make the rows of people who do not play a clip yet."""
    n = len(rigs)
    turns = np.zeros((n, DRIVEN_COUNT, 4))
    turns[..., 0] = 1.0
    return Rows(
        rig=np.array(rigs, np.int64),
        clip=np.full(n, NOTHING, np.int64),
        time_s=np.zeros(n),
        rate=np.ones(n),
        old_clip=np.full(n, NOTHING, np.int64),
        old_time_s=np.zeros(n),
        old_rate=np.ones(n),
        frozen=np.ones(n, np.int64),
        since_s=np.zeros(n),
        blend_s=np.zeros(n),
        turn_rad=np.zeros(n),
        turn_s=np.zeros(n),
        steer_radps=np.zeros(n),
        x_m=np.zeros(n),
        y_m=np.zeros(n),
        yaw_rad=np.zeros(n),
        speed_mps=np.zeros(n),
        foot=np.zeros((n, 2), np.int64),
        foot_s=np.zeros((n, 2)),
        lock_m=np.zeros((n, 2, 3)),
        turns=turns,
        hips_m=np.zeros((n, 3)),
        source_turns=turns.copy(),
        source_hips_m=np.zeros((n, 3)),
    )


def with_row(rows: Rows, rig: int) -> Rows:
    """Return the rows with one more row for a new person."""
    new = make_rows(np.array([rig]))
    return Rows(*(np.concatenate([a, b]) for a, b in zip(rows, new, strict=True)))


_ROOM_FRAMES: Final = 4096
_BALLS: Final = ("crl_toe__L", "crl_toe__R")
#: Points that a join compares, by position relative to the person and by velocity.
_FELT: Final = (
    "crl_toe__L",
    "crl_toe__R",
    "crl_foot__L",
    "crl_foot__R",
    "crl_hand__L",
    "crl_hand__R",
    "crl_hips__C",
    "crl_Head__C",
)
FELT_COUNT: Final = 6 * len(_FELT)
_VELOCITY_WEIGHT_S: Final = 0.15
# Largest height over the rest height and largest speed of a standing ball of the foot, for legs of
# 0.9 m; scaled for other legs.
_STANDING_RISE_M: Final = 0.025
_STANDING_MPS: Final = 0.35
_ADULT_LEG_M: Final = 0.9

_Kind = TypeVar("_Kind", np.float64, np.bool_)


class Frames(NamedTuple):
    """Frames of all clips, one after the other, and the range of each clip.

    Attributes:
        turns: (frames, 21, 4) parent-relative rotations of the driven bones.
        hips_m: (frames, 3) parent-relative position of the hips.
        actor: (frames, 4) ``x y z yaw`` of the walker, as in :class:`RigClip`.
        planted: (frames, 2) mask of standing balls of the left and the right foot.
        first: (clips,) first frame of each clip.
        length: (clips,) number of frames of each clip.
        rate_hz: Frames per second.
    """

    turns: FloatArray
    hips_m: FloatArray
    actor: FloatArray
    planted: BoolArray
    first: IntArray
    length: IntArray
    rate_hz: float


class ClipBank:
    """Clips of a library on certain rigs; each is read once.

    Example:
        >>> bank = ClipBank(default_library())  # doctest: +SKIP
        >>> walk = bank.index("walk-0001", "woman")  # doctest: +SKIP
    """

    def __init__(self, library: MotionLibrary) -> None:
        self.library = library
        self._known: dict[tuple[str, str], int] = {}
        self.names: list[str] = []
        self.rigs: list[str] = []
        self.walks: list[range | None] = []  # frames in which each clip walks steadily
        self._used = 0
        self._felt: FloatArray = np.zeros((_ROOM_FRAMES, FELT_COUNT))
        self._frames = Frames(
            turns=np.zeros((_ROOM_FRAMES, DRIVEN_COUNT, 4)),
            hips_m=np.zeros((_ROOM_FRAMES, 3)),
            actor=np.zeros((_ROOM_FRAMES, 4)),
            planted=np.zeros((_ROOM_FRAMES, 2), np.bool_),
            first=np.zeros(0, np.int64),
            length=np.zeros(0, np.int64),
            rate_hz=LIBRARY_RATE_HZ,
        )

    @property
    def frames(self) -> Frames:
        """Arrays for the kernels; valid until the next clip is read."""
        return self._frames

    def index(self, name: str, rig: str) -> int:
        """Return the index of a clip on a rig; the first call reads it from the library."""
        key = (name, rig)
        if key not in self._known:
            self._add(name, self.library.on_rig(name, rig))
            self._known[key] = len(self.names) - 1
        return self._known[key]

    def duration_s(self, clip: int) -> float:
        """Time from the first to the last frame of a clip."""
        return float((self._frames.length[clip] - 1) / self._frames.rate_hz)

    def transition_features(self, clip: int) -> FloatArray:
        """Features (frames, features) that a join compares, in metres."""
        first = int(self._frames.first[clip])
        return self._felt[first : first + int(self._frames.length[clip])]

    def way(self, clip: int) -> FloatArray:
        """Path (frames, 4) of the walker, ``x y z yaw``, in the coordinate system of the clip."""
        first = int(self._frames.first[clip])
        return self._frames.actor[first : first + int(self._frames.length[clip])]

    def _add(self, name: str, posed: RigClip) -> None:
        count = len(posed.actor)
        self._make_room(count)
        here = slice(self._used, self._used + count)
        frames = self._frames
        frames.turns[here], frames.hips_m[here] = posed.turns, posed.hips_m
        frames.actor[here] = posed.actor
        joints = posed.joints_m()
        frames.planted[here] = _planted(joints, posed)
        self._felt[here] = _felt(joints, posed)
        self._frames = frames._replace(
            first=np.append(frames.first, self._used), length=np.append(frames.length, count)
        )
        self.names.append(name)
        self.rigs.append(posed.rig)
        self.walks.append(walking_stretch(posed.actor, posed.rate_hz))
        self._used += count

    def _make_room(self, count: int) -> None:
        room = len(self._felt)
        if self._used + count <= room:
            return
        more = max(room, count)
        frames = self._frames
        self._felt = _longer(self._felt, more)
        self._frames = frames._replace(
            turns=_longer(frames.turns, more),
            hips_m=_longer(frames.hips_m, more),
            actor=_longer(frames.actor, more),
            planted=_longer(frames.planted, more),
        )


def _longer(array: NDArray[_Kind], more: int) -> NDArray[_Kind]:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


def _planted(joints: FloatArray, posed: RigClip) -> BoolArray:
    """Mask (frames, 2) of standing balls of the feet."""
    rig = load_rig(posed.rig)
    bones = [rig.bone_index[name] for name in _BALLS]
    balls = joints[:, bones]
    size = rig.leg_length_m / _ADULT_LEG_M
    low = balls[..., 2] < rig.rest_mesh[bones, 2] + _STANDING_RISE_M * size
    velocity = np.gradient(balls[..., :2], axis=0) * posed.rate_hz
    slow = np.linalg.norm(velocity, axis=-1) < _STANDING_MPS * np.sqrt(size)
    return np.asarray(low & slow)


def _felt(joints: FloatArray, posed: RigClip) -> FloatArray:
    """Features (frames, features): positions and velocities in the axes of the walker."""
    rig = load_rig(posed.rig)
    places = joints[:, [rig.bone_index[name] for name in _FELT]].copy()
    velocity = np.gradient(places, axis=0) * posed.rate_hz * _VELOCITY_WEIGHT_S
    places[..., :2] -= posed.actor[:, None, :2]
    cos, sin = np.cos(posed.actor[:, 3])[:, None], np.sin(posed.actor[:, 3])[:, None]
    for vectors in (places, velocity):
        x, y = vectors[..., 0].copy(), vectors[..., 1].copy()
        vectors[..., 0], vectors[..., 1] = cos * x + sin * y, cos * y - sin * x
    both = np.concatenate([places, velocity], axis=1)
    return np.asarray(both.reshape(len(joints), -1))
