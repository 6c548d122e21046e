"""Makes the sensor object for a blueprint id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jaywalk.server.encoding.sensor_frames import Pose, SensorType
from jaywalk.server.sensors.base import Sensor
from jaywalk.server.sensors.camera import (
    CosmosCamera,
    DepthCamera,
    EventCamera,
    FlowCamera,
    InstanceCamera,
    NormalsCamera,
    RgbCamera,
    SemanticCamera,
)
from jaywalk.server.sensors.catalogue import sensor_blueprint
from jaywalk.server.sensors.lidar import Lidar, Radar, SemanticLidar
from jaywalk.server.sensors.obstacle import ObstacleDetector
from jaywalk.server.sensors.positioning import Gnss, Imu
from jaywalk.server.sensors.scene import Scene


class SilentSensor(Sensor):
    """Exists, but delivers nothing by itself: events come from elsewhere or from the client."""

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> None:
        return None


class CollisionSensor(SilentSensor):
    """The world's contacts make its events; the wire encodes them."""

    kind = SensorType.COLLISION


class LaneInvasionSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.LANE_INVASION


class RssSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.RSS


class V2xSensor(SilentSensor):
    """Hears nobody."""

    kind = SensorType.V2X


class CustomV2xSensor(SilentSensor):
    """Hears nobody."""

    kind = SensorType.V2X_CUSTOM


_CLASSES: Final[dict[str, type[Sensor]]] = {
    "sensor.camera.rgb": RgbCamera,
    "sensor.camera.depth": DepthCamera,
    "sensor.camera.semantic_segmentation": SemanticCamera,
    "sensor.camera.instance_segmentation": InstanceCamera,
    "sensor.camera.normals": NormalsCamera,
    "sensor.camera.optical_flow": FlowCamera,
    "sensor.camera.dvs": EventCamera,
    "sensor.camera.cosmos_visualization": CosmosCamera,
    "sensor.lidar.ray_cast": Lidar,
    "sensor.lidar.ray_cast_semantic": SemanticLidar,
    "sensor.other.radar": Radar,
    "sensor.other.imu": Imu,
    "sensor.other.gnss": Gnss,
    "sensor.other.obstacle": ObstacleDetector,
    "sensor.other.collision": CollisionSensor,
    "sensor.other.lane_invasion": LaneInvasionSensor,
    "sensor.other.rss": RssSensor,
    "sensor.other.v2x": V2xSensor,
    "sensor.other.v2x_custom": CustomV2xSensor,
}


def make_sensor(type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int) -> Sensor:
    """Make a sensor.

    Args:
        type_id: Blueprint id; an unknown one is an error.
        attributes: Values as the client sent them; a value that makes no sense is an error.
        sensor_id: Actor id of the sensor.
        seed: Seed of the run.
    """
    sensor_blueprint(type_id)
    return _CLASSES[type_id](type_id, attributes, sensor_id, seed)
