"""LiDAR, semantic LiDAR and radar.

A LiDAR casts a rotating fan of rays over the angle of one tick. A radar casts random rays inside a
cone and returns the speed of the surfaces along each ray.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._intersect import solid_normal
from jaywalk.server.sensors._mesh import Meshes, mesh_surface
from jaywalk.server.sensors._readings import (
    LIDAR_POINT,
    RADAR_POINT,
    SEMANTIC_POINT,
    RadarReading,
    Reading,
    ScanReading,
    SensorPose,
    SensorType,
)
from jaywalk.server.sensors._scan import (
    Echoes,
    Scan,
    cast_rays,
    cast_scan,
    row_around,
    scan_directions,
)
from jaywalk.server.sensors._scene import GroundPaint, SensorScene
from jaywalk.server.sensors._shading import ground_label, ground_normal
from jaywalk.server.sensors._solids import MESH, Solids, kernel, pose_axes
from jaywalk.server.sensors._terrain import Relief
from jaywalk.server.sensors.catalogue import PLACED, SEED, TICK, UNPLACED, floats, integer, sensor

_SCAN: Final = (
    integer("channels", "32"),
    *floats(range="10.0"),
    integer("points_per_second", "56000"),
    *floats(rotation_frequency="10.0", upper_fov="10.0", lower_fov="-30.0"),
)
_SCAN_WIDTH: Final = floats(horizontal_fov="360.0")
_SCAN_LOSSES: Final = (
    *floats(atmosphere_attenuation_rate="0.004"),
    *SEED,
    *floats(
        dropoff_general_rate="0.45",
        dropoff_intensity_limit="0.8",
        dropoff_zero_intensity="0.4",
        noise_stddev="0.0",
    ),
)


@sensor(
    "other.radar",
    UNPLACED,
    TICK,
    floats(horizontal_fov="30", vertical_fov="30", range="100"),
    (integer("points_per_second", "1500"),),
    SEED,
    summary="points with radial velocity",
    order=11,
)
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

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
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
        distance, surface, _ = cast_rays(
            scene.solids,
            scene.meshes,
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
        return [RadarReading(detections)]


def _velocities(scene: SensorScene, surface: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the (n, 3) velocities of the surfaces hit; zero for scenery and ground."""
    owner = np.where(surface >= 0, scene.solids.owner[np.maximum(surface, 0) >> 3], -1)
    moving = owner >= 0
    out = np.zeros((len(surface), 3))
    rows = scene.actors[owner[moving]]
    out[moving] = np.stack([rows["vx"], rows["vy"], rows["vz"]], axis=1)
    return out


def sensor_velocity(scene: SensorScene, row: int, pose: SensorPose) -> NDArray[np.float64]:
    """Velocity of a sensor: that of the body it is fixed to, rotation included."""
    parent = int(scene.actors[row]["parent_row"])
    body = scene.actors[parent if parent >= 0 else row]
    velocity = np.array([body["vx"], body["vy"], body["vz"]], dtype=np.float64)
    spin = np.array([body["wx"], body["wy"], body["wz"]], dtype=np.float64)
    arm = np.array([pose.x_m - body["x"], pose.y_m - body["y"], pose.z_m - body["z"]])
    return velocity + np.cross(spin, arm)


class _ScanningSensor(Sensor):
    """Base of both LiDARs: the fan of rays and its rotation."""

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        values = self.attributes
        self.channels = values.integer("channels", 1, 1024)
        self.range_m = values.number("range", 0.0, 10_000.0)
        self.points_per_second = values.integer("points_per_second", 0, 100_000_000)
        self.turns_per_second = values.number("rotation_frequency", 0.0, 10_000.0)
        self.upper_deg = values.number("upper_fov", -90.0, 90.0)
        self.lower_deg = values.number("lower_fov", -90.0, 90.0)
        self.fov_deg = values.number("horizontal_fov", 0.001, 360.0)
        self.angle_deg = 0.0

    def _next_scan(self, pose: SensorPose, dt_s: float) -> Scan:
        """Return the rays of this tick, which continue from the last tick."""
        columns = math.floor(self.points_per_second * dt_s / self.channels + 0.5)
        arc_deg = self.turns_per_second * self.fov_deg * dt_s
        channel_step = (
            (self.upper_deg - self.lower_deg) / (self.channels - 1) if self.channels > 1 else 0.0
        )
        scan = Scan(
            np.array(pose[:3]),
            pose_axes(pose),
            self.channels,
            columns,
            self.upper_deg,
            channel_step,
            self.angle_deg,
            # A standing fan would make all columns equal; keep the step above zero.
            max(arc_deg / max(columns, 1), 1e-9),
            self.fov_deg,
            self.range_m,
        )
        if columns > 0:
            self.angle_deg = math.fmod(self.angle_deg + arc_deg, self.fov_deg)
        return scan

    def _cast(self, scene: SensorScene, row: int, pose: SensorPose, scan: Scan) -> Echoes:
        parent = int(scene.actors[row]["parent_row"])
        hidden = row_around(scene.actors, parent, pose.x_m, pose.y_m, pose.z_m)
        return cast_scan(scene.solids, scene.meshes, scene.relief, scan, hidden)


