"""Joints of a skeleton by its shape: two pairs of equal limbs on a trunk, and a head."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.sources._joint_motion import JointMotion


def find_by_shape(motion: JointMotion) -> dict[str, int]:
    """Find pelvis, legs, arms and head as branches: two pairs of equal limbs, and one more."""
    children = _children(motion)
    lengths = np.linalg.norm(motion.offsets, axis=1)

    def limb(joint: int) -> list[int]:
        """Longest way down from a joint, by length."""
        way = [joint]
        while children[way[-1]]:
            way.append(max(children[way[-1]], key=lambda one: _reach(one, children, lengths)))
        return way

    pelvis = next((k for k in range(len(children)) if len(children[k]) >= 3), -1)
    if pelvis < 0:
        return {}
    legs = _pair(children[pelvis], limb, lengths)
    if legs is None:
        return {}
    trunk = max(
        (one for one in children[pelvis] if one not in legs),
        key=lambda one: _reach(one, children, lengths),
    )
    chest = trunk
    while len(children[chest]) == 1:
        chest = children[chest][0]
    arms = _pair(children[chest], limb, lengths) if len(children[chest]) >= 3 else None
    if arms is None:
        return {}
    _, places = motion.at_rest()
    joints = {"pelvis": pelvis}
    legs_first = _left_first(motion, legs, limb, places)
    arms_first = legs_first == _same_side(places, arms, legs)
    for parts, pair, left_first in (
        (("hip", "knee", "ankle", "foot"), legs, legs_first),
        (("collar", "shoulder", "elbow", "wrist"), arms, arms_first),
    ):
        for side, first in zip(("left", "right"), pair if left_first else pair[::-1], strict=True):
            way = limb(first)
            own = parts[1:] if parts[0] == "collar" and len(way) == 3 else parts
            joints |= {f"{side}_{part}": joint for part, joint in zip(own, way, strict=False)}
    top = next((one for one in children[chest] if one not in arms), None)
    if top is not None:
        way = limb(top)
        joints["head"] = way[min(1, len(way) - 1)]
        if len(way) > 1:
            joints["neck"] = way[0]
    return joints


def _children(motion: JointMotion) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in motion.names]
    for joint, parent in enumerate(motion.parents.tolist()):
        if parent >= 0:
            children[parent].append(joint)
    return children


def _reach(joint: int, children: list[list[int]], lengths: FloatArray) -> float:
    below = max((_reach(one, children, lengths) for one in children[joint]), default=0.0)
    return float(lengths[joint]) + below


_Limb = Callable[[int], list[int]]


def _pair(branches: list[int], limb: _Limb, lengths: FloatArray) -> tuple[int, int] | None:
    """Two branches with bones of the same lengths, the longest such pair."""
    best, best_length = None, 0.0
    for a in branches:
        for b in branches:
            ways = limb(a), limb(b)
            if a >= b or len(ways[0]) != len(ways[1]) or len(ways[0]) < 3:
                continue
            bones = [lengths[way[1:]] for way in ways]
            total = float(bones[0].sum())
            if np.abs(bones[0] - bones[1]).max() < 0.1 * total and total > best_length:
                best, best_length = (a, b), total
    return best


def _left_first(
    motion: JointMotion, legs: tuple[int, int], limb: _Limb, places: FloatArray
) -> bool:
    """Whether the first leg is the left one: left is up x forward, and toes point forward."""
    ways = limb(legs[0]), limb(legs[1])
    up = places[legs[0]] - places[ways[0][2]]
    ahead = sum((_toe(motion, way, places) for way in ways), np.zeros(3))
    ahead = ahead - up * float(ahead @ up) / max(float(up @ up), 1e-12)
    left = np.cross(up, ahead)
    return bool((places[legs[0]] - places[legs[1]]) @ left > 0.0)


def _toe(motion: JointMotion, way: list[int], places: FloatArray) -> FloatArray:
    if len(way) > 3:
        return np.asarray(places[way[3]] - places[way[2]])
    ends = dict(motion.ends)
    return np.asarray(ends.get(way[2], (0.0, 0.0, 0.0)), dtype=np.float64)


def _same_side(places: FloatArray, arms: tuple[int, int], legs: tuple[int, int]) -> bool:
    return bool((places[arms[0]] - places[arms[1]]) @ (places[legs[0]] - places[legs[1]]) > 0.0)
