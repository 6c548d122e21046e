"""Obstacle detector: sweeps a ball forward and reports the first solid that it touches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._intersect import solid_distance
from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._mesh_rays import (
    mesh_distance,
    place_in_frame,
    room_for_rays,
    sees_through,
)
from jaywalk.server.sensors._readings import ObstacleReading, Reading, SensorPose, SensorType
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._solids import MESH, Solids, kernel, pose_axes
from jaywalk.server.sensors.catalogue import PLACED, TICK, SensorStage, flag, floats, sensor
from jaywalk.server.world._tables import Kind


@sensor(
    "other.obstacle",
    PLACED,
    TICK,
    floats(distance="5.0", hit_radius="0.5"),
    (flag("only_dynamics", "false"), flag("debug_linetrace", "false")),
    summary="the first thing in the way",
    order=14,
    stage=SensorStage.PROMPT,
)
class ObstacleDetector(Sensor):
    """Reports the nearest obstacle ahead; the ground is never one."""

    kind = SensorType.OBSTACLE

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self.distance_m = self.attributes.number("distance", 0.0, 10_000.0)
        self.radius_m = self.attributes.number("hit_radius", 0.0, 1000.0)
        self.only_dynamics = self.attributes.flag("only_dynamics")

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        kinds = scene.actors["kind"][: scene.rows]
        seen = np.ones(scene.rows, np.bool_)
        if self.only_dynamics:
            seen = (kinds == Kind.VEHICLE) | (kinds == Kind.WALKER)
        parent = int(scene.actors[row]["parent_row"])
        if parent >= 0:
            seen[parent] = False
        solid, distance_m = sweep_ball(
            scene.solids,
            scene.meshes,
            np.array(pose[:3]),
            pose_axes(pose)[0].copy(),
            self.distance_m,
            self.radius_m,
            seen,
            not self.only_dynamics,
        )
        if solid < 0:
            return []
        owner, label = int(scene.solids.owner[solid]), int(scene.solids.label[solid])
        return [ObstacleReading(row, owner, label, distance_m)]


@kernel
def sweep_ball(
    solids: Solids,
    meshes: Meshes,
    origin: NDArray[np.float64],
    forward: NDArray[np.float64],
    reach_m: float,
    radius_m: float,
    seen_rows: NDArray[np.bool_],
    see_scenery: bool,
) -> tuple[int, float]:
    """Return the first solid that a moving ball touches and the distance; (-1, inf) if none.

    Args:
        solids: Solids to test.
        meshes: Triangles of those that are meshes.
        origin: Centre of the ball at the start.
        forward: Unit vector of its motion.
        reach_m: Length of its path.
        radius_m: Its radius.
        seen_rows: Mask over rows of the actors that count.
        see_scenery: Whether scenery counts.
    """
    form = solids.form
    best, nearest = -1, math.inf
    placed, world = room_for_rays(solids, meshes), np.eye(3)
    for k in range(solids.used):
        owner = solids.owner[k]
        if not (seen_rows[owner] if owner >= 0 else see_scenery):
            continue
        px, py, pz = form[k, 0] - origin[0], form[k, 1] - origin[1], form[k, 2] - origin[2]
        along = px * forward[0] + py * forward[1] + pz * forward[2]
        margin = form[k, 15] + radius_m
        square = px * px + py * py + pz * pz
        if along < -margin or along > reach_m + margin or square - along * along > margin**2:
            continue
        is_mesh = solids.shape[k] == MESH
        if is_mesh:
            if sees_through(solids, k, origin[0], origin[1], origin[2]):
                continue
            place_in_frame(solids, meshes, k, origin, world, placed)
        # Walk by the free distance: exact in the limit.
        t = 0.0
        for _ in range(200):
            x, y = origin[0] + t * forward[0], origin[1] + t * forward[1]
            free = solid_distance(form, solids.shape, k, x, y, origin[2] + t * forward[2])
            if is_mesh and free < radius_m + 0.1:  # near its box: look at the triangles
                sx, sy, sz = t * forward[0], t * forward[1], t * forward[2]
                free = mesh_distance(meshes, solids.mesh[k], placed, sx, sy, sz)
            free -= radius_m
            if free < 1e-4:
                if t < nearest:
                    best, nearest = k, t
                break
            t += free
            if t > min(reach_m, nearest):
                break
    return best, nearest
