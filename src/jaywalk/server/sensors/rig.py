"""Makes the sensor object for a blueprint id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from jaywalk.server.sensors.base import Sensor, Stage
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
from jaywalk.server.sensors.readings import CollisionReading, Reading, SensorPose, SensorType
from jaywalk.server.sensors.scene import SensorScene


class CollisionSensor(Sensor):
    """Reports the contacts of the actor that it is attached to."""

    kind = SensorType.COLLISION
    stage = Stage.PROMPT
    sees = False

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        parent = int(scene.actors[row]["parent_row"])
        if parent < 0:
            return []
        readings = []
        for contact in scene.contacts:
            if parent == contact["row_a"]:
                sign, other = 1.0, int(contact["row_b"])
            elif parent == contact["row_b"]:
                sign, other = -1.0, int(contact["row_a"])
            else:
                continue
            impulse = (
                sign * float(contact["ix"]),
                sign * float(contact["iy"]),
                sign * float(contact["iz"]),
            )
            readings.append(CollisionReading(parent, other, int(contact["scenery"]), impulse))
        return readings


class SilentSensor(Sensor):
    """Exists, but never reports anything."""

    sees = False

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        return []


class LaneInvasionSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.LANE_INVASION
    has_stream = False


class RssSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.RSS
    has_stream = False


class V2xSensor(SilentSensor):
    """Receives no messages: radio is not simulated."""

    kind = SensorType.V2X


class CustomV2xSensor(SilentSensor):
    """Receives no messages: radio is not simulated."""

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
