"""Motions on CARLA's walker rigs: exact transfer of rotations, root path, legs.

SMPL's axes (x left, y up, z forward) become mesh axes (x left, y forward, z up) by exchanging y and
z. That changes handedness, as it must: conjugating a rotation by it gives a proper rotation again,
with the sense about every mapped axis reversed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.rotation import (
    conjugate,
    multiply,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
    rotate,
    rotator_from_quat,
)
from jaywalk.motion._legs import lead_legs, lowering_m
from jaywalk.motion.carla_rigs import Rig, load_rig
from jaywalk.motion.clip import Clip
from jaywalk.motion.heading import heading_rad
from jaywalk.motion.smpl import (
    BALL_HEIGHT_M,
    BODY_OFFSETS_M,
    JOINTS,
    LEFT_BALL,
    LEFT_HIP,
    RIGHT_BALL,
    RIGHT_HIP,
)


class RootPolicy(StrEnum):
    """What becomes of the path when the rig's legs are longer or shorter than the person's."""

    SCALE = "scale"  # path and footfalls grow with the leg; speed changes
    KEEP = "keep"  # path and footfalls stay; steps are short or long for the leg


#: Joint of SMPL whose global rotation drives each bone; spine2 and spine3 merge in spine01.
DRIVEN: Final[dict[str, str]] = {
    "crl_hips__C": "pelvis",
    "crl_spine__C": "spine1",
    "crl_spine01__C": "spine3",
    "crl_shoulder__L": "left_collar",
    "crl_arm__L": "left_shoulder",
    "crl_foreArm__L": "left_elbow",
    "crl_hand__L": "left_wrist",
    "crl_neck__C": "neck",
    "crl_Head__C": "head",
    "crl_shoulder__R": "right_collar",
    "crl_arm__R": "right_shoulder",
    "crl_foreArm__R": "right_elbow",
    "crl_hand__R": "right_wrist",
    "crl_thigh__R": "right_hip",
    "crl_leg__R": "right_knee",
    "crl_foot__R": "right_ankle",
    "crl_toe__R": "right_foot",
    "crl_thigh__L": "left_hip",
    "crl_leg__L": "left_knee",
    "crl_foot__L": "left_ankle",
    "crl_toe__L": "left_foot",
}
DRIVEN_COUNT: Final = len(DRIVEN)
_NAMES: Final = tuple(DRIVEN)
_JOINT_OF: Final = np.array([JOINTS.index(joint) for joint in DRIVEN.values()])
_THIGHS: Final = [_NAMES.index(f"crl_thigh__{side}") for side in "LR"]
_SHANKS: Final = [_NAMES.index(f"crl_leg__{side}") for side in "LR"]
_FEET: Final = [_NAMES.index(f"crl_foot__{side}") for side in "LR"]
_TOES: Final = [_NAMES.index(f"crl_toe__{side}") for side in "LR"]
_FLEXION: Final = np.array([-1.0, 0.0, 0.0])
#: The actor's yaw follows the person's heading, low-passed.
HEADING_SMOOTH_S: Final = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class RigClip:
    """A motion on a walker.

    Attributes:
        rig: One of ``RIG_NAMES``.
        policy: What was done with the path.
        actor: (frames, 4) ``x y z yaw`` of the walker in CARLA's axes, metres and radians; z is
            the ground under the soles, so an actor's own z is this plus its half height.
        hips_m: (frames, 3) parent-relative location of ``crl_hips__C``.
        turns: (frames, 21, 4) parent-relative rotations of the driven bones (order of ``DRIVEN``).
        rate_hz: Frames per second.
    """

    rig: str
    policy: RootPolicy
    actor: FloatArray
    hips_m: FloatArray
    turns: FloatArray
    rate_hz: float

    def poses(self) -> FloatArray:
        """(frames, bones, 7) parent-relative transforms of all bones of the rig."""
        rig = load_rig(self.rig)
        out = np.repeat(rig.rest_local[None], len(self.actor), axis=0)
        out[:, _bones(rig), 3:] = self.turns
        out[:, rig.bone_index["crl_hips__C"], :3] = self.hips_m
        return out

    def joints_m(self) -> FloatArray:
        """(frames, bones, 3) positions in the world, CARLA's axes, ground at z = 0."""
        rig = load_rig(self.rig)
        return _world_joints(self.poses(), rig.parents, np.ascontiguousarray(self.actor))

    def engine_bones(self, frame: int) -> list[tuple[str, list[float], list[float]]]:
        """Argument of ``set_bones``: name, location (m) and pitch, yaw, roll (degrees)."""
        rig = load_rig(self.rig)
        places = rig.rest_local[_bones(rig), :3].copy()
        places[0] = self.hips_m[frame]
        angles = engine_angles_deg(self.turns[frame])
        return list(zip(_NAMES, places.tolist(), angles.tolist(), strict=True))