@sensor(
    "lidar.ray_cast",
    PLACED,
    TICK,
    _SCAN,
    _SCAN_LOSSES,
    _SCAN_WIDTH,
    summary="points with intensity",
    order=9,
)
class Lidar(_ScanningSensor):
    """Points with intensity, drop-offs and noise along the ray."""

    kind = SensorType.LIDAR

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        values = self.attributes
        self.attenuation_per_m = values.number("atmosphere_attenuation_rate", 0.0, 1e6)
        self.lost_share = values.number("dropoff_general_rate", 0.0, 1.0)
        self.sure_intensity = values.number("dropoff_intensity_limit", 0.0, 1e6)
        self.lost_at_zero = values.number("dropoff_zero_intensity", 0.0, 1.0)
        self.noise_m = values.number("noise_stddev", 0.0, 1e6)

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        scan = self._next_scan(pose, dt_s)
        echoes = self._cast(scene, row, pose, scan)
        distance = echoes.distance_m
        heard = np.isfinite(distance)
        noise = self.noise(frame)
        if self.lost_share > 0.0:
            heard &= noise.random(distance.shape, np.float32) >= self.lost_share
        intensity = np.exp(-self.attenuation_per_m * np.where(heard, distance, 0.0))
        if self.sure_intensity > 0.0 and self.lost_at_zero > 0.0:
            kept = self.lost_at_zero / self.sure_intensity * intensity + 1.0 - self.lost_at_zero
            drawn = noise.random(distance.shape, np.float32) < kept
            heard &= (intensity > self.sure_intensity) | drawn
        if self.noise_m > 0.0:
            distance = distance + noise.normal(0.0, self.noise_m, distance.shape)
        per_channel = np.count_nonzero(heard, axis=1).astype(np.uint32)
        points = np.empty(int(per_channel.sum()), LIDAR_POINT)
        vertical, horizontal = scan_directions(scan)
        flat = points.view(np.float32).reshape(-1, 4)
        _fill_points(distance, intensity, heard, vertical, horizontal, flat)
        return [ScanReading(points, per_channel, math.radians(self.angle_deg))]


@sensor(
    "lidar.ray_cast_semantic",
    PLACED,
    TICK,
    _SCAN,
    _SCAN_WIDTH,
    summary="points with labels and actor ids",
    order=10,
)
class SemanticLidar(_ScanningSensor):
    """Every echo with its angle of incidence, actor id and label; no losses and no noise."""

    kind = SensorType.SEMANTIC_LIDAR

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        scan = self._next_scan(pose, dt_s)
        echoes = self._cast(scene, row, pose, scan)
        heard = np.isfinite(echoes.distance_m)
        per_channel = np.count_nonzero(heard, axis=1).astype(np.uint32)
        points = np.empty(int(per_channel.sum()), SEMANTIC_POINT)
        vertical, horizontal = scan_directions(scan)
        words = points.view(np.uint32).reshape(-1, 6)
        _fill_semantic(
            scene.solids,
            scene.meshes,
            scene.relief,
            scene.paint,
            scan,
            echoes,
            vertical,
            horizontal,
            words.view(np.float32),
            words,
        )
        return [ScanReading(points, per_channel, math.radians(self.angle_deg))]


@kernel
def _fill_points(
    distance_m: NDArray[np.float64],
    intensity: NDArray[np.float64],
    heard: NDArray[np.bool_],
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    channels, columns = distance_m.shape
    k = 0
    for c in range(channels):
        for j in range(columns):
            if heard[c, j]:
                across = distance_m[c, j] * vertical[c, 0]
                out[k, 0] = across * horizontal[j, 0]
                out[k, 1] = across * horizontal[j, 1]
                out[k, 2] = distance_m[c, j] * vertical[c, 1]
                out[k, 3] = intensity[c, j]
                k += 1


@kernel
def _fill_semantic(
    solids: Solids,
    meshes: Meshes,
    relief: Relief,
    paint: GroundPaint,
    scan: Scan,
    echoes: Echoes,
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    out: NDArray[np.float32],
    words: NDArray[np.uint32],
) -> None:
    axes = scan.axes
    k = 0
    for c in range(scan.channels):
        for j in range(scan.columns):
            t = echoes.distance_m[c, j]
            if t == math.inf:
                continue
            a, b = vertical[c, 0] * horizontal[j, 0], vertical[c, 0] * horizontal[j, 1]
            s = vertical[c, 1]
            dx = a * axes[0, 0] + b * axes[1, 0] + s * axes[2, 0]
            dy = a * axes[0, 1] + b * axes[1, 1] + s * axes[2, 1]
            dz = a * axes[0, 2] + b * axes[1, 2] + s * axes[2, 2]
            x, y = scan.origin[0] + t * dx, scan.origin[1] + t * dy
            z = scan.origin[2] + t * dz
            surface = echoes.surface[c, j]
            if surface < 0:
                nx, ny, nz = ground_normal(relief, x, y, z)
                words[k, 4], words[k, 5] = 0, ground_label(paint, x, y)
            else:
                solid = surface >> 3
                if solids.shape[solid] == MESH:
                    mesh, found = solids.mesh[solid], echoes.triangle[c, j]
                    nx, ny, nz, _, _, _ = mesh_surface(
                        meshes, solids.form, solid, mesh, found, x, y, z
                    )
                    if dx * nx + dy * ny + dz * nz > 0.0:  # the back of a thin surface
                        nx, ny, nz = -nx, -ny, -nz
                else:
                    part = surface & 7
                    nx, ny, nz = solid_normal(solids.form, solids.shape, solid, part, x, y, z)
                words[k, 4], words[k, 5] = solids.object_id[solid], solids.label[solid]
            out[k, 0], out[k, 1], out[k, 2] = t * a, t * b, t * s
            out[k, 3] = -(dx * nx + dy * ny + dz * nz)
            k += 1
