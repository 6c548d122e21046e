"""Observations of a learner: ``sensors`` and ``state``; ``bev`` is in its own module.

The state of a tick is read once and shared by observation, reward and picture. ``sensors`` holds
the measurements of a Leaderboard agent's sensors in fixed shapes. ``state`` is a flat vector of
numbers between -1 and 1; see docs/reference/gym.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import carla
import gymnasium  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.adapters.sensor_rig import SensorError, SensorRig, check_sensors
from jaywalk.agents.driving.perception import PERSON, VEHICLE, EgoVehicle, Observation, Perception
from jaywalk.agents.driving.route_driver import DEFAULT_LIMIT_MPS
from jaywalk.agents.driving.route_line import STEP_M, RouteLine, make_line
from jaywalk.agents.driving.signals import Signals, find_signals
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.angle import wrap_angle
from jaywalk.runner.live_episode import LiveEpisode
from jaywalk.runner.session import STEP_S

_STOPPING: Final = (carla.TrafficLightState.Red, carla.TrafficLightState.Yellow)


@dataclass(frozen=True, slots=True, kw_only=True)
class TickState:
    """State of a tick. Frame: CARLA's left-handed metres; offsets positive to the right."""

    own: EgoVehicle
    acceleration_mps2: tuple[float, float]  # along the heading, to the right
    control: tuple[float, float, float]  # throttle, brake, steer of the last step
    seen: Observation
    line: RouteLine
    signals: Signals
    along_m: float  # on the line
    offset_m: float  # from the line
    heading_rad: float  # against the line
    limit_mps: float
    share: float  # of the route

    def to_ego(self, xy_m: FloatArray) -> FloatArray:
        """Return places as distances ahead and to the right of the ego's origin."""
        return self.turned(xy_m - (self.own.x_m, self.own.y_m))

    def turned(self, vectors: FloatArray) -> FloatArray:
        """Return world vectors as components along and right of the ego's heading."""
        cos, sin = np.cos(self.own.yaw_rad), np.sin(self.own.yaw_rad)
        return np.asarray(vectors @ np.array([[cos, -sin], [sin, cos]]))

    def red_lines_m(self) -> list[float]:
        """Distances along the line of the stop lines of red and yellow lights."""
        return [stop.along_m for stop in self.signals.lights if stop.light.state in _STOPPING]

    def sign_lines_m(self) -> list[float]:
        """Distances along the line of the stop lines of stop signs."""
        return [stop.along_m for stop in self.signals.signs]


class TickReader:
    """Reader of the ticks of one episode."""

    def __init__(self, episode: LiveEpisode) -> None:
        self._episode = episode
        self._line = make_line(episode.route, episode.map, DEFAULT_LIMIT_MPS)
        self._perception = Perception(episode.world, episode.ego)
        self._signals = find_signals(episode.world, self._line, STEP_S)
        self._along_m = 0.0

    def look(self, control: tuple[float, float, float]) -> TickState:
        """Return the present tick; call at every tick, because it tracks the place on the line."""
        snapshot, line = self._episode.snapshot, self._line
        own = self._perception.own(snapshot)
        self._along_m = line.locate(own.x_m, own.y_m, int(self._along_m / STEP_M))
        at = min(int(self._along_m / STEP_M), len(line) - 1)
        yaw = float(line.yaw_rad[at])
        dx, dy = own.x_m - line.xy_m[at, 0], own.y_m - line.xy_m[at, 1]
        turn = own.yaw_rad - yaw
        push: Any = snapshot.find(self._episode.ego.id).get_acceleration()
        cos, sin = np.cos(own.yaw_rad), np.sin(own.yaw_rad)
        return TickState(
            own=own,
            acceleration_mps2=(push.x * cos + push.y * sin, -push.x * sin + push.y * cos),
            control=control,
            seen=self._perception.look(snapshot),
            line=line,
            signals=self._signals,
            along_m=self._along_m,
            offset_m=float(-dx * np.sin(yaw) + dy * np.cos(yaw)),
            heading_rad=float(wrap_angle(turn)),
            limit_mps=float(line.limit_mps[at]),
            share=self._episode.progress.share,
        )


# Default camera.
CAMERA: Final[Mapping[str, Any]] = {
    "type": "sensor.camera.rgb",
    "id": "camera",
    "x": 1.3,
    "y": 0.0,
    "z": 1.7,
    "roll": 0.0,
    "pitch": 0.0,
    "yaw": 0.0,
    "width": 160,
    "height": 96,
    "fov": 100,
}
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
    for sensor in sensors:
        if str(sensor["id"]) == "ego":
            raise UsageError("sensors: the id 'ego' is taken; choose another.")


