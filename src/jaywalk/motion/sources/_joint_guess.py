"""Guess of the joint mapping of a skeleton, from names, from its shape, and from the motion."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.smpl import JOINTS, LEG_LENGTH_M
from jaywalk.motion.sources._joint_motion import JointMotion
from jaywalk.motion.sources._joint_shape import find_by_shape
from jaywalk.motion.sources.joint_mapping import AXES, JointMapping

BY_NAME, BY_SHAPE = "name", "shape"
#: Names of each part without side and prefix; earlier ones are preferred.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "hip": ("upleg", "upperleg", "thigh", "femur", "hip"),
    "knee": ("knee", "lowerleg", "lowleg", "shin", "calf", "tibia", "leg"),
    "ankle": ("ankle", "foot"),
    "foot": ("toebase", "toe", "toes", "ball", "foot"),
    "collar": ("clavicle", "collar", "shoulder"),
    "shoulder": ("upperarm", "uparm", "arm", "shoulder", "humerus"),
    "elbow": ("elbow", "forearm", "lowerarm", "lowarm"),
    "wrist": ("wrist", "hand"),
}
_PELVIS: Final = ("pelvis", "hips", "hip")
_SPINE: Final = re.compile(
    r"(lower|upper|mid)?(spine|chest|back|abdomen|torso|waist|thorax)(lower|upper|mid)?\d*|[lt]\d+"
)
_SIDES: Final = {"l": "left", "left": "left", "r": "right", "right": "right"}
# A body's height over the length of its legs, thigh and shank.
_HEIGHT_PER_LEG: Final = 1.70 / LEG_LENGTH_M
_METRIC: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001, "dm": 0.1}
_OTHER: Final = {"inch": 0.0254, "CMU's 5.6444 cm": 0.056444, "foot": 0.3048}
_TYPICAL_HEIGHT_M: Final = 1.7
_HUMAN_HEIGHT_M: Final = (0.7, 2.3)  # body height
_SMALL_HEIGHT_M: Final = 0.95
_SAMPLE_FRAMES: Final = 200  # frames at the beginning that are compared
_MIN_COSINE: Final = 0.8  # of a direction's length along one axis


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingGuess:
    """A guessed mapping with its reasons.

    Attributes:
        mapping: The mapping; joints that were not found are missing in it.
        how: ``name`` or ``shape`` for each mapped joint.
        height_m: Height of the body by its legs.
        unit: Name of the unit.
        doubts: Why a person should look at it; empty if it is certain.
    """

    mapping: JointMapping
    how: dict[str, str]
    height_m: float
    unit: str
    doubts: tuple[str, ...] = field(default=())


def guess_mapping(motion: JointMotion) -> MappingGuess:
    """Guess the mapping of a skeleton."""
    doubts: list[str] = []
    joints = _by_name(motion)
    how = dict.fromkeys(joints, BY_NAME)
    shaped = find_by_shape(motion) if not _is_whole(joints) else {}
    for joint, place in shaped.items():
        if joint not in joints and place not in joints.values():
            joints[joint], how[joint] = place, BY_SHAPE
    if BY_SHAPE in how.values():
        doubts.append("some joints have unknown names and were found by the skeleton's shape")
    _add_trunk(motion, joints, how)
    doubts += _broken_chains(motion, joints)
    legs = [_leg(motion, joints, side) for side in ("left", "right")]
    leg = float(np.mean([one for one in legs if one > 0.0] or [0.0]))
    unit, unit_m, sure = _unit(leg)
    height_m = leg * unit_m * _HEIGHT_PER_LEG
    if not sure:
        doubts.append(
            f"the unit is unclear: as {unit}, the body is {height_m:.2f} m tall; a mapping file "
            "with another unit_m changes it (jaywalk motion map)"
        )
    up, up_sure = _up_axis(motion, joints)
    if not up_sure:
        doubts.append(f"the up axis is unclear: taken as {up}")
    rest = _rest(motion, joints)
    if _toes_point_back(motion, joints, up):
        doubts.append("left and right may be exchanged: the toes point backwards")
    named: dict[str, str] = {
        joint: motion.names[joints[joint]] for joint in JOINTS if joint in joints
    }
    return MappingGuess(
        mapping=JointMapping(joints=named, up=up, unit_m=unit_m, rest=rest),
        how={joint: how[joint] for joint in named},
        height_m=height_m,
        unit=unit,
        doubts=tuple(doubts),
    )


# -- names -----------------------------------------------------------------------------------------


def _tokens(name: str) -> list[str]:
    """Split a name: ``mixamorig:LeftUpLeg`` gives left, up, leg; ``thigh.L`` gives thigh, l."""
    plain = name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)
    tokens: list[str] = []
    for word in words:
        # LThigh and RHand: one capital before a word
        if len(word) > 1 and word.isupper() and word[0] in "LR" and word not in ("LR", "RL"):
            tokens += [word[0], word[1:]]
        else:
            tokens.append(word)
    merged = [token.lower() for token in tokens]
    match = re.fullmatch(r"([LR])([A-Z][a-z]+.*)", plain)
    if match:
        merged = [match[1].lower(), *_tokens(match[2])]
    return [piece for token in merged for piece in _split_side(token)]


def _split_side(token: str) -> list[str]:
    for side in ("left", "right"):
        if token.startswith(side) and token != side:
            return [side, token[len(side) :]]
        if token.endswith(side) and token != side:
            return [token[: -len(side)], side]
    return [token]


def _named(motion: JointMotion) -> list[tuple[str, str]]:
    """Side and part word of every joint, without the prefix that all names share."""
    tokens = [_tokens(name) for name in motion.names]
    long = [words for words in tokens if len(words) > 1]
    while long and all(words[0] == long[0][0] and len(words) > 1 for words in long):
        if long[0][0] in _SIDES or _SPINE.fullmatch(long[0][0]):
            break
        first = long[0][0]
        tokens = [words[1:] if words[:1] == [first] else words for words in tokens]
        long = [words for words in tokens if len(words) > 1]
    # a number after a shared word: Character1_Hips, Bip01 L Thigh
    heads = {words[0] for words in tokens if len(words) > 1}
    if len(heads) == 1 and next(iter(heads)).isdigit():
        tokens = [words[1:] if len(words) > 1 else words for words in tokens]
    names = []
    for words in tokens:
        side = next((_SIDES[word] for word in words if word in _SIDES), "")
        names.append((side, "".join(word for word in words if word not in _SIDES)))
    return names


def _by_name(motion: JointMotion) -> dict[str, int]:
    named = _named(motion)
    depth = _depths(motion)
    joints: dict[str, int] = {}
    for word in _PELVIS:
        places = [k for k, one in enumerate(named) if one == ("", word)]
        if places:
            joints["pelvis"] = min(places, key=lambda k: (depth[k], k))
            break
    for side in ("left", "right"):
        words = {part: k for k, (own, part) in reversed(list(enumerate(named))) if own == side}
        chosen: dict[str, int] = {}
        for part in ("wrist", "elbow", "shoulder", "collar", "hip", "knee", "ankle", "foot"):
            for word in _PARTS[part]:
                # bones of a chain are counted from 0, 1 or 01
                places = [words.get(f"{word}{number}", -1) for number in ("", "0", "1", "01")]
                free = [one for one in places if one >= 0 and one not in chosen.values()]
                if free:
                    chosen[part] = free[0]
                    break
        joints |= {f"{side}_{part}": place for part, place in chosen.items()}
    for joint in ("neck", "head"):
        places = [k for k, (side, part) in enumerate(named) if not side and part == joint]
        if places:
            joints[joint] = min(places, key=lambda k: (depth[k], k))
    return joints


def _depths(motion: JointMotion) -> list[int]:
    depth: list[int] = []
    for parent in motion.parents.tolist():
        depth.append(0 if parent < 0 else depth[parent] + 1)
    return depth


def _is_whole(joints: dict[str, int]) -> bool:
    limbs = [
        f"{side}_{part}"
        for side in ("left", "right")
        for part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
    ]
    return "pelvis" in joints and all(limb in joints for limb in limbs)


# -- trunk -----------------------------------------------------------------------------------------


def _add_trunk(motion: JointMotion, joints: dict[str, int], how: dict[str, str]) -> None:
    """Map the joints between pelvis and chest to our three, and add a missing neck."""
    pelvis = joints.get("pelvis")
    chest = _meeting(motion, joints)
    if pelvis is None or chest is None:
        return
    spine = motion.chain(pelvis, chest)
    named = _named(motion)
    for name, place in _spread(spine).items():
        joints[name] = place
        how[name] = BY_NAME if _SPINE.fullmatch(named[place][1]) else BY_SHAPE
    if "head" in joints and "neck" not in joints:
        between = motion.chain(chest, joints["head"])[:-1]
        if between:
            joints["neck"], how["neck"] = between[0], BY_SHAPE


def _meeting(motion: JointMotion, joints: dict[str, int]) -> int | None:
    """The lowest joint above both arms."""
    arms = [joints.get(f"{side}_shoulder") for side in ("left", "right")]
    if arms[0] is None or arms[1] is None:
        return None
    above = arms[0]
    while above >= 0 and not motion.descends(arms[1], above):
        above = int(motion.parents[above])
    return above if above >= 0 else None


def _spread(spine: list[int]) -> dict[str, int]:
    if not spine:
        return {}
    if len(spine) == 1:
        return {"spine3": spine[0]}
    if len(spine) == 2:
        return {"spine1": spine[0], "spine3": spine[1]}
    return {"spine1": spine[0], "spine2": spine[(len(spine) - 1) // 2], "spine3": spine[-1]}


def _broken_chains(motion: JointMotion, joints: dict[str, int]) -> list[str]:
    """Doubts about limbs whose joints are not below one another."""
    doubts = []
    for side in ("left", "right"):
        for parts in (("hip", "knee", "ankle", "foot"), ("shoulder", "elbow", "wrist")):
            names = [f"{side}_{part}" for part in parts if f"{side}_{part}" in joints]
            for upper, lower in pairwise(names):
                if not motion.descends(joints[lower], joints[upper]):
                    doubts.append(
                        f"{motion.names[joints[lower]]} ({lower}) is not below "
                        f"{motion.names[joints[upper]]} ({upper})"
                    )
    return doubts


# -- unit, axes and rest pose ----------------------------------------------------------------------


def _leg(motion: JointMotion, joints: dict[str, int], side: str) -> float:
    """Length of thigh and shank in units of the file; 0 if they are not known."""
    names = [f"{side}_{part}" for part in ("hip", "knee", "ankle")]
    if not all(name in joints for name in names):
        return 0.0
    if motion.shifts is None:
        _, places = motion.at_rest()
        row = places[[joints[name] for name in names]][None]
    else:
        row = motion.positions(motion.turned())[:, [joints[name] for name in names]]
    bones = np.linalg.norm(np.diff(row, axis=1), axis=2).sum(axis=1)
    return float(np.median(bones))


def _unit(leg: float) -> tuple[str, float, bool]:
    """Name and metres of the unit in which a leg is human, and whether that is certain."""
    low, high = _HUMAN_HEIGHT_M
    heights = {name: leg * unit * _HEIGHT_PER_LEG for name, unit in (_METRIC | _OTHER).items()}
    metric = [name for name in _METRIC if low <= heights[name] <= high]
    fitting = [name for name in _OTHER if low <= heights[name] <= high]
    if metric and (heights[metric[0]] > _SMALL_HEIGHT_M or not fitting):
        return metric[0], _METRIC[metric[0]], True
    if not fitting:
        return "m", 1.0, False
    # a very small body in a metric unit is more likely an adult's in inches
    best = min(fitting, key=lambda name: abs(np.log(heights[name] / _TYPICAL_HEIGHT_M)))
    return best, _OTHER[best], not metric


def axis_vector(axis: str) -> FloatArray:
    """Unit vector of an axis such as ``-z``."""
    out = np.zeros(3)
    out["xyz".index(axis[-1])] = -1.0 if axis.startswith("-") else 1.0
    return out


def nearest_axis(direction: FloatArray) -> tuple[str, float]:
    """Return the axis nearest to a direction, and the cosine between them."""
    size = max(float(np.linalg.norm(direction)), 1e-12)
    cosines = [float(direction @ axis_vector(axis)) / size for axis in AXES]
    best = int(np.argmax(cosines))
    return AXES[best], cosines[best]


def upward(places: FloatArray, at: dict[str, int]) -> FloatArray:
    """Mean direction from the ankles to the head or neck, in positions (..., joints, 3)."""
    top = at.get("head", at.get("neck", at.get("pelvis", 0)))
    feet = [at[name] for name in ("left_ankle", "right_ankle") if name in at]
    if not feet:
        return np.zeros(3)
    away = places[..., top, :] - places[..., feet, :].mean(axis=-2)
    return np.asarray(away.reshape(-1, 3).mean(axis=0))


def _up_axis(motion: JointMotion, joints: dict[str, int]) -> tuple[str, bool]:
    axis, cosine = nearest_axis(upward(motion.positions(motion.turned()), joints))
    return axis, cosine > _MIN_COSINE


def _rest(motion: JointMotion, joints: dict[str, int]) -> str:
    if not motion.rotates:
        return "fitted"
    first = motion.cut(np.array([0]))
    out = stands(first.positions(first.turned())[0], joints, arms_out=True) and len(motion.root) > 2
    if out and _jumps(motion):
        return "first"  # a T-pose put before the motion
    _, places = motion.at_rest()
    if stands(places, joints, arms_out=False):
        return "file"
    return "first" if out else "fitted"


def _jumps(motion: JointMotion) -> bool:
    """Whether the first frame is far from the second, compared with the steps that follow."""
    few = motion.cut(np.arange(min(len(motion.root), _SAMPLE_FRAMES)))
    places = few.positions(few.turned())
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=1)
    size = float(np.ptp(places[0], axis=0).max())
    return bool(steps[0] > 0.1 * size and steps[0] > 5.0 * float(steps[1:].max(initial=0.0)))


def stands(places: FloatArray, at: dict[str, int], *, arms_out: bool) -> bool:
    """Whether a pose (joints, 3) is upright with straight legs and arms."""

    def bone(upper: str, lower: str) -> FloatArray:
        if upper not in at or lower not in at:
            return np.zeros(3)
        away = places[at[lower]] - places[at[upper]]
        return np.asarray(away / max(float(np.linalg.norm(away)), 1e-12))

    axis, cosine = nearest_axis(upward(places, at))
    up = axis_vector(axis)
    good = cosine > 0.9
    across = bone("right_hip", "left_hip")
    good = good and abs(float(across @ up)) < 0.3
    for side in ("left", "right"):
        thigh = bone(f"{side}_hip", f"{side}_knee")
        shank = bone(f"{side}_knee", f"{side}_ankle")
        arm = bone(f"{side}_shoulder", f"{side}_elbow")
        fore = bone(f"{side}_elbow", f"{side}_wrist")
        good = good and float(thigh @ up) < -0.85 and float(shank @ up) < -0.85
        good = good and float(arm @ fore) > 0.7
        outward = across if side == "left" else -across
        good = good and float(arm @ outward) > (0.7 if arms_out else -0.3)
    return bool(good)


def _toes_point_back(motion: JointMotion, joints: dict[str, int], up: str) -> bool:
    """Whether the toes point backwards in most frames: then left and right are exchanged."""
    needed = ("left_hip", "right_hip", "left_ankle", "right_ankle", "left_foot", "right_foot")
    if not all(name in joints for name in needed):
        return False
    places = motion.positions(motion.turned())
    left = places[:, joints["left_hip"]] - places[:, joints["right_hip"]]
    ahead = np.cross(left, axis_vector(up))
    toes = sum(
        places[:, joints[f"{side}_foot"]] - places[:, joints[f"{side}_ankle"]]
        for side in ("left", "right")
    )
    return bool(np.mean(np.einsum("ti,ti->t", ahead, np.asarray(toes)) < 0.0) > 0.8)
