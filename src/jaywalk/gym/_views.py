"""Observations of a learner: ``bev``, ``sensors`` and ``state``.

The state of a tick is read once and shared by observation, reward and picture. ``bev`` shows the
surroundings from above, with the ego's heading upwards; its inner loop is compiled. ``sensors``
holds the measurements of a Leaderboard agent's sensors in fixed shapes. ``state`` is a flat vector
of numbers between -1 and 1; see docs/reference/gym.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from jaywalk.core.kernels import kernel
from jaywalk.geometry.angle import wrap_angle
from jaywalk.geometry.box import box_points
from jaywalk.runner.session import STEP_S
from jaywalk.runner.staged import StagedEpisode
from jaywalk.town.raster import ROAD, ROAD_LINE, SIDEWALK, SemanticRaster, fill_polygon, fill_strip
from jaywalk.town.town import town_from_opendrive

Image = NDArray[np.uint8]


@kernel
def draw_ground(
    out: Image,
    labels: Image,
    x0_m: float,
    y0_m: float,
    cell_m: float,
    x_m: float,
    y_m: float,
    yaw_rad: float,
    pixel_m: float,
    origin_row: int,
) -> None:
    """Draw the ground of the town around the ego, turned to its heading."""
    rows, columns = labels.shape
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    for row in range(out.shape[1]):
        ahead = (origin_row - row - 0.5) * pixel_m
        for column in range(out.shape[2]):
            right = (column + 0.5 - out.shape[2] / 2.0) * pixel_m
            i = int(np.floor((y_m + ahead * sin + right * cos - y0_m) / cell_m))
            k = int(np.floor((x_m + ahead * cos - right * sin - x0_m) / cell_m))
            if 0 <= i < rows and 0 <= k < columns:
                label = labels[i, k]
                if label == ROAD_LINE:
                    out[0, row, column] = 255
                    out[1, row, column] = 255
                elif label == ROAD:
                    out[0, row, column] = 255
                elif label == SIDEWALK:
                    out[2, row, column] = 255


_STOPPING: Final = (carla.TrafficLightState.Red, carla.TrafficLightState.Yellow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
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


class Looker:
    """Reader of the ticks of one episode."""

    def __init__(self, stage: StagedEpisode) -> None:
        self._stage = stage
        self._line = make_line(stage.route, stage.map, DEFAULT_LIMIT_MPS)
        self._perception = Perception(stage.carla_world, stage.ego)
        self._signals = find_signals(stage.carla_world, self._line, STEP_S)
        self._along_m = 0.0

    def look(self, control: tuple[float, float, float]) -> Look:
        """Return the present tick; call at every tick, because it tracks the place on the line."""
        snapshot, line = self._stage.snapshot, self._line
        own = self._perception.own(snapshot)
        self._along_m = line.locate(own.x_m, own.y_m, int(self._along_m / STEP_M))
        at = min(int(self._along_m / STEP_M), len(line) - 1)
        yaw = float(line.yaw_rad[at])
        dx, dy = own.x_m - line.xy_m[at, 0], own.y_m - line.xy_m[at, 1]
        turn = own.yaw_rad - yaw
        push: Any = snapshot.find(self._stage.ego.id).get_acceleration()
        cos, sin = np.cos(own.yaw_rad), np.sin(own.yaw_rad)
        return Look(
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
            share=self._stage.progress.share,
        )


BEV_CHANNELS: Final = (
    "road",
    "line",
    "sidewalk",
    "route",
    "vehicles",
    "people",
    "props",
    "stop",
)
_ROUTE, _VEHICLES, _PEOPLE, _PROPS, _STOP = range(3, 8)
_BEHIND: Final = 0.25  # share of the picture behind the ego's origin
_ROUTE_HALF_M: Final = 1.0
_BAR_HALF_M: Final = 0.6
_FULL: Final = 255
_SIGN: Final = 128  # a stop sign's bar; a red light's is full
_BACKGROUND: Final = (228, 232, 222)
_EGO: Final = (20, 20, 24)
# One colour per channel, drawn in this order; people last.
_COLOURS: Final = (
    ("sidewalk", (196, 194, 188)),
    ("road", (92, 94, 100)),
    ("line", (225, 225, 225)),
    ("route", (86, 132, 196)),
    ("stop", (200, 40, 40)),
    ("props", (222, 160, 60)),
    ("vehicles", (40, 160, 120)),
    ("people", (230, 60, 150)),
)


@lru_cache(maxsize=4)
def _ground_of(opendrive: bytes) -> SemanticRaster:
    return town_from_opendrive(opendrive.decode()).raster


class BevView:
    """Draws the surroundings of one episode's ego."""

    def __init__(self, opendrive: bytes, size_px: int, pixel_m: float) -> None:
        self._ground = _ground_of(opendrive)
        self._size, self._pixel_m = size_px, pixel_m
        self._origin_row = round((1.0 - _BEHIND) * size_px)

    def draw(self, look: Look) -> Image:
        """Return the channels ``BEV_CHANNELS``, each (rows, columns) of 0 and 255."""
        out = np.zeros((len(BEV_CHANNELS), self._size, self._size), np.uint8)
        ground, own = self._ground, look.own
        draw_ground(
            out,
            ground.labels,
            ground.x0_m,
            ground.y0_m,
            ground.cell_m,
            own.x_m,
            own.y_m,
            own.yaw_rad,
            self._pixel_m,
            self._origin_row,
        )
        self._draw_route(out, look)
        self._draw_stops(out, look)
        self._draw_bodies(out, look)
        return out

    def picture(self, look: Look) -> Image:
        """Return the channels and the ego as a colour picture (rows, columns, 3)."""
        bev = self.draw(look)
        picture = np.full((self._size, self._size, 3), _BACKGROUND, np.uint8)
        for name, colour in _COLOURS:
            picture[bev[BEV_CHANNELS.index(name)] > 0] = colour
        own = look.own
        cos, sin = np.array([np.cos(own.yaw_rad)]), np.array([np.sin(own.yaw_rad)])
        ahead = own.front_m - own.half_length_m
        middle = np.array([[own.x_m + ahead * cos[0], own.y_m + ahead * sin[0]]])
        corners = box_points(middle, cos, sin, np.array([[own.half_length_m, own.half_width_m]]))
        mask = np.zeros((self._size, self._size), np.uint8)
        fill_polygon(mask, 0.0, 0.0, 1.0, self._pixels(look, corners[0]), _FULL)
        picture[mask > 0] = _EGO
        return picture

    def _pixels(self, look: Look, xy_m: FloatArray) -> FloatArray:
        """Return column and row of places, as floats."""
        place = look.to_ego(xy_m) / self._pixel_m
        return np.column_stack([self._size / 2.0 + place[:, 1], self._origin_row - place[:, 0]])

    def _draw_route(self, out: Image, look: Look) -> None:
        reach = int(self._size * self._pixel_m / STEP_M)
        first = max(int(look.along_m / STEP_M) - reach // 4, 0)
        part = slice(first, first + reach, 2)
        yaw = look.line.yaw_rad[part]
        side = _ROUTE_HALF_M * np.column_stack([-np.sin(yaw), np.cos(yaw)])
        middle = look.line.xy_m[part]
        left, right = self._pixels(look, middle - side), self._pixels(look, middle + side)
        fill_strip(out[_ROUTE], 0.0, 0.0, 1.0, left, right, _FULL)

    def _draw_stops(self, out: Image, look: Look) -> None:
        for places, value in ((look.sign_lines_m(), _SIGN), (look.red_lines_m(), _FULL)):
            for along in places:
                if abs(along - look.along_m) < self._size * self._pixel_m:
                    self._bar(out, look, along, value)

    def _bar(self, out: Image, look: Look, along_m: float, value: int) -> None:
        line = look.line
        k = min(int(along_m / STEP_M), len(line) - 1)
        cos, sin = np.cos(line.yaw_rad[k]), np.sin(line.yaw_rad[k])
        half = np.array([[_BAR_HALF_M, 0.5 * line.lane_width_m[k]]])
        middle = line.xy_m[k : k + 1]
        corners = box_points(middle, np.array([cos]), np.array([sin]), half)
        fill_polygon(out[_STOP], 0.0, 0.0, 1.0, self._pixels(look, corners[0]), value)

    def _draw_bodies(self, out: Image, look: Look) -> None:
        seen = look.seen
        reach = self._size * self._pixel_m
        gaps = seen.xy_m - (look.own.x_m, look.own.y_m)
        near = np.flatnonzero(np.abs(gaps).max(axis=1, initial=0.0) < reach)
        if not len(near):
            return
        # At least one and a half pixels, so that no actor falls between pixels.
        half = np.maximum(seen.half_m[near], 0.75 * self._pixel_m)
        corners = box_points(seen.xy_m[near], seen.cos[near], seen.sin[near], half)
        pixels = self._pixels(look, corners.reshape(-1, 2)).reshape(-1, 4, 2)
        channels = np.select(
            [seen.kind[near] == VEHICLE, seen.kind[near] == PERSON], [_VEHICLES, _PEOPLE], _PROPS
        )
        for channel, outline in zip(channels.tolist(), pixels, strict=True):
            fill_polygon(out[channel], 0.0, 0.0, 1.0, outline, _FULL)


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
    for one in sensors:
        if str(one["id"]) == "ego":
            raise UsageError("sensors: the id 'ego' is taken; choose another.")


def sensor_spaces(sensors: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the spaces by sensor id."""
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
        """Return the measurements of the present tick."""
        data = self._rig.read(self._stage.snapshot.frame, self._stage.snapshot)
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


def ego_vector(look: Look) -> Vector:
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


def state_vector(look: Look) -> Vector:
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


def _things(look: Look, seen: Observation) -> NDArray[np.float64]:
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


def _people(look: Look, seen: Observation) -> NDArray[np.float64]:
    rows = np.zeros((PEOPLE, len(PERSON_FIELDS)))
    place, order = _nearest(look, seen, PEOPLE)
    n = len(order)
    rows[:n, 0:2] = place / RANGE_M
    rows[:n, 2:4] = look.turned(seen.velocity_mps[order]) / _WALK_MPS
    rows[:n, 4] = 1.0
    return rows


def _nearest(
    look: Look, seen: Observation, most: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return places relative to the ego and rows of the nearest actors within the range."""
    place = look.to_ego(seen.xy_m)
    gap = np.hypot(place[:, 0], place[:, 1])
    order = np.argsort(gap, kind="stable")[:most]
    order = order[gap[order] < RANGE_M]
    return place[order], order
