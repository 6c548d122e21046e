"""Sensors that a Leaderboard agent asks for: checked, mounted on the ego and read every frame."""

from __future__ import annotations

import math
import queue
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import carla
import numpy as np
from defusedxml.ElementTree import fromstring

from jaywalk.agents.base import Driver
from jaywalk.core.errors import InfrastructureError
from jaywalk.geometry.geodesy import from_0916_gps, route_reference_deg, to_gps

_SPEEDOMETER: Final = "sensor.speedometer"
_MAP: Final = "sensor.opendrive_map"
_GNSS: Final = "sensor.other.gnss"
_NEWER: Final = tuple(map(int, version("carla").split("."))) >= (0, 9, 16)
RADIUS_M: Final = 3.0  # maximum distance from the vehicle's origin
LOCAL_RADIUS_M: Final = 70.0  # in Fail2Drive's and carla_garage's local evaluator
_WAIT_S: Final = 10.0
# Type -> maximum number in full tracks and in qualifier tracks.
_LIMITS: Final = {
    "sensor.camera.rgb": (8, 4),
    "sensor.camera.semantic_segmentation": (8, 8),
    "sensor.camera.depth": (8, 8),
    "sensor.lidar.ray_cast": (2, 1),
    "sensor.other.radar": (4, 2),
    "sensor.other.gnss": (1, 1),
    "sensor.other.imu": (1, 1),
    _MAP: (1, 1),
    _SPEEDOMETER: (1, 1),
}
_FIXED: Final = {
    "sensor.camera.rgb": {
        "lens_circle_multiplier": "3.0",
        "lens_circle_falloff": "3.0",
        "chromatic_aberration_intensity": "0.5",
        "chromatic_aberration_offset": "0",
    },
    "sensor.lidar.ray_cast": {
        "range": "85",
        "rotation_frequency": "10",
        "channels": "64",
        "upper_fov": "10",
        "lower_fov": "-30",
        "points_per_second": "600000",
        "atmosphere_attenuation_rate": "0.004",
        "dropoff_general_rate": "0.45",
        "dropoff_intensity_limit": "0.8",
        "dropoff_zero_intensity": "0.4",
    },
    "sensor.other.radar": {"points_per_second": "1500", "range": "100"},
    "sensor.other.gnss": {
        "noise_alt_stddev": "0.000005",
        "noise_lat_stddev": "0.000005",
        "noise_lon_stddev": "0.000005",
        "noise_alt_bias": "0.0",
        "noise_lat_bias": "0.0",
        "noise_lon_bias": "0.0",
    },
    "sensor.other.imu": {
        "noise_accel_stddev_x": "0.001",
        "noise_accel_stddev_y": "0.001",
        "noise_accel_stddev_z": "0.015",
        "noise_gyro_stddev_x": "0.001",
        "noise_gyro_stddev_y": "0.001",
        "noise_gyro_stddev_z": "0.001",
    },
}
# Key of the agent's dictionary -> attribute of the blueprint.
_GIVEN: Final = {
    "width": "image_size_x",
    "height": "image_size_y",
    "fov": "fov",
    "horizontal_fov": "horizontal_fov",
    "vertical_fov": "vertical_fov",
}


class SensorError(Exception):
    """Raised if the agent's sensors break the rules of its track; in the Leaderboard's words."""


def allowed_sensors() -> list[str]:
    """Return the types of sensors that agents may use."""
    return sorted(_LIMITS)


def check_track(track: str, selected: str) -> None:
    """Raise :class:`SensorError` unless the agent's track is the present one."""
    if track != selected:
        raise SensorError(f"You are submitting to the wrong track [Track.{selected}]!")


def check_sensors(
    sensors: Sequence[Mapping[str, Any]], track: str, radius_m: float = RADIUS_M
) -> None:
    """Raise :class:`SensorError` unless a list of sensors is allowed in a track."""
    doubled = [tag for tag, n in Counter(sensor["id"] for sensor in sensors).items() if n > 1]
    if doubled:
        raise SensorError(f"Duplicated sensor tag [{doubled[0]}]")
    for sensor in sensors:
        kind = sensor["type"]
        if kind not in _LIMITS or (kind == _MAP and track == "SENSORS"):
            raise SensorError(f"Illegal sensor '{kind}' used for Track [Track.{track}]!")
        if math.hypot(*(float(sensor.get(axis, 0.0)) for axis in "xyz")) > radius_m:
            raise SensorError(
                f"Illegal sensor extrinsics used for sensor '{sensor['id']}'. "
                f"Max allowed radius is {radius_m}m"
            )
    for kind, count in Counter(sensor["type"] for sensor in sensors).items():
        most = _LIMITS[kind][1 if track.endswith("QUALIFIER") else 0]
        if count > most:
            raise SensorError(
                f"Too many {kind} used! Maximum number allowed is {most}, "
                f"but {count} were requested."
            )


def check_driver_sensors(sensors: Sequence[Mapping[str, Any]]) -> None:
    """Raise :class:`SensorError` unless the sensors of one of our drivers can be mounted."""
    for number, sensor in enumerate(sensors, start=1):
        missing = [key for key in ("type", "id") if not isinstance(sensor.get(key), str)]
        if missing:
            raise SensorError(f"Sensor {number} has no text '{missing[0]}'.")
        kind = sensor["type"]
        if kind not in _LIMITS:
            raise SensorError(
                f"Sensor '{sensor['id']}' has the type '{kind}'. Expected one of: "
                f"{', '.join(allowed_sensors())}."
            )
    doubled = [tag for tag, n in Counter(sensor["id"] for sensor in sensors).items() if n > 1]
    if doubled:
        raise SensorError(f"Two sensors have the id '{doubled[0]}'. Give each an id of its own.")


