"""Motion of a mapped skeleton on ours.

Rotations are transferred relative to a rest pose, and the limbs' bones get their own directions:
the rest pose may be a T-pose, an A-pose or arms that hang down. Without a usable rest pose,
rotations are fitted to the positions of the joints, and the file's rotations add the twist.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.geometry.rotation import (
    conjugate,
    multiply,
    normalise,
    rotate,
    shortest_arc,
    slerp,
)
from jaywalk.motion.clip import Clip
from jaywalk.motion.heading import yaw_quaternion
from jaywalk.motion.smpl import (
    BODY_OFFSETS_M,
    JOINT_COUNT,
    JOINTS,
    LEG_LENGTH_M,
    PARENTS,
    SPINE3,
)
from jaywalk.motion.sources._humanml3d import fit_joints
from jaywalk.motion.sources._joint_guess import axis_vector, nearest_axis, upward
from jaywalk.motion.sources._joint_motion import JointMotion
from jaywalk.motion.sources.joint_mapping import JointMapping, check_required

RATES_HZ: Final = (5.0, 2000.0)
_LEGS_M: Final = (0.25, 1.3)
# Limb bones: joint and child. Trunk and feet keep the rest pose's posture as ours.
_LIMBS: Final = ((1, 4), (2, 5), (4, 7), (5, 8), (16, 18), (17, 19), (18, 20), (19, 21))
_STILL: Final = 1e-6  # of the leg's length
_AT: Final = {name: place for place, name in enumerate(JOINTS)}


def mapped_clip(
    motion: JointMotion,
    mapping: JointMapping,
    *,
    name: str,
    where: str,
    source: str,
    caption: str = "",
    licence: str = "",
) -> Clip:
    """Convert a motion to our skeleton, at its own rate.

    Args:
        motion: As read.
        mapping: Its joints, axes, unit and rest pose.
        name: Name of the clip.
        where: The file, for messages.
        source: Source of the clip.
        caption: Description of the action.
        licence: Licence of the data.

    Raises:
        DataError: Joints are missing, the hips do not move, or lengths are not human.
    """
    mapping.check(motion.names, where)
    check_required(mapping.joints, where, motion.names)
    rate_hz = _rate_hz(motion, where)
    at = {ours: motion.names.index(theirs) for ours, theirs in mapping.joints.items()}
    rest = motion.cut(np.array([0])) if mapping.rest == "first" else None
    if rest is not None:
        motion = motion.cut(np.arange(1, len(motion.root)))
    if len(motion.root) < 2:
        raise DataError(f"{where}: has {len(motion.root)} frames; a motion needs at least 2")
    upright = _to_y_up(mapping.up)
    turned = motion.turned()
    places = motion.positions(turned)
    joints = _all_joints(rotate(upright, places) * mapping.unit_m, motion, at, turned, upright)
    leg_m = _leg_m(joints)
    if not _LEGS_M[0] < leg_m < _LEGS_M[1]:
        raise DataError(
            f"{where}: legs of {leg_m:.3g} m with unit_m = {mapping.unit_m:g}; expected "
            f"{_LEGS_M[0]:g} to {_LEGS_M[1]:g} m. Set unit_m in the mapping file."
        )
    _check_moves(joints, leg_m, where)
    clip = fit_joints(
        joints, rate_hz=rate_hz, name=name, caption=caption, source=source, licence=licence
    )
    if not motion.rotates:
        return clip
    own = multiply(upright, turned)
    if mapping.rest == "fitted":
        return _with_twist(clip, own, at, joints)
    rest_turned, rest_places = (
        motion.at_rest() if rest is None else (rest.turned()[0], rest.positions(rest.turned())[0])
    )
    back = _to_facing(rest_places, at)
    rest_joints = _all_joints(rotate(back, rest_places)[None], motion, at, rest_turned[None], back)
    since = multiply(own, conjugate(multiply(back, rest_turned)))
    return _placed(clip, _spread(_realigned(since, at, rest_joints[0]), at), joints)


def _rate_hz(motion: JointMotion, where: str) -> float:
    low, high = RATES_HZ
    rate_hz = 1.0 / motion.frame_time_s if motion.frame_time_s > 0.0 else 0.0
    if abs(rate_hz - round(rate_hz)) < 1e-3 * rate_hz:  # headers round: .0083333, .033333
        rate_hz = float(round(rate_hz))
    if not low <= rate_hz <= high:
        raise DataError(
            f"{where}: a frame time of {motion.frame_time_s:g} s; expected {1.0 / high:g} to "
            f"{1.0 / low:g} s"
        )
    return rate_hz


def _check_moves(joints: FloatArray, leg_m: float, where: str) -> None:
    """Refuse a person who walks on the spot because the path of the hips was not exported."""
    hips = np.ptp(joints[:, 0], axis=0).max()
    feet = np.ptp(joints[:, 7] - joints[:, 0], axis=0).max()
    if hips < _STILL * leg_m and feet > 0.05 * leg_m:
        raise DataError(
            f"{where}: the hips do not move, but the legs do; export the path of the hips too "
            "(root motion, Xposition Yposition Zposition)"
        )


def _to_y_up(up: str) -> FloatArray:
    return shortest_arc(axis_vector(up), np.array([0.0, 1.0, 0.0]))


def _to_facing(places: FloatArray, at: dict[str, int]) -> FloatArray:
    """Rotation that makes a rest pose (joints, 3) stand on y and face +z."""
    up, _ = nearest_axis(upward(places, at))
    upright = _to_y_up(up)
    left = rotate(upright, places[at["left_hip"]] - places[at["right_hip"]])
    # facing +z, the left hip lies at +x; a turn by yaw about +y takes +x to (cos, 0, -sin)
    yaw = np.arctan2(-left[2], left[0])
    return np.asarray(multiply(yaw_quaternion(-yaw), upright))


def _leg_m(joints: FloatArray) -> float:
    bones = [np.linalg.norm(joints[:, b] - joints[:, a], axis=1) for a, b in _LIMBS[:4]]
    return float(np.median(np.sum(bones, axis=0))) / 2.0


# -- positions -------------------------------------------------------------------------------------


def _all_joints(
    places: FloatArray,
    motion: JointMotion,
    at: dict[str, int],
    turned: FloatArray,
    upright: FloatArray,
) -> FloatArray:
    """(frames, 22, 3) positions of our joints; those that the file lacks are interpolated."""
    out = np.full((len(places), JOINT_COUNT, 3), np.nan)
    for name, joint in at.items():
        out[:, _AT[name]] = places[:, joint]
    _add_collars(out)
    _add_spine(out)
    ends = dict(motion.ends)
    scale = _scale(out)
    ahead = np.cross(out[:, 1] - out[:, 2], out[:, _AT["neck"]] - out[:, 0])
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    for side in ("left", "right"):
        ankle, ball = _AT[f"{side}_ankle"], _AT[f"{side}_foot"]
        if not np.isnan(out[0, ball, 0]):
            continue
        end = np.array(ends.get(at[f"{side}_ankle"], (0.0, 0.0, 0.0)))
        if np.linalg.norm(end) > 0.0:
            foot = rotate(multiply(upright, turned[:, at[f"{side}_ankle"]]), end)
            size = np.linalg.norm(BODY_OFFSETS_M[ball]) * scale
            out[:, ball] = out[:, ankle] + foot / np.linalg.norm(end) * size
        else:
            down, forward = BODY_OFFSETS_M[ball, 1], BODY_OFFSETS_M[ball, 2]
            shank = out[:, ankle] - out[:, _AT[f"{side}_knee"]]
            shank /= np.maximum(np.linalg.norm(shank, axis=1, keepdims=True), 1e-12)
            out[:, ball] = out[:, ankle] + scale * (forward * ahead - down * shank)
    return out


def _scale(joints: FloatArray) -> float:
    return _leg_m(joints) / LEG_LENGTH_M


def _add_collars(out: FloatArray) -> None:
    shoulders = out[:, [_AT["left_shoulder"], _AT["right_shoulder"]]]
    middle = shoulders.mean(axis=1)
    neck, head = _AT["neck"], _AT["head"]
    if np.isnan(out[0, neck, 0]):
        out[:, neck] = 0.7 * middle + 0.3 * out[:, head]
    if np.isnan(out[0, head, 0]):
        rise = out[:, neck] - out[:, 0]
        out[:, head] = out[:, neck] + 0.16 * rise
    for number, side in enumerate(("left", "right")):
        collar = _AT[f"{side}_collar"]
        if np.isnan(out[0, collar, 0]):
            out[:, collar] = 0.55 * middle + 0.45 * shoulders[:, number]


def _add_spine(out: FloatArray) -> None:
    """Fill missing spine joints along the line from the pelvis to the neck, in our proportions."""
    chain = [0, _AT["spine1"], _AT["spine2"], _AT["spine3"], _AT["neck"]]
    bones = np.linalg.norm(BODY_OFFSETS_M[chain[1:]], axis=1)
    along = np.concatenate([[0.0], np.cumsum(bones)]) / bones.sum()
    known = [k for k, joint in enumerate(chain) if not np.isnan(out[0, joint, 0])]
    for k, joint in enumerate(chain):
        if k in known:
            continue
        low = max(one for one in known if one < k)
        high = min(one for one in known if one > k)
        share = (along[k] - along[low]) / (along[high] - along[low])
        out[:, joint] = (1.0 - share) * out[:, chain[low]] + share * out[:, chain[high]]


# -- rotations -------------------------------------------------------------------------------------


def _realigned(since: FloatArray, at: dict[str, int], rest: FloatArray) -> FloatArray:
    """(frames, 22, 4) turns away from our rest pose; NaN for joints that the file lacks."""
    out = np.full((len(since), JOINT_COUNT, 4), np.nan)
    for name, joint in at.items():
        out[:, _AT[name]] = since[:, joint]
    for joint, child in _LIMBS[:4]:
        arc = shortest_arc(BODY_OFFSETS_M[child], rest[child] - rest[joint])
        out[:, joint] = multiply(out[:, joint], arc)
    for side in ("left", "right"):
        chain = [_AT[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist")]
        arc = _lowered(BODY_OFFSETS_M[chain[1]], rest[chain[1]] - rest[chain[0]])
        out[:, chain[0]] = multiply(out[:, chain[0]], arc)
        fore = shortest_arc(rotate(arc, BODY_OFFSETS_M[chain[2]]), rest[chain[2]] - rest[chain[1]])
        arc = multiply(fore, arc)
        out[:, chain[1]] = multiply(out[:, chain[1]], arc)
        # at rest, hands are in line with the forearms
        out[:, chain[2]] = multiply(out[:, chain[2]], arc)
    return out


def _lowered(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Rotation of an upper arm from our T-pose to another rest pose: lowered sideways first."""
    angle = np.arctan2(theirs[1], theirs[0]) - np.arctan2(ours[1], ours[0])
    lower = np.array([np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)])
    return multiply(shortest_arc(rotate(lower, ours), theirs), lower)


