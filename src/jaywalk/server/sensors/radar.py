"""Radar: random rays inside a cone, with the speed of what they meet along the ray."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.base import Sensor
from jaywalk.server.sensors.cast import cast_rays, row_around
from jaywalk.server.sensors.header import Pose, SensorType
from jaywalk.server.sensors.points import RADAR_POINT, encode_radar
from jaywalk.server.sensors.scene import Scene
from jaywalk.server.sensors.solids import pose_axes


class Radar(Sensor):
    """Detections as (speed away from the sensor, azimuth to the right, altitude, distance)."""

    kind = SensorType.RADAR

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        values = self.attributes
        self.width = math.tan(math.radians(values.number("horizontal_fov", 0.0, 179.0)) / 2.0)
        self.height = math.tan(math.radians(values.number("vertical_fov", 0.0, 179.0)) / 2.0)
        self.range_m = values.number("range", 0.0, 10_000.0)
        self.points_per_second = values.integer("points_per_second", 0, 10_000_000)

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> bytes:
        count = int(self.points_per_second * dt_s)
        noise = self.noise(frame)
        radius = noise.random(count)
        angle = noise.uniform(0.0, 2.0 * math.pi, count)
        # Rays end on a flat ellipse at the far end of the range, densest in its middle.
        local = np.stack(
            [
                np.ones(count),
                self.width * radius * np.cos(angle),
                self.height * radius * np.sin(angle),
            ],
            axis=1,
        )
        length = np.linalg.norm(local, axis=1)
        local /= length[:, None]
        directions = local @ pose_axes(pose)
        parent = int(scene.actors[row]["parent_row"])
        hidden = row_around(scene.actors, parent, pose.x_m, pose.y_m, pose.z_m)
        distance, surface = cast_rays(
            scene.solids,
            scene.relief,
            np.array(pose[:3]),
            directions,
            self.range_m * length,
            hidden,
        )
        hit = np.isfinite(distance)
        detections = np.empty(int(hit.sum()), RADAR_POINT)
        own = sensor_velocity(scene, row, pose)
        velocity = _velocities(scene, surface[hit]) - own
        detections["velocity"] = np.sum(velocity * directions[hit], axis=1)
        detections["azimuth"] = np.arctan2(local[hit, 1], local[hit, 0])
        detections["altitude"] = np.arcsin(local[hit, 2])
        detections["depth"] = distance[hit]
        return encode_radar(detections)


def _velocities(scene: Scene, surface: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 3) velocities of what was met; scenery and ground stand still."""
    owner = np.where(surface >= 0, scene.solids.owner[np.maximum(surface, 0) >> 3], -1)
    moving = owner >= 0
    out = np.zeros((len(surface), 3))
    rows = scene.actors[owner[moving]]
    out[moving] = np.stack([rows["vx"], rows["vy"], rows["vz"]], axis=1)
    return out


def sensor_velocity(scene: Scene, row: int, pose: Pose) -> NDArray[np.float64]:
    """Velocity of a sensor: that of the body it is fixed to, rotation included."""
    parent = int(scene.actors[row]["parent_row"])
    body = scene.actors[parent if parent >= 0 else row]
    velocity = np.array([body["vx"], body["vy"], body["vz"]], dtype=np.float64)
    spin = np.array([body["wx"], body["wy"], body["wz"]], dtype=np.float64)
    arm = np.array([pose.x_m - body["x"], pose.y_m - body["y"], pose.z_m - body["z"]])
    return velocity + np.cross(spin, arm)
