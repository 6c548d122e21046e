"""People in wheelchairs (``use_wheelchair``): body, seated pose, and the chair itself."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.carla_enums import SemanticTag
from jaywalk.geometry.rotation import Quat, shortest_arc
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.posing import (
    ARM_L,
    ARM_R,
    FOOT_L,
    FOOT_R,
    FOREARM_L,
    FOREARM_R,
    HAND_L,
    HAND_R,
    SHANK_L,
    SHANK_R,
    THIGH_L,
    THIGH_R,
    set_hips,
    set_turn,
)
from jaywalk.server.world._blueprint_types import BodyShape

ATTRIBUTE: Final = "use_wheelchair"
#: Person and chair together; nearly as wide as long, so that contacts see a cylinder.
BODY: Final = BodyShape(
    half_extents_m=(0.40, 0.36, 0.66),
    centre_m=(0.0, 0.0, 0.0),
    mass_kg=95.0,
    labels=(SemanticTag.PEDESTRIAN,),
)
_SEAT_M: Final = 0.60  # of the hips
_BACK_M: Final = 0.10  # the hips are behind the middle of the chair
_LEGS: Final = ((THIGH_L, SHANK_L, FOOT_L), (THIGH_R, SHANK_R, FOOT_R))
_ARMS: Final = ((ARM_L, FOREARM_L, HAND_L), (ARM_R, FOREARM_R, HAND_R))
# Directions in mesh space: x left, y forward, z up.
_THIGH, _SHANK = (0.0, 1.0, -0.05), (0.0, 0.35, -0.94)
_UPPER, _FORE = (0.25, -0.15, -0.95), (0.05, 0.85, -0.5)


@cache
def seated_pose(rig_name: str) -> FloatArray:
    """(bones, 7) parent-relative pose of a person who sits with the hands on the wheels."""
    rig = load_rig(rig_name)
    rest, parents, pose = rig.rest_mesh, rig.parents, rig.rest_local.copy()
    none: Quat = (1.0, 0.0, 0.0, 0.0)
    set_hips(pose, rest, (0.0, -_BACK_M, _SEAT_M))
    for side, legs, arms in ((1.0, *_pairs(0)), (-1.0, *_pairs(1))):
        _bend(pose, rest, parents, legs, (_THIGH, _SHANK), 1.0, none)
        set_turn(pose, rest, parents, legs[2], none, _turn(rest, legs[1], legs[2], _SHANK, 1.0))
        _bend(pose, rest, parents, arms, (_UPPER, _FORE), side, none)
    return pose


def _pairs(side: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    return _LEGS[side], _ARMS[side]


def _bend(
    pose: FloatArray,
    rest: FloatArray,
    parents: IntArray,
    bones: tuple[int, int, int],
    directions: tuple[tuple[float, float, float], tuple[float, float, float]],
    side: float,
    above: Quat,
) -> None:
    upper = _turn(rest, bones[0], bones[1], directions[0], side)
    lower = _turn(rest, bones[1], bones[2], directions[1], side)
    set_turn(pose, rest, parents, bones[0], upper, above)
    set_turn(pose, rest, parents, bones[1], lower, upper)


def _turn(
    rest: FloatArray, bone: int, child: int, wanted: tuple[float, float, float], side: float
) -> Quat:
    way = rest[child, :3] - rest[bone, :3]
    w, x, y, z = shortest_arc(way, np.array([side * wanted[0], wanted[1], wanted[2]])).tolist()
    return w, x, y, z
