"""The observation ``sensors``: what a Leaderboard agent's sensors measure, in fixed shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import carla
import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.sensor_rig import SensorError, SensorRig, check_sensors
from jaywalk.core.errors import UsageError
from jaywalk.runner.staged import StagedEpisode

# What one gets without asking for anything else.
CAMERA: Final[Mapping[str, Any]] = {
    "type": "sensor.camera.rgb", "id": "camera", "x": 1.3, "y": 0.0, "z": 1.7, "roll": 0.0,
    "pitch": 0.0, "yaw": 0.0, "width": 160, "height": 96, "fov": 100,
}  # fmt: skip
_POINTS: Final = {"sensor.lidar.ray_cast": 16_384, "sensor.other.radar": 256}
_VALUES: Final = {"sensor.other.imu": 7, "sensor.other.gnss": 3, "sensor.speedometer": 1}
_FAR: Final = 1e6


def check_readable(sensors: Sequence[Mapping[str, Any]]) -> None:
    """Raise unless every sensor is allowed and has a fixed shape.

    Raises:
        UsageError: With the Leaderboard's words, or the kinds that can be read.
    """
    try:
        check_sensors(sensors, "SENSORS")
    except SensorError as problem:
        raise UsageError(f"sensors: {problem}") from problem
    for one in sensors:
        if str(one["id"]) == "ego":
            raise UsageError("sensors: the id 'ego' is taken; choose another.")


def sensor_spaces(sensors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Spaces by sensor id."""
    return {str(one["id"]): _space(one) for one in sensors}


def _space(one: Mapping[str, Any]) -> Any:
    kind = one["type"]
    if kind.startswith("sensor.camera"):
        picture = (int(one.get("height", 600)), int(one.get("width", 800)), 3)
        return gymnasium.spaces.Box(0, 255, picture, np.uint8)
    shape: tuple[int, ...] = (_POINTS[kind], 4) if kind in _POINTS else (_VALUES[kind],)
    return gymnasium.spaces.Box(-_FAR, _FAR, shape, np.float32)


class SensorView:
    """Sensors on the ego of one episode."""

    def __init__(self, stage: StagedEpisode, sensors: Sequence[Mapping[str, Any]]) -> None:
        self._stage, self._sensors = stage, sensors
        self._rig = SensorRig(stage.carla_world, stage.ego, sensors)
        stage.ego.apply_control(carla.VehicleControl(hand_brake=True))
        stage.carla_world.tick()  # the first frame they measure

    def read(self) -> dict[str, NDArray[Any]]:
        """Measurements of the present tick."""
        found = self._rig.read(self._stage.snapshot.frame, self._stage.snapshot)
        return {str(one["id"]): _fixed(one["type"], found[one["id"]][1]) for one in self._sensors}

    def close(self) -> None:
        """Remove the sensors."""
        self._rig.close()


def _fixed(kind: str, data: Any) -> NDArray[Any]:
    if kind.startswith("sensor.camera"):
        return np.ascontiguousarray(data[:, :, 2::-1])  # BGRA as RGB
    if kind == "sensor.speedometer":
        return np.array([data["speed"]], np.float32)
    if kind not in _POINTS:
        return np.asarray(np.clip(data, -_FAR, _FAR), np.float32)
    out = np.zeros((_POINTS[kind], 4), np.float32)
    # Evenly thinned when there are more, so that no direction is cut off.
    most = len(out)
    rows = data if len(data) <= most else data[np.linspace(0, len(data) - 1, most).astype(int)]
    out[: len(rows)] = rows
    return out