def _spread(turned: FloatArray, at: dict[str, int]) -> FloatArray:
    """Fill the rotations of missing joints: between those above and below, or as the parent."""
    chain = [0, _AT["spine1"], _AT["spine2"], _AT["spine3"], _AT["neck"], _AT["head"]]
    known = [k for k, joint in enumerate(chain) if JOINTS[joint] in at]
    for k, joint in enumerate(chain):
        if k in known:
            continue
        low = max(one for one in known if one < k)
        high = min((one for one in known if one > k), default=low)
        share = (k - low) / (high - low) if high > low else 0.0
        weight = np.full(len(turned), share)
        turned[:, joint] = slerp(turned[:, chain[low]], turned[:, chain[high]], weight)
    for joint in range(JOINT_COUNT):
        if np.isnan(turned[0, joint, 0]):
            turned[:, joint] = turned[:, SPINE3 if "collar" in JOINTS[joint] else PARENTS[joint]]
    return turned


def _with_twist(clip: Clip, own: FloatArray, at: dict[str, int], joints: FloatArray) -> Clip:
    """Add the twist of the file's rotations to a motion that was fitted to positions.

    A joint's rotation in the file differs from ours by a fixed rotation, which is unknown without
    a rest pose: take its mean over the motion.
    """
    fitted = clip.turned()
    turned = fitted.copy()
    for name, joint in at.items():
        ours = _AT[name]
        constant = _mean_rotation(multiply(conjugate(own[:, joint]), fitted[:, ours]))
        turned[:, ours] = multiply(own[:, joint], constant)
    for joint, child in _LIMBS:
        seen = joints[:, child] - joints[:, joint]
        arc = shortest_arc(rotate(turned[:, joint], BODY_OFFSETS_M[child]), seen)
        turned[:, joint] = multiply(arc, turned[:, joint])
    for joint in range(1, JOINT_COUNT):
        if JOINTS[joint] not in at:
            local = clip.rotations[:, joint]
            turned[:, joint] = multiply(turned[:, PARENTS[joint]], local)
    return _placed(clip, turned, joints)


def _mean_rotation(turns: FloatArray) -> FloatArray:
    """Mean of rotations (n, 4): the principal axis of their outer products."""
    _, vectors = np.linalg.eigh(turns.T @ turns)
    return np.asarray(vectors[:, -1])


def _placed(clip: Clip, turned: FloatArray, joints: FloatArray) -> Clip:
    """The clip with global rotations, its hips where the file's are."""
    local = turned.copy()
    local[:, 1:] = multiply(conjugate(turned[:, PARENTS[1:]]), turned[:, 1:])
    middle = joints[:, 1:3].mean(axis=1)
    root = middle - rotate(turned[:, 0], clip.body_scale * BODY_OFFSETS_M[1:3].mean(axis=0))
    return replace(clip, rotations=normalise(local), root_m=root)
