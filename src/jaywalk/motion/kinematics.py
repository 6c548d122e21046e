"""Forward kinematics of walker skeletons: parent-relative, mesh, actor and world space.

A transform is a row ``x y z qw qx qy qz`` (metres). Mesh space is the skeleton's own: x left,
y forward, z up, origin between the feet. Actor space is what CARLA reports as a bone's
"component" transform: x forward, y right, z up, origin mid-body, ``drop_m`` above the soles.
"""

from __future__ import annotations

import math

import numpy as np

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.core.units import DEG_TO_RAD
from jaywalk.geometry.rotation import (
    quat_from_rotator,
    quat_multiply,
    quat_rotate,
    rotator_from_quat,
)


@kernel
def compose_rows(parent: FloatArray, child: FloatArray, out: FloatArray) -> None:
    """Write ``parent * child`` (rows of 7) to ``out``."""
    q = (parent[3], parent[4], parent[5], parent[6])
    v = quat_rotate(q, (child[0], child[1], child[2]))
    r = quat_multiply(q, (child[3], child[4], child[5], child[6]))
    out[0], out[1], out[2] = parent[0] + v[0], parent[1] + v[1], parent[2] + v[2]
    out[3], out[4], out[5], out[6] = r[0], r[1], r[2], r[3]


@kernel
def mesh_pose(local: FloatArray, parents: IntArray) -> FloatArray:
    """Parent-relative (bones, 7) to mesh space (bones, 7); parents come before children."""
    out = np.empty_like(local)
    for bone in range(local.shape[0]):
        parent = parents[bone]
        if parent < 0:
            out[bone] = local[bone]
        else:
            compose_rows(out[parent], local[bone], out[bone])
    return out


@kernel
def mesh_poses(locals_: FloatArray, parents: IntArray) -> FloatArray:
    """Batch of :func:`mesh_pose`: (walkers, bones, 7) to (walkers, bones, 7)."""
    out = np.empty_like(locals_)
    for walker in range(locals_.shape[0]):
        out[walker] = mesh_pose(locals_[walker], parents)
    return out


@kernel
def mesh_in_actor(drop_m: float) -> FloatArray:
    """Pose of the mesh in the actor's frame: down to the soles, and turned to face +x."""
    return np.array([0.0, 0.0, -drop_m, math.sqrt(0.5), 0.0, 0.0, -math.sqrt(0.5)])


@kernel
def actor_row(
    x_m: float, y_m: float, z_m: float, pitch_rad: float, yaw_rad: float, roll_rad: float
) -> FloatArray:
    """World pose of an actor as a row of 7, from the angles of the actor table."""
    q = quat_from_rotator(pitch_rad / DEG_TO_RAD, yaw_rad / DEG_TO_RAD, roll_rad / DEG_TO_RAD)
    return np.array([x_m, y_m, z_m, q[0], q[1], q[2], q[3]])


@kernel
def place_pose(frame: FloatArray, pose: FloatArray) -> FloatArray:
    """Carry a (bones, 7) pose into the space in which ``frame`` (7) is given."""
    out = np.empty_like(pose)
    for bone in range(pose.shape[0]):
        compose_rows(frame, pose[bone], out[bone])
    return out


@kernel
def world_poses(mesh: FloatArray, actor_poses: FloatArray, drops_m: FloatArray) -> FloatArray:
    """World transforms of whole skeletons.

    Args:
        mesh: (walkers, bones, 7) in mesh space.
        actor_poses: (walkers, 6) rows ``x y z pitch yaw roll`` in metres and radians.
        drops_m: (walkers,) height of each actor's origin above its soles.

    Returns:
        (walkers, bones, 7) in the world.
    """
    out = np.empty_like(mesh)
    frame = np.empty(7)
    for walker in range(mesh.shape[0]):
        a = actor_poses[walker]
        actor = actor_row(a[0], a[1], a[2], a[3], a[4], a[5])
        compose_rows(actor, mesh_in_actor(drops_m[walker]), frame)
        for bone in range(mesh.shape[1]):
            compose_rows(frame, mesh[walker, bone], out[walker, bone])
    return out


@kernel
def bone_report(
    local: FloatArray, parents: IntArray, actor_pose: FloatArray, drop_m: float
) -> FloatArray:
    """Reply of ``get_bones`` for one walker.

    Args:
        local: (bones, 7) parent-relative pose.
        parents: (bones,) parent indices, -1 for the root.
        actor_pose: ``x y z pitch yaw roll`` of the actor, metres and radians.
        drop_m: Height of the actor's origin above its soles.

    Returns:
        (bones, 3, 2, 3): world, component, relative; each location (m) and pitch, yaw, roll (deg).
    """
    n = local.shape[0]
    out = np.empty((n, 3, 2, 3))
    in_actor = place_pose(mesh_in_actor(drop_m), mesh_pose(local, parents))
    actor = actor_row(
        actor_pose[0], actor_pose[1], actor_pose[2], actor_pose[3], actor_pose[4], actor_pose[5]
    )
    in_world = place_pose(actor, in_actor)
    for bone in range(n):
        for space in range(3):
            row = in_world[bone] if space == 0 else in_actor[bone]
            if space == 2:
                row = local[bone]
            angles = rotator_from_quat((row[3], row[4], row[5], row[6]))
            for axis in range(3):
                out[bone, space, 0, axis] = row[axis]
                out[bone, space, 1, axis] = angles[axis]
    return out