class SensorRig:
    """Sensors on the ego and their data of the present frame."""

    def __init__(self, world: Any, ego: Any, sensors: Sequence[Mapping[str, Any]]) -> None:
        self._ego = ego
        self._actors: list[Any] = []
        self._tags: list[str] = []
        self._arrived: queue.Queue[tuple[str, int, Any]] = queue.Queue()
        self._waited: set[str] = set()
        self.latest: dict[str, tuple[int, Any]] = {}  # what was read last
        self._speedometers = [sensor["id"] for sensor in sensors if sensor["type"] == _SPEEDOMETER]
        self._maps = [sensor["id"] for sensor in sensors if sensor["type"] == _MAP]
        self._map_text = world.get_map().to_opendrive()
        self._reference = route_reference_deg(fromstring(self._map_text))
        library = world.get_blueprint_library()
        for sensor in sensors:
            if sensor["type"] not in (_SPEEDOMETER, _MAP):
                self._mount(world, library, sensor)

    def _mount(self, world: Any, library: Any, spec: Mapping[str, Any]) -> None:
        model = library.find(spec["type"])
        values = dict(_FIXED.get(spec["type"], {}))
        values |= {name: str(spec[key]) for key, name in _GIVEN.items() if key in spec}
        values |= {name: str(value) for name, value in spec.get("attributes", {}).items()}
        for name, value in values.items():
            if model.has_attribute(name):
                model.set_attribute(name, value)
        angle = {axis: float(spec.get(axis, 0.0)) for axis in ("pitch", "roll", "yaw")}
        place = carla.Location(*(float(spec.get(axis, 0.0)) for axis in "xyz"))
        pose = carla.Transform(place, carla.Rotation(**angle))
        actor = world.spawn_actor(model, pose, attach_to=self._ego)
        tag = str(spec["id"])
        read = self._position if spec["type"] == _GNSS else _reader(spec["type"])
        actor.listen(lambda data: self._arrived.put((tag, data.frame, read(data))))
        self._actors.append(actor)
        self._tags.append(tag)
        self._waited.add(tag)

    def _position(self, data: Any) -> np.ndarray[Any, Any]:
        """Return the position in the projection of the agent's plan, also from a newer server."""
        if _NEWER:
            x, y = from_0916_gps(data.latitude, data.longitude, self._reference)
            there: np.ndarray[Any, Any] = to_gps(np.array([[x, y, data.altitude]]), self._reference)
            return there.reshape(3)
        return np.array([data.latitude, data.longitude, data.altitude])

    def read(self, frame: int, snapshot: Any) -> dict[str, tuple[int, Any]]:
        """Return ``input_data`` of this frame; data of other frames is discarded.

        Raises:
            InfrastructureError: A sensor sent no data, which is not the agent's fault.
        """
        readings: dict[str, tuple[int, Any]] = {}
        while not self._waited.issubset(readings):
            try:
                tag, of_frame, data = self._arrived.get(timeout=_WAIT_S)
            except queue.Empty:
                missing = ", ".join(sorted(self._waited - set(readings)))
                raise InfrastructureError(
                    f"A sensor took too long to send their data: {missing}"
                ) from None
            if of_frame == frame:
                readings[tag] = (frame, data)
        for tag in self._speedometers:
            readings[tag] = (frame, {"speed": _forward_speed(snapshot.find(self._ego.id))})
        for tag in self._maps:
            readings[tag] = (frame, {"opendrive": self._map_text})
        self.latest = readings
        return readings

    @property
    def named_actors(self) -> list[list[Any]]:
        """Return id and actor of each mounted sensor, in the local evaluator's form."""
        return [[tag, actor] for tag, actor in zip(self._tags, self._actors, strict=True)]

    def close(self) -> None:
        """Stop and remove the sensors."""
        for actor in self._actors:
            actor.stop()
        for actor in self._actors:
            actor.destroy()
        self._actors.clear()


class DriverSensors:
    """Sensors that a driver names, mounted on the ego; none if it names none."""

    def __init__(self, driver: Driver, world: Any, ego: Any) -> None:
        """Mount the sensors and tick the world once, so that they have measured.

        Raises:
            SensorError: A sensor cannot be mounted.
        """
        sensors = list(driver.sensors())
        check_driver_sensors(sensors)
        self._rig = SensorRig(world, ego, sensors) if sensors else None
        if sensors:
            world.tick()

    def read(self, frame: int, snapshot: Any) -> dict[str, Any]:
        """Return the measurements of this frame by sensor id."""
        if self._rig is None:
            return {}
        return {tag: data for tag, (_, data) in self._rig.read(frame, snapshot).items()}

    def close(self) -> None:
        """Remove the sensors."""
        if self._rig is not None:
            self._rig.close()


def _forward_speed(state: Any) -> float:
    pose, velocity = state.get_transform(), state.get_velocity()
    ahead = pose.get_forward_vector()
    return float(velocity.x * ahead.x + velocity.y * ahead.y + velocity.z * ahead.z)


def _reader(kind: str) -> Callable[[Any], Any]:
    """Return the function that converts a measurement for agents."""
    if kind.startswith("sensor.camera"):
        return _image
    return {
        "sensor.lidar.ray_cast": _points,
        "sensor.other.radar": lambda data: np.flip(_points(data), 1),
        "sensor.other.imu": _motion,
    }[kind]


def _image(data: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(data.raw_data, np.uint8).reshape(data.height, data.width, 4).copy()


def _points(data: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(data.raw_data, np.float32).reshape(-1, 4).copy()


def _motion(data: Any) -> np.ndarray[Any, Any]:
    push, turn = data.accelerometer, data.gyroscope
    return np.array([push.x, push.y, push.z, turn.x, turn.y, turn.z, data.compass])