@kernel
def _rotators(quats: FloatArray) -> FloatArray:
    out = np.empty((quats.shape[0], 3))
    for i in range(quats.shape[0]):
        out[i] = rotator_from_quat((quats[i, 0], quats[i, 1], quats[i, 2], quats[i, 3]))
    return out


def engine_angles_deg(quats: FloatArray) -> FloatArray:
    """Quaternions (..., 4) as pitch, yaw, roll: the last step, never to be interpolated."""
    flat = np.ascontiguousarray(quats.reshape(-1, 4))
    return np.asarray(_rotators(flat).reshape(*quats.shape[:-1], 3))


def _bones(rig: Rig) -> IntArray:
    return np.array([rig.bone_index[name] for name in _NAMES], dtype=np.int64)


def _above(rig: Rig) -> IntArray:
    """Place in ``DRIVEN`` of each driven bone's parent, -1 below the undriven root."""
    places = {int(bone): i for i, bone in enumerate(_bones(rig))}
    return np.array([places.get(int(rig.parents[b]), -1) for b in _bones(rig)], dtype=np.int64)


def to_mesh_turn(q: FloatArray) -> FloatArray:
    """Rotations in SMPL's axes as rotations in mesh axes: ``M R M^-1`` with ``M`` improper."""
    return np.asarray(q[..., [0, 1, 3, 2]] * np.array([1.0, -1.0, -1.0, -1.0]))


def to_mesh_point(points: FloatArray) -> FloatArray:
    """Points in SMPL's axes in mesh axes."""
    return np.asarray(points[..., [0, 2, 1]])


@kernel
def _local_turns(
    turns: FloatArray, above: IntArray, rest: FloatArray, rest_above: FloatArray
) -> FloatArray:
    """Mesh-space turns away from rest to parent-relative rotations, rest included."""
    out = np.empty_like(turns)
    for t in range(turns.shape[0]):
        for i in range(turns.shape[1]):
            q = (turns[t, i, 0], turns[t, i, 1], turns[t, i, 2], turns[t, i, 3])
            p = above[i]
            if p >= 0:
                q = quat_multiply(
                    quat_conjugate(
                        (turns[t, p, 0], turns[t, p, 1], turns[t, p, 2], turns[t, p, 3])
                    ),
                    q,
                )
            g = (rest[i, 0], rest[i, 1], rest[i, 2], rest[i, 3])
            h = (rest_above[i, 0], rest_above[i, 1], rest_above[i, 2], rest_above[i, 3])
            q = quat_multiply(quat_conjugate(h), quat_multiply(q, g))
            out[t, i, 0], out[t, i, 1], out[t, i, 2], out[t, i, 3] = q[0], q[1], q[2], q[3]
    return out


def local_from_turns(turns: FloatArray, rig: Rig) -> FloatArray:
    """(frames, 21, 4) turns away from rest in mesh space to parent-relative rotations.

    With L and G the local and global rest rotations this is L G^-1 (M R M^-1) G of every bone:
    since G is the parent's times L, L G^-1 is the inverse of the parent's.
    """
    bones = _bones(rig)
    rest = np.ascontiguousarray(rig.rest_mesh[bones, 3:])
    above = np.ascontiguousarray(rig.rest_mesh[rig.parents[bones], 3:])
    out: FloatArray = _local_turns(np.ascontiguousarray(turns), _above(rig), rest, above)
    return out


def driven_turns(motion: Clip) -> FloatArray:
    """(frames, 21, 4) how far each driven bone is turned from rest, in mesh axes of the world."""
    return to_mesh_turn(motion.turned()[:, _JOINT_OF])


def transfer_rotations(motion: Clip, rig: Rig) -> FloatArray:
    """Exact transfer without any leg correction: (frames, 21, 4) parent-relative rotations."""
    return local_from_turns(driven_turns(motion), rig)


@kernel
def _world_joints(poses: FloatArray, parents: IntArray, actor: FloatArray) -> FloatArray:
    frames, bones = poses.shape[0], poses.shape[1]
    out = np.empty((frames, bones, 3))
    turned = np.empty((bones, 4))
    for t in range(frames):
        cos, sin = np.cos(actor[t, 3]), np.sin(actor[t, 3])
        place = np.empty((bones, 3))
        for b in range(bones):
            p = parents[b]
            row = poses[t, b]
            q = (row[3], row[4], row[5], row[6])
            v = (row[0], row[1], row[2])
            if p >= 0:
                above = (turned[p, 0], turned[p, 1], turned[p, 2], turned[p, 3])
                v = quat_rotate(above, v)
                v = (v[0] + place[p, 0], v[1] + place[p, 1], v[2] + place[p, 2])
                q = quat_multiply(above, q)
            turned[b, 0], turned[b, 1], turned[b, 2], turned[b, 3] = q[0], q[1], q[2], q[3]
            place[b, 0], place[b, 1], place[b, 2] = v[0], v[1], v[2]
            # mesh y is the actor's forward, mesh x its left
            forward, right = v[1], -v[0]
            out[t, b, 0] = actor[t, 0] + cos * forward - sin * right
            out[t, b, 1] = actor[t, 1] + sin * forward + cos * right
            out[t, b, 2] = actor[t, 2] + v[2]
    return out


