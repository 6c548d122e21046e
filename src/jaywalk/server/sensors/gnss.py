"""GNSS: where the sensor is on the globe, in the form the client's version expects."""

from __future__ import annotations

from collections.abc import Mapping

import msgpack

from jaywalk.server.sensors.base import Sensor
from jaywalk.server.sensors.geodesy import GeoLocation, locate_0915, locate_0916
from jaywalk.server.sensors.header import HEADER_BYTES, Pose, SensorType
from jaywalk.server.sensors.scene import Scene


class Gnss(Sensor):
    """Latitude, longitude (degrees) and altitude (metres) with bias and Gaussian noise on each."""

    kind = SensorType.GNSS

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        names = ("lat", "lon", "alt")
        self.stddev = [self.attributes.number(f"noise_{name}_stddev", 0.0) for name in names]
        self.bias = [self.attributes.number(f"noise_{name}_bias") for name in names]
        self._older_form = b""

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> bytes:
        drawn = self.noise(frame).normal(0.0, 1.0, 3)
        error = [
            bias + stddev * float(draw)
            for bias, stddev, draw in zip(self.bias, self.stddev, drawn, strict=True)
        ]
        older = locate_0915(scene.geo, pose.x_m, pose.y_m, pose.z_m)
        newer = locate_0916(scene.geo, pose.x_m, pose.y_m, pose.z_m)
        self._older_form = encode_gnss(older, error)
        return encode_gnss(newer, error)

    def for_0915(self, payload: bytes) -> bytes:
        """The same measurement in the older projection, in which latitude falls with y."""
        return payload[:HEADER_BYTES] + self._older_form


def encode_gnss(place: GeoLocation, error: list[float]) -> bytes:
    """Encode a place with an error added to each component."""
    return bytes(msgpack.packb([v + e for v, e in zip(place, error, strict=True)]))
