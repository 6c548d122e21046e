"""Sensors that return no measurements themselves, and the factory of all sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._positioning import PLACE_NOISE
from jaywalk.server.sensors._readings import CollisionReading, Reading, SensorPose, SensorType
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors.catalogue import (
    PLACED,
    SEED,
    SENSORS,
    TICK,
    UNPLACED,
    SensorStage,
    choice,
    flag,
    floats,
    sensor,
)

_RADIO: Final = (
    *floats(
        transmit_power="21.5",
        receiver_sensitivity="-99.0",
        frequency_ghz="5.9",
        combined_antenna_gain="10.0",
    ),
    choice("scenario", "highway", "rural", "urban"),
    *floats(path_loss_exponent="2.7", d_ref="1.0", filter_distance="500.0"),
    flag("use_etsi_fading", "true"),
    *floats(custom_fading_stddev="0.0"),
    choice("path_loss_model", "winner", "geometric"),
)
_RADIO_MESSAGES: Final = (
    *floats(gen_cam_min="0.1", gen_cam_max="1.0"),
    flag("fixed_rate", "false"),
    *PLACE_NOISE,
    *floats(
        noise_head_stddev="0.0",
        noise_head_bias="0.0",
        noise_accel_stddev_x="0.0",
        noise_accel_stddev_y="0.0",
        noise_accel_stddev_z="0.0",
        noise_yawrate_stddev="0.0",
        noise_yawrate_bias="0.0",
        noise_vel_stddev_x="0.0",
    ),
)


@sensor(
    "other.collision",
    PLACED,
    summary="contacts of its parent",
    order=15,
    stage=SensorStage.PROMPT,
)
class CollisionSensor(Sensor):
    """Reports the contacts of the actor that it is attached to."""

    kind = SensorType.COLLISION
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


@sensor(
    "other.lane_invasion",
    PLACED,
    summary="lane markings that its parent crosses",
    order=16,
    stage=SensorStage.CLIENT,
)
class LaneInvasionSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.LANE_INVASION


@sensor(
    "other.rss",
    PLACED,
    summary="responsibility-sensitive safety",
    order=17,
    stage=SensorStage.CLIENT,
)
class RssSensor(SilentSensor):
    """Computed by the client itself."""

    kind = SensorType.RSS


@sensor(
    "other.v2x",
    UNPLACED,
    TICK,
    SEED,
    _RADIO,
    _RADIO_MESSAGES,
    summary="awareness messages; receives none",
    order=18,
    only_0916=True,
)
class V2xSensor(SilentSensor):
    """Receives no messages: radio is not simulated."""

    kind = SensorType.V2X


@sensor(
    "other.v2x_custom",
    UNPLACED,
    TICK,
    SEED,
    _RADIO,
    summary="custom messages; receives none",
    order=19,
    only_0916=True,
)
class CustomV2xSensor(SilentSensor):
    """Receives no messages: radio is not simulated."""

    kind = SensorType.V2X_CUSTOM


def make_sensor(type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int) -> Sensor:
    """Make a sensor by its blueprint id.

    Args:
        type_id: Blueprint id; an unknown one is an error.
        attributes: Values as the client sent them; a value that makes no sense is an error.
        sensor_id: Actor id of the sensor.
        seed: Seed of the run.
    """
    made: Sensor = SENSORS.get(type_id).load()(type_id, attributes, sensor_id, seed)
    return made
