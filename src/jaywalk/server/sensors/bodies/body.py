"""Meshes of people on CARLA's skeletons: built once for a person, moved by their bones.

A body is built at rest. One compiled kernel moves the points of all people of a tick. Triangles
never change, so only points and normals are made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.carla_rigs import Rig, load_rig
from jaywalk.motion.kinematics import mesh_pose
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors.bodies._frame import make_frame
from jaywalk.server.sensors.bodies._head import head
from jaywalk.server.sensors.bodies._loft import BodyPart, joined
from jaywalk.server.sensors.bodies._looks import Looks
from jaywalk.server.sensors.bodies._things import chair, things
from jaywalk.server.sensors.bodies._trunk import arm, leg, neck, trunk


class BodyModel(NamedTuple):
    """A part of a person at rest at one level of detail, in mesh space (x left, y forward, z up).

    Attributes:
        surface: Points, the bones that move them, and triangles.
        rest: (bones, 7) the rig at rest.
    """

    surface: BodyPart
    rest: FloatArray


def build_body(looks: Looks, level: int) -> BodyModel:
    """Return the mesh of a person at rest, without things.

    Args:
        looks: Appearance.
        level: Level of detail: 0 near, 1 middle, 2 far.
    """
    rig = load_rig(looks.rig)
    frame = make_frame(rig, looks, level)
    parts = [*trunk(frame), neck(frame), *head(frame)]
    for left in (True, False):
        parts += arm(frame, left) + leg(frame, left)
    return BodyModel(joined(parts), rig.rest_mesh)


def build_things(looks: Looks, level: int, *, in_wheelchair: bool = False) -> BodyModel | None:
    """Return what a person carries, pushes or sits in; None if there is nothing."""
    rig = load_rig(looks.rig)
    frame = make_frame(rig, looks, level)
    parts = things(frame) + (chair(frame) if in_wheelchair else [])
    return BodyModel(joined(parts), rig.rest_mesh) if parts else None


class BodyBatch(NamedTuple):
    """Points of several people at rest, one after the other, ready for :func:`move_points`."""

    first: NDArray[np.int64]  # (people + 1,) where each person's points begin
    points_m: FloatArray
    normals: FloatArray
    bones: NDArray[np.int32]
    shares: NDArray[np.float32]
    rest: FloatArray  # (people, bones, 7)


def make_batch(people: Sequence[Sequence[BodyModel]]) -> BodyBatch:
    """Return several people, each of one or more parts, as one batch."""
    parts = [model.surface for person in people for model in person]
    counts = [sum(len(model.surface.points_m) for model in person) for person in people]
    return BodyBatch(
        np.asarray(np.cumsum([0, *counts]), np.int64),
        np.concatenate([part.points_m for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.bones for part in parts]),
        np.concatenate([part.shares for part in parts]),
        np.stack([person[0].rest for person in people]),
    )


@kernel
def move_points(
    batch: BodyBatch, placed: FloatArray, points_m: FloatArray, normals: FloatArray
) -> None:
    """Move the points and normals of all people with their bones.

    Args:
        batch: People at rest.
        placed: (people, bones, 7) bones where the points are wanted, for example in the world.
        points_m: (n, 3) written: places.
        normals: (n, 3) written: unit normals.
    """
    count = placed.shape[1]
    turn = np.empty((count, 3, 3))
    shift = np.empty((count, 3))
    for person in range(placed.shape[0]):
        for bone in range(count):
            _bone_matrix(batch.rest[person, bone], placed[person, bone], turn[bone], shift[bone])
        for k in range(batch.first[person], batch.first[person + 1]):
            x, y, z = batch.points_m[k, 0], batch.points_m[k, 1], batch.points_m[k, 2]
            nx, ny, nz = batch.normals[k, 0], batch.normals[k, 1], batch.normals[k, 2]
            px = py = pz = mx = my = mz = 0.0
            for j in range(batch.shares.shape[1]):
                share = batch.shares[k, j]
                if share <= 0.0:
                    break
                bone = batch.bones[k, j]
                m, s = turn[bone], shift[bone]
                px += share * (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + s[0])
                py += share * (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + s[1])
                pz += share * (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + s[2])
                mx += share * (m[0, 0] * nx + m[0, 1] * ny + m[0, 2] * nz)
                my += share * (m[1, 0] * nx + m[1, 1] * ny + m[1, 2] * nz)
                mz += share * (m[2, 0] * nx + m[2, 1] * ny + m[2, 2] * nz)
            points_m[k, 0], points_m[k, 1], points_m[k, 2] = px, py, pz
            size = 1.0 / max(np.sqrt(mx * mx + my * my + mz * mz), 1e-12)
            normals[k, 0], normals[k, 1], normals[k, 2] = mx * size, my * size, mz * size


@kernel
def _bone_matrix(rest: FloatArray, now: FloatArray, turn: FloatArray, shift: FloatArray) -> None:
    """Write the motion that carries a bone from rest to now."""
    # q = now * conjugate(rest)
    a, b, c, d = now[3], now[4], now[5], now[6]
    e, f, g, h = rest[3], -rest[4], -rest[5], -rest[6]
    w = a * e - b * f - c * g - d * h
    x = a * f + b * e + c * h - d * g
    y = a * g - b * h + c * e + d * f
    z = a * h + b * g - c * f + d * e
    turn[0, 0], turn[0, 1], turn[0, 2] = (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
    )
    turn[1, 0], turn[1, 1], turn[1, 2] = (
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
    )
    turn[2, 0], turn[2, 1], turn[2, 2] = (
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
    for i in range(3):
        shift[i] = now[i] - (turn[i, 0] * rest[0] + turn[i, 1] * rest[1] + turn[i, 2] * rest[2])


def posed_points(model: BodyModel, local: FloatArray, rig: Rig) -> tuple[FloatArray, FloatArray]:
    """Return points and normals of one person in mesh space.

    Args:
        model: The person.
        local: (bones, 7) parent-relative pose.
        rig: The person's rig.
    """
    placed = mesh_pose(np.ascontiguousarray(local), rig.parents)[np.newaxis]
    points, normals = np.empty_like(model.surface.points_m), np.empty_like(model.surface.normals)
    move_points(make_batch([[model]]), placed, points, normals)
    return points, normals