def sensor_spaces(sensors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the spaces by sensor id."""
    return {str(sensor["id"]): _space(sensor) for sensor in sensors}


def _space(sensor: Mapping[str, Any]) -> Any:
    kind = sensor["type"]
    if kind.startswith("sensor.camera"):
        picture = (int(sensor.get("height", 600)), int(sensor.get("width", 800)), 3)
        return gymnasium.spaces.Box(0, 255, picture, np.uint8)
    shape: tuple[int, ...] = (_POINTS[kind], 4) if kind in _POINTS else (_VALUES[kind],)
    return gymnasium.spaces.Box(-_FAR, _FAR, shape, np.float32)


class SensorView:
    """Sensors on the ego of one episode."""

    def __init__(self, episode: LiveEpisode, sensors: Sequence[Mapping[str, Any]]) -> None:
        self._episode, self._sensors = episode, sensors
        self._rig = SensorRig(episode.world, episode.ego, sensors)
        episode.ego.apply_control(carla.VehicleControl(hand_brake=True))
        episode.world.tick()  # the first frame they measure

    def read(self) -> dict[str, NDArray[Any]]:
        """Return the measurements of the present tick."""
        data = self._rig.read(self._episode.snapshot.frame, self._episode.snapshot)
        return {
            str(sensor["id"]): _fixed(sensor["type"], data[sensor["id"]][1])
            for sensor in self._sensors
        }

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


EGO_FIELDS: Final = (
    "speed",
    "yaw_rate",
    "acceleration_along",
    "acceleration_right",
    "throttle",
    "brake",
    "steer",
    "offset",
    "heading",
    "speed_limit",
    "red_light",
    "stop_sign",
    "route_share",
)
THING_FIELDS: Final = (
    "ahead",
    "right",
    "cos",
    "sin",
    "velocity_ahead",
    "velocity_right",
    "half_length",
    "half_width",
    "kind",
)
PERSON_FIELDS: Final = ("ahead", "right", "velocity_ahead", "velocity_right", "present")
ROUTE_AHEAD_M: Final = (2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0)
THINGS: Final = 8
PEOPLE: Final = 8
RANGE_M: Final = 60.0
SPEED_MPS: Final = 30.0

_YAW_RATE_RADPS: Final = 1.5
_PUSH_MPS2: Final = 10.0
_OFFSET_M: Final = 5.0
_WALK_MPS: Final = 5.0
_HALF_M: Final = (6.0, 2.0)
_PROP: Final = 0.5  # kind; a vehicle is 1, an empty row 0

EGO_SIZE: Final = len(EGO_FIELDS)
STATE_SIZE: Final = (
    EGO_SIZE + 2 * len(ROUTE_AHEAD_M) + THINGS * len(THING_FIELDS) + PEOPLE * len(PERSON_FIELDS)
)

Vector = NDArray[np.float32]


def ego_vector(look: TickState) -> Vector:
    """Return the ego's state, its place on the route and the rules there; see ``EGO_FIELDS``."""
    own, (along, right) = look.own, look.acceleration_mps2
    front = look.along_m + own.front_m
    values = (
        own.speed_mps / SPEED_MPS,
        own.yaw_rate_radps / _YAW_RATE_RADPS,
        along / _PUSH_MPS2,
        right / _PUSH_MPS2,
        *look.control,
        look.offset_m / _OFFSET_M,
        look.heading_rad / np.pi,
        look.limit_mps / SPEED_MPS,
        _next(look.red_lines_m(), front),
        _next(look.sign_lines_m(), front),
        look.share,
    )
    return np.asarray(np.clip(np.array(values), -1.0, 1.0), np.float32)


def _next(places_m: list[float], front_m: float) -> float:
    """Return the distance to the first place ahead, as a share of the range; 1 if none."""
    gaps = [place - front_m for place in places_m if place >= front_m]
    return min([*gaps, RANGE_M]) / RANGE_M


def state_vector(look: TickState) -> Vector:
    """Return the whole vector: ego, route ahead, and actors, nearest first."""
    points = np.array([look.line.point_at(look.along_m + ahead) for ahead in ROUTE_AHEAD_M])
    route = look.to_ego(points) / RANGE_M
    people = look.seen.kind == PERSON
    parts = (
        route.ravel(),
        _things(look, look.seen.where(~people)).ravel(),
        _people(look, look.seen.where(people)).ravel(),
    )
    around = np.clip(np.concatenate(parts), -1.0, 1.0)
    return np.concatenate([ego_vector(look), around.astype(np.float32)])


def _things(look: TickState, seen: Observation) -> NDArray[np.float64]:
    rows = np.zeros((THINGS, len(THING_FIELDS)))
    place, order = _nearest(look, seen, THINGS)
    yaw = np.arctan2(seen.sin[order], seen.cos[order]) - look.own.yaw_rad
    n = len(order)
    rows[:n, 0:2] = place / RANGE_M
    rows[:n, 2], rows[:n, 3] = np.cos(yaw), np.sin(yaw)
    rows[:n, 4:6] = look.turned(seen.velocity_mps[order]) / SPEED_MPS
    rows[:n, 6:8] = seen.half_m[order] / _HALF_M
    rows[:n, 8] = np.where(seen.kind[order] == VEHICLE, 1.0, _PROP)
    return rows


def _people(look: TickState, seen: Observation) -> NDArray[np.float64]:
    rows = np.zeros((PEOPLE, len(PERSON_FIELDS)))
    place, order = _nearest(look, seen, PEOPLE)
    n = len(order)
    rows[:n, 0:2] = place / RANGE_M
    rows[:n, 2:4] = look.turned(seen.velocity_mps[order]) / _WALK_MPS
    rows[:n, 4] = 1.0
    return rows


def _nearest(
    look: TickState, seen: Observation, most: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return places relative to the ego and rows of the nearest actors within the range."""
    place = look.to_ego(seen.xy_m)
    gap = np.hypot(place[:, 0], place[:, 1])
    order = np.argsort(gap, kind="stable")[:most]
    order = order[gap[order] < RANGE_M]
    return place[order], order