def retarget(motion: Clip, rig: Rig, policy: RootPolicy) -> RigClip:
    """Put a motion on a rig: rotations exactly, then legs led so that feet stand where they stood.

    Expects the ground at y = 0. The balls of the feet follow the person's (times the leg ratio
    under ``scale``), feet keep their orientation, hips keep their height in leg lengths.
    """
    turns = driven_turns(motion)
    joints = to_mesh_point(motion.joints_m())
    ratio = rig.leg_length_m / motion.leg_length_m
    stretch = ratio if policy is RootPolicy.SCALE else 1.0
    rest = rig.rest_mesh[_bones(rig), :3]
    balls = _ball_targets(joints, rest, motion.body_scale, stretch)
    hips = _hip_centre(joints, rest, motion.body_scale, ratio, stretch)
    centre = rotate(turns[:, 0], rest[_THIGHS].mean(axis=0) - rest[0])
    place = hips - centre
    thighs = place[:, None] + rotate(turns[:, :1], rest[_THIGHS] - rest[0])
    ankles = balls - rotate(turns[:, _FEET], rest[_TOES] - rest[_FEET])
    wanted = ankles - thighs
    rest_thigh, rest_shank = rest[_SHANKS] - rest[_THIGHS], rest[_FEET] - rest[_SHANKS]
    legs = np.linalg.norm(rest_thigh, axis=1) + np.linalg.norm(rest_shank, axis=1)
    drop = lowering_m(wanted, legs, 2, motion.rate_hz)
    wanted[..., 2] += drop[:, None]
    place[:, 2] -= drop
    upper, lower = turns[:, _THIGHS].copy(), turns[:, _SHANKS].copy()
    lead_legs(upper, lower, rest_thigh, rest_shank, _FLEXION, wanted)
    turns[:, _THIGHS], turns[:, _SHANKS] = upper, lower
    return _as_walker(motion, rig, policy, turns, place)


def _ball_targets(
    joints: FloatArray, rest: FloatArray, body_scale: float, stretch: float
) -> FloatArray:
    balls = joints[:, [LEFT_BALL, RIGHT_BALL]] * stretch
    balls[..., 2] += rest[_TOES, 2] - stretch * body_scale * BALL_HEIGHT_M
    return np.asarray(balls)


def _hip_centre(
    joints: FloatArray, rest: FloatArray, body_scale: float, ratio: float, stretch: float
) -> FloatArray:
    """(frames, 3) wanted place of the point between the hip joints."""
    middle = joints[:, [LEFT_HIP, RIGHT_HIP]].mean(axis=1)
    standing = body_scale * BALL_HEIGHT_M
    ankle = standing - body_scale * float(BODY_OFFSETS_M[LEFT_BALL, 1])
    # a leap lifts the body as far as it lifts the feet, whatever the legs' length
    leap = np.maximum(joints[:, [LEFT_BALL, RIGHT_BALL], 2].min(axis=1) - standing, 0.0)
    out = middle * stretch
    out[:, 2] = rest[_FEET, 2].mean() + ratio * (middle[:, 2] - leap - ankle) + stretch * leap
    return np.asarray(out)


def _as_walker(
    motion: Clip, rig: Rig, policy: RootPolicy, turns: FloatArray, place: FloatArray
) -> RigClip:
    """Split what the actor does (path, yaw) from what the bones do."""
    yaw = heading_rad(motion, smooth_s=HEADING_SMOOTH_S)
    half = 0.5 * yaw
    zero = np.zeros_like(half)
    # a turn about SMPL's +y by the heading is one about mesh +z by minus the heading
    facing = np.stack([np.cos(half), zero, zero, -np.sin(half)], axis=-1)
    local = local_from_turns(multiply(conjugate(facing)[:, None], turns), rig)
    actor = np.stack([place[:, 1], -place[:, 0], zero, -yaw], axis=1)
    hips = np.stack([zero, zero, place[:, 2]], axis=1) - rig.rest_mesh[0, :3]
    return RigClip(
        rig=rig.name,
        policy=policy,
        actor=actor,
        hips_m=rotate(conjugate(rig.rest_mesh[0, 3:]), hips),
        turns=local,
        rate_hz=motion.rate_hz,
    )
