"""Riders of two-wheelers: people in a sitting pose, with the hands on the bar and a helmet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.rotation import Quat, shortest_arc
from jaywalk.motion.carla_rigs import Rig, load_rig
from jaywalk.motion.kinematics import mesh_in_actor, mesh_pose, place_pose
from jaywalk.motion.posing import (
    ARM_L,
    ARM_R,
    CHEST,
    FOOT_L,
    FOOT_R,
    FOREARM_L,
    FOREARM_R,
    HAND_L,
    HAND_R,
    HEAD,
    HIPS,
    NECK,
    SHANK_L,
    SHANK_R,
    SPINE,
    THIGH_L,
    THIGH_R,
    set_hips,
    set_turn,
)
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import Mesh, Model
from jaywalk.server.sensors.bodies import Looks, draw_looks, person_meshes
from jaywalk.server.sensors.models.vehicles._bike import Seat, ellipsoid
from jaywalk.server.sensors.models.vehicles._surfaces import Point, Surfaces

M = Material
_NONE: Final[Quat] = (1.0, 0.0, 0.0, 0.0)
_PEOPLE: Final = ("walker.pedestrian.0015", "walker.pedestrian.0001", "walker.pedestrian.0019")
_ANKLE_M: Final = 0.09  # above the sole
_PALM_M: Final = 0.07  # from the wrist to the middle of the hand
_DRAWS: Final = 4  # different riders of a driver id


def rider_looks(driver: str, draw: int) -> Looks:
    """Return the appearance of a rider.

    Args:
        driver: The attribute ``driver_id``.
        draw: A number of the actor; riders repeat after a few.
    """
    number = int(driver) if driver.isdigit() else 0
    name = _PEOPLE[number % len(_PEOPLE)]
    attributes: Mapping[str, str] = {"gender": "female" if number == 1 else "male", "age": "adult"}
    looks = draw_looks(name, attributes, draw % _DRAWS)
    bottom = "trousers" if looks.bottom == "skirt" else looks.bottom
    top = "jacket" if looks.top == "coat" else looks.top
    hair = looks.hair if looks.hair in ("short", "medium", "bun", "bald") else "short"
    return Looks(
        rig=looks.rig,
        sex=looks.sex,
        age=looks.age,
        girth=1.0,
        hair=hair,
        top=top,
        bottom=bottom,
        colors=looks.colors,
    )


@cache
def rider_model(looks: Looks, seat: Seat, motorcycle: bool) -> Model:
    """Return a person on a seat, in the frame of the vehicle."""
    rig = load_rig(looks.rig)
    placed = seated(rig, seat)
    model = person_meshes(looks, placed)[0]
    if not seat.helmet:
        return model
    levels = []
    for level, mesh in enumerate(model.levels):
        out = Surfaces()
        _add_helmet(out, placed, level, motorcycle=motorcycle)
        levels.append(_joined(mesh, out.mesh()))
    return Model(tuple(levels))


def _add_helmet(out: Surfaces, placed: FloatArray, level: int, *, motorcycle: bool) -> None:
    x, y, z = (float(value) for value in placed[HEAD, :3])
    if motorcycle:
        centre = (x + 0.03, y, z + 0.10)
        ellipsoid(out, centre, (0.145, 0.125, 0.150), level, M.PAINT_2)
        ellipsoid(out, (x + 0.085, y, z + 0.11), (0.105, 0.108, 0.055), level, M.GLASS)
    else:
        ellipsoid(out, (x + 0.02, y, z + 0.155), (0.135, 0.100, 0.080), level, M.PAINT_2)


def _joined(first: Mesh, second: Mesh) -> Mesh:
    triangles = [first.triangles, second.triangles + np.int32(len(first.points_m))]
    return Mesh(
        np.concatenate([first.points_m, second.points_m]),
        np.concatenate(triangles).astype(np.int32),
        np.concatenate([first.normals, second.normals]),
        np.concatenate([first.uv, second.uv]),
        np.concatenate([first.material, second.material]),
        np.concatenate([first.part, second.part]),
    )


def seated(rig: Rig, seat: Seat) -> FloatArray:
    """Return the bones (n, 7) of a rider in the frame of the vehicle."""
    rest, parents, pose = rig.rest_mesh, rig.parents, rig.rest_local.copy()
    set_hips(pose, rest, _mesh(seat.hips))
    # The trunk leans in three steps; the head stays upright.
    turns = [_leaning(share * seat.lean_rad) for share in (0.55, 0.85, 1.1)]
    set_turn(pose, rest, parents, HIPS, turns[0], _NONE)
    set_turn(pose, rest, parents, SPINE, turns[1], turns[0])
    set_turn(pose, rest, parents, CHEST, turns[2], turns[1])
    neck, head = _leaning(0.5 * seat.lean_rad), _leaning(0.15 * seat.lean_rad)
    set_turn(pose, rest, parents, NECK, neck, turns[2])
    set_turn(pose, rest, parents, HEAD, head, neck)
    left_foot = seat.left_foot or _mirrored(seat.foot)
    for side, arm, leg, hand, foot in (
        (-1.0, (ARM_R, FOREARM_R, HAND_R), (THIGH_R, SHANK_R, FOOT_R), seat.hand, seat.foot),
        (
            1.0,
            (ARM_L, FOREARM_L, HAND_L),
            (THIGH_L, SHANK_L, FOOT_L),
            _mirrored(seat.hand),
            left_foot,
        ),
    ):
        wrist = (hand[0] - _PALM_M, hand[1], hand[2] + 0.01)
        lower = _reach(pose, rest, parents, arm, _mesh(wrist), (0.6 * side, -0.2, -0.6), turns[2])
        set_turn(pose, rest, parents, arm[2], lower, lower)
        ankle = (foot[0] - 0.06, foot[1], foot[2] + _ANKLE_M)
        lower = _reach(pose, rest, parents, leg, _mesh(ankle), (0.12 * side, 1.0, 0.3), turns[0])
        set_turn(pose, rest, parents, leg[2], _NONE, lower)
    placed: FloatArray = place_pose(mesh_in_actor(0.0), mesh_pose(pose, parents))
    return placed


def _reach(
    pose: FloatArray,
    rest: FloatArray,
    parents: IntArray,
    bones: tuple[int, int, int],
    goal: Point,
    bend: Point,
    above: Quat,
) -> Quat:
    """Bend a limb of two bones so that its end is at ``goal``; return the turn of the lower bone.

    The joint in the middle points towards ``bend``. A goal out of reach is approached.
    """
    root = mesh_pose(pose, parents)[bones[0], :3]
    upper = float(np.linalg.norm(rest[bones[1], :3] - rest[bones[0], :3]))
    lower = float(np.linalg.norm(rest[bones[2], :3] - rest[bones[1], :3]))
    way = np.array(goal) - root
    far = min(max(float(np.linalg.norm(way)), 0.2 * upper), 0.998 * (upper + lower))
    way /= np.linalg.norm(way)
    along = (upper * upper - lower * lower + far * far) / (2.0 * far)
    aside = math.sqrt(max(upper * upper - along * along, 0.0))
    out = np.array(bend) - way * float(way @ np.array(bend))
    joint = root + along * way + aside * out / np.linalg.norm(out)
    end = root + far * way
    first = _turn(rest, bones[0], bones[1], joint - root)
    second = _turn(rest, bones[1], bones[2], end - joint)
    set_turn(pose, rest, parents, bones[0], first, above)
    set_turn(pose, rest, parents, bones[1], second, first)
    return second


def _turn(rest: FloatArray, bone: int, child: int, wanted: FloatArray) -> Quat:
    w, x, y, z = shortest_arc(rest[child, :3] - rest[bone, :3], wanted).tolist()
    return w, x, y, z


def _leaning(angle_rad: float) -> Quat:
    """Return a turn that leans the trunk forwards."""
    return math.cos(0.5 * angle_rad), -math.sin(0.5 * angle_rad), 0.0, 0.0


def _mesh(place: Point) -> Point:
    """Turn a place of the vehicle into mesh space (x left, y forward, z up)."""
    return -place[1], place[0], place[2]


def _mirrored(place: Point) -> Point:
    return place[0], -place[1], place[2]
