"""Arms that hold things: hands are moved to their places by two-bone inverse kinematics.

Added to the pose that a clip shows, before the gaze. The objects come from the walker's
attribute ``carries``, which records keep, so poses can be made again from a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import (
    Quat,
    Vec3,
    quat_conjugate,
    quat_from_columns,
    quat_multiply,
    quat_rotate,
)
from jaywalk.motion._legs import arc, dot, length, unit
from jaywalk.motion.carla_rigs import ADULT_HEIGHT_M, RIG_NAMES, load_rig
from jaywalk.motion.retarget import DRIVEN

_GROUND, _CHEST, _HEAD = 0, 1, 2


class _Grip(NamedTuple):
    """A place of the right hand; the left hand's is its mirror image.

    Attributes:
        origin: From where: the ground under the person, the chest bone or the head bone.
        wrist_m: Left, forward, up, on a body of adult size.
        elbow: Direction to which the elbow points.
        fingers: Direction of the fingers.
        palm: Direction of the palm.
    """

    origin: int
    wrist_m: Vec3
    elbow: Vec3
    fingers: Vec3
    palm: Vec3


_PHONE: Final = _Grip(
    _CHEST, (-0.09, 0.27, 0.0), (-0.5, -0.2, -0.9), (0.4, 0.6, 0.6), (0, -0.7, 0.7)
)
_CALL: Final = _Grip(
    _HEAD, (-0.125, 0.075, -0.075), (-0.7, 0.3, -0.8), (0.2, -0.3, 0.93), (1, 0.2, 0)
)
_UMBRELLA: Final = _Grip(
    _CHEST, (-0.15, 0.24, -0.01), (-0.5, -0.2, -0.9), (0.75, 0.65, 0.1), (0.65, -0.75, 0.0)
)
_PUSH: Final = _Grip(
    _GROUND, (-0.17, 0.36, 1.05), (-0.5, -0.6, -0.6), (0.1, 0.95, -0.25), (0, -0.25, -0.95)
)
_STICK: Final = _Grip(
    _CHEST, (-0.25, 0.08, -0.37), (-0.4, -0.9, 0.0), (-0.03, 0.08, -1.0), (1, 0, 0)
)
_PULL: Final = _Grip(
    _GROUND, (-0.27, -0.16, 0.90), (-0.4, -0.9, 0.0), (0.0, -0.45, -0.9), (1, 0, 0)
)
_LEASH: Final = _Grip(
    _CHEST, (-0.20, 0.20, -0.30), (-0.4, -0.9, 0.0), (-0.2, 0.65, 0.73), (-0.95, -0.32, 0.02)
)
# The left forearm lies on the right one.
_FOLD_RIGHT: Final = _Grip(
    _CHEST, (0.10, 0.17, -0.17), (-0.9, 0.1, -0.5), (0.98, 0.1, 0.15), (0.1, -0.98, 0.0)
)
_FOLD_LEFT: Final = _Grip(
    _CHEST, (0.10, 0.22, -0.13), (-0.9, 0.1, -0.5), (0.98, -0.1, -0.1), (-0.1, -0.98, 0.0)
)

#: Grips by word: of the left and of the right hand. The first word that needs a hand has it, so
#: ``call phone`` is a phone at the ear.
_GRIPS: Final[dict[str, tuple[_Grip | None, _Grip | None]]] = {
    "phone": (None, _PHONE),
    "call": (None, _CALL),
    "umbrella": (_UMBRELLA, None),
    "stick": (None, _STICK),
    "pram": (_PUSH, _PUSH),
    "cart": (_PUSH, _PUSH),
    "wheelchair": (_PUSH, _PUSH),
    "suitcase": (_PULL, None),
    "leash": (_LEASH, None),
    "folded-arms": (_FOLD_LEFT, _FOLD_RIGHT),
}


class Holds(NamedTuple):
    """Hands of people; the second axis is left, right.

    Attributes:
        held: (n, 2) hands that hold something.
        origin: (n, 2) from where places are measured.
        wrist_m: (n, 2, 3) places of the wrists.
        elbow: (n, 2, 3) directions of the elbows.
        hand: (n, 2, 4) turns of the hands away from rest.
    """

    held: BoolArray
    origin: IntArray
    wrist_m: FloatArray
    elbow: FloatArray
    hand: FloatArray

    def of(self, chosen: list[int]) -> Holds:
        """Return the hands of some people."""
        return Holds(
            self.held[chosen],
            self.origin[chosen],
            self.wrist_m[chosen],
            self.elbow[chosen],
            self.hand[chosen],
        )


def holds_of(carried: Iterable[tuple[str, str]]) -> Holds:
    """Return the hands of people.

    Args:
        carried: Rig and attribute ``carries`` of each.
    """
    people = list(carried)
    count = len(people)
    holds = Holds(
        held=np.zeros((count, 2), np.bool_),
        origin=np.zeros((count, 2), np.int64),
        wrist_m=np.zeros((count, 2, 3)),
        elbow=np.zeros((count, 2, 3)),
        hand=np.zeros((count, 2, 4)),
    )
    for k, (rig, words) in enumerate(people):
        size = load_rig(rig).height_m / ADULT_HEIGHT_M
        for word in words.split():
            for side, grip in enumerate(_GRIPS.get(word, (None, None))):
                if grip is not None and not holds.held[k, side]:
                    _take(holds, k, side, grip, size)
    return holds


def _take(holds: Holds, k: int, side: int, grip: _Grip, size: float) -> None:
    mirrored = np.array([-1.0 if side == 0 else 1.0, 1.0, 1.0])
    holds.held[k, side], holds.origin[k, side] = True, grip.origin
    holds.wrist_m[k, side] = size * mirrored * grip.wrist_m
    holds.elbow[k, side] = mirrored * grip.elbow
    fingers = mirrored * grip.fingers
    fingers /= np.linalg.norm(fingers)
    palm = mirrored * grip.palm - (mirrored * grip.palm @ fingers) * fingers
    palm /= np.linalg.norm(palm)
    # at rest the fingers point aside (left: +x) and the palms down
    x, z = fingers if side == 0 else -fingers, -palm
    y = np.cross(z, x)
    holds.hand[k, side] = quat_from_columns(tuple(x), tuple(y), tuple(z))


class ArmTables(NamedTuple):
    """Chains from the hips to the hands and the head, of all rigs.

    Attributes:
        root: (rigs, 7) rest of the root bone.
        bones: (rigs, 2, 6, 3) offsets of spine, chest, collar, arm, forearm and hand.
        head: (rigs, 2, 3) offsets of neck and head from the chest.
        hand: (rigs, 2, 4) orientation of the hands at rest.
    """

    root: FloatArray
    bones: FloatArray
    head: FloatArray
    hand: FloatArray


_NAMES: Final = tuple(DRIVEN)
_SPINE: Final = (
    _NAMES.index("crl_hips__C"),
    _NAMES.index("crl_spine__C"),
    _NAMES.index("crl_spine01__C"),
)
_NECK: Final = _NAMES.index("crl_neck__C")
_COLLAR: Final = (_NAMES.index("crl_shoulder__L"), _NAMES.index("crl_shoulder__R"))


@cache
def arm_tables() -> ArmTables:
    """Stack the four rigs."""
    rigs = [load_rig(name) for name in RIG_NAMES]
    bones, hands = [], []
    for rig in rigs:
        chains = [
            ["crl_spine__C", "crl_spine01__C", *(f"crl_{part}__{side}" for part in _ARM)]
            for side in "LR"
        ]
        bones.append([[rig.rest_local[rig.bone_index[n], :3] for n in chain] for chain in chains])
        hands.append([rig.rest_mesh[rig.bone_index[f"crl_hand__{side}"], 3:] for side in "LR"])
    head = [
        [rig.rest_local[rig.bone_index[n], :3] for n in ("crl_neck__C", "crl_Head__C")]
        for rig in rigs
    ]
    return ArmTables(
        root=np.stack([rig.rest_local[0] for rig in rigs]),
        bones=np.array(bones),
        head=np.array(head),
        hand=np.array(hands),
    )


_ARM: Final = ("shoulder", "arm", "foreArm", "hand")


@kernel
def _quat(row: FloatArray) -> Quat:
    return (row[0], row[1], row[2], row[3])


@kernel
def _moved(place: Vec3, turn: Quat, offset: FloatArray) -> Vec3:
    v = quat_rotate(turn, (offset[0], offset[1], offset[2]))
    return (place[0] + v[0], place[1] + v[1], place[2] + v[2])


@kernel
def hold_things(
    turns: FloatArray, hips_m: FloatArray, rig: IntArray, tables: ArmTables, holds: Holds
) -> None:
    """Move the hands of people to the things they hold.

    Args:
        turns: (n, 21, 4) shown rotations; those of arms and hands are changed.
        hips_m: (n, 3) shown hips.
        rig: (n,) index of each person's rig.
        tables: From :func:`arm_tables`.
        holds: Things they hold.
    """
    for i in range(turns.shape[0]):
        for side in range(2):
            if holds.held[i, side]:
                _hold(turns[i], hips_m[i], rig[i], tables, holds, i, side)


@kernel
def _hold(
    turns: FloatArray,
    hips_m: FloatArray,
    rig: int,
    tables: ArmTables,
    holds: Holds,
    i: int,
    side: int,
) -> None:
    root, bones = tables.root[rig], tables.bones[rig, side]
    above = (root[3], root[4], root[5], root[6])
    place = _moved((root[0], root[1], root[2]), above, hips_m)
    above = quat_multiply(above, _quat(turns[_SPINE[0]]))
    for k in range(2):
        place = _moved(place, above, bones[k])
        above = quat_multiply(above, _quat(turns[_SPINE[k + 1]]))
    chest = place
    first = _COLLAR[0] if side == 0 else _COLLAR[1]
    origin = (0.0, 0.0, 0.0)
    if holds.origin[i, side] == _CHEST:
        origin = chest
    elif holds.origin[i, side] == _HEAD:
        neck = _moved(chest, above, tables.head[rig, 0])
        origin = _moved(neck, quat_multiply(above, _quat(turns[_NECK])), tables.head[rig, 1])
    place = _moved(chest, above, bones[2])
    above = quat_multiply(above, _quat(turns[first]))
    shoulder = _moved(place, above, bones[3])
    arm = quat_multiply(above, _quat(turns[first + 1]))
    elbow = _moved(shoulder, arm, bones[4])
    fore = quat_multiply(arm, _quat(turns[first + 2]))
    wrist = _moved(elbow, fore, bones[5])
    want = holds.wrist_m[i, side]
    span = (
        origin[0] + want[0] - shoulder[0],
        origin[1] + want[1] - shoulder[1],
        origin[2] + want[2] - shoulder[2],
    )
    pole = (holds.elbow[i, side, 0], holds.elbow[i, side, 1], holds.elbow[i, side, 2])
    upper = (elbow[0] - shoulder[0], elbow[1] - shoulder[1], elbow[2] - shoulder[2])
    lower = (wrist[0] - elbow[0], wrist[1] - elbow[1], wrist[2] - elbow[2])
    bent, rest = _bend(span, pole, length(upper), length(lower))
    arm_turn = arc(unit(upper), unit(bent))
    fore_turn = arc(unit(quat_rotate(arm_turn, lower)), unit(rest))
    arm = quat_multiply(arm_turn, arm)
    fore = quat_multiply(fore_turn, quat_multiply(arm_turn, fore))
    hand = quat_multiply(_quat(holds.hand[i, side]), _quat(tables.hand[rig, side]))
    new = (
        quat_multiply(quat_conjugate(above), arm),
        quat_multiply(quat_conjugate(arm), fore),
        quat_multiply(quat_conjugate(fore), hand),
    )
    for part in range(3):
        for k in range(4):
            turns[first + 1 + part, k] = new[part][k]


@kernel
def _bend(span: Vec3, pole: Vec3, a: float, b: float) -> tuple[Vec3, Vec3]:
    """Upper arm and forearm that reach over a span, the elbow towards the pole."""
    far = min(max(length(span), abs(a - b) + 1e-3), 0.995 * (a + b))
    u = unit(span)
    along = dot(pole, u)
    out = unit((pole[0] - along * u[0], pole[1] - along * u[1], pole[2] - along * u[2]))
    cos = (a * a + far * far - b * b) / (2.0 * a * far)
    sin = math.sqrt(max(1.0 - cos * cos, 0.0))
    upper = (
        a * (cos * u[0] + sin * out[0]),
        a * (cos * u[1] + sin * out[1]),
        a * (cos * u[2] + sin * out[2]),
    )
    return upper, (far * u[0] - upper[0], far * u[1] - upper[1], far * u[2] - upper[2])
