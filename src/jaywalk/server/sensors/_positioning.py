"""IMU and GNSS sensors.

The IMU returns specific force, turn rate and compass, with the noise that the client asked for. The
GNSS sensor returns its position on the globe in the form that the client's version expects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.geometry.geodesy import locate_0915, locate_0916
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._readings import (
    GnssReading,
    ImuReading,
    Reading,
    SensorPose,
    SensorType,
    pose_of,
)
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._solids import pose_axes
from jaywalk.server.sensors.catalogue import SEED, TICK, UNPLACED, SensorStage, floats, sensor

_BODY_NOISE: Final = floats(
    noise_accel_stddev_x="0.0",
    noise_accel_stddev_y="0.0",
    noise_accel_stddev_z="0.0",
    noise_gyro_stddev_x="0.0",
    noise_gyro_stddev_y="0.0",
    noise_gyro_stddev_z="0.0",
    noise_gyro_bias_x="0.0",
    noise_gyro_bias_y="0.0",
    noise_gyro_bias_z="0.0",
)
PLACE_NOISE: Final = floats(
    noise_lat_stddev="0.0",
    noise_lat_bias="0.0",
    noise_lon_stddev="0.0",
    noise_lon_bias="0.0",
    noise_alt_stddev="0.0",
    noise_alt_bias="0.0",
)


@sensor(
    "other.gnss",
    UNPLACED,
    TICK,
    SEED,
    PLACE_NOISE,
    summary="latitude, longitude and altitude",
    order=13,
    stage=SensorStage.PROMPT,
)
class Gnss(Sensor):
    """Latitude, longitude (degrees) and altitude (metres) with bias and Gaussian noise on each."""

    kind = SensorType.GNSS
    sees = False

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        names = ("lat", "lon", "alt")
        self.stddev = [self.attributes.number(f"noise_{name}_stddev", 0.0) for name in names]
        self.bias = [self.attributes.number(f"noise_{name}_bias") for name in names]

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        drawn = self.noise(frame).normal(0.0, 1.0, 3)
        error = [
            bias + stddev * float(draw)
            for bias, stddev, draw in zip(self.bias, self.stddev, drawn, strict=True)
        ]
        older = locate_0915(scene.geo, pose.x_m, pose.y_m, pose.z_m)
        newer = locate_0916(scene.geo, pose.x_m, pose.y_m, pose.z_m)
        return [GnssReading(older, newer, error)]


@sensor(
    "other.imu",
    UNPLACED,
    TICK,
    SEED,
    _BODY_NOISE,
    summary="specific force, turn rate and compass",
    order=12,
    stage=SensorStage.PROMPT,
)
class Imu(Sensor):
    """Measures in its own frame: x forward, y right, z up; a level IMU at rest reads +9.81 on z."""

    kind = SensorType.IMU
    sees = False

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self.accel_stddev = self._vector("noise_accel_stddev", 0.0)
        self.gyro_stddev = self._vector("noise_gyro_stddev", 0.0)
        self.gyro_bias = self._vector("noise_gyro_bias", -math.inf)
        self._past: list[tuple[float, NDArray[np.float64]]] = []

    def _vector(self, name: str, least: float) -> NDArray[np.float64]:
        return np.array([self.attributes.number(f"{name}_{axis}", least) for axis in "xyz"])

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        noise = self.noise(frame)
        force = pose_axes(pose) @ self._specific_force(pose, time_s, scene.gravity_mps2)
        force += noise.normal(0.0, 1.0, 3) * self.accel_stddev
        turn = turn_rate(scene.actors, row)
        turn = turn + self.gyro_bias + noise.normal(0.0, 1.0, 3) * self.gyro_stddev
        return [ImuReading(force, turn, compass_rad(pose))]

    def _specific_force(
        self, pose: SensorPose, time_s: float, gravity_mps2: float
    ) -> NDArray[np.float64]:
        """Second derivative of the parabola through the last three places, plus gravity.

        Like the real sensor it differentiates its own place, so lever arms are included.
        """
        here = np.array(pose[:3])
        acceleration = np.zeros(3)
        self._past = [entry for entry in self._past if entry[0] < time_s]
        if len(self._past) == 2:
            (t2, oldest), (t1, older) = self._past
            h1, h2 = time_s - t1, t1 - t2
            acceleration = 2.0 * ((here - older) / h1 - (older - oldest) / h2) / (h1 + h2)
        self._past = [*self._past[-1:], (time_s, here)]
        acceleration[2] += gravity_mps2
        return acceleration


def turn_rate(actors: np.ndarray[Any, Any], row: int) -> NDArray[np.float64]:
    """Angular velocity of the carrying body in its own frame, turned by the sensor's mounting."""
    parent = int(actors[row]["parent_row"])
    body = parent if parent >= 0 else row
    spin = np.array([actors[body]["wx"], actors[body]["wy"], actors[body]["wz"]], dtype=np.float64)
    local = pose_axes(pose_of(actors, body)) @ spin
    if parent < 0:
        return local
    sensor = actors[row]
    mounting = SensorPose(0.0, 0.0, 0.0, sensor["rel_pitch"], sensor["rel_yaw"], sensor["rel_roll"])
    # The real sensor applies its mounting forwards, not inversely; programs are tuned to that.
    return pose_axes(mounting).T @ local


def compass_rad(pose: SensorPose) -> float:
    """Heading from north (-y), clockwise, in [0, 2 pi)."""
    forward_x, forward_y = math.cos(pose.yaw_rad), math.sin(pose.yaw_rad)
    if math.cos(pose.pitch_rad) < 0.0:
        forward_x, forward_y = -forward_x, -forward_y
    return math.atan2(forward_x, -forward_y) % (2.0 * math.pi)
