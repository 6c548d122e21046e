"""Perception of drivers: vehicles, people and props of a snapshot as arrays.

Poses and velocities come from the snapshot. The server is asked for the type and size of an actor
only when it first appears (in 0.9.16 each bounding box is a round trip, so it is kept by id).

Limited perception has a range that depends on the weather and does not see hidden actors. An actor
is hidden if actors at least as tall cover its middle and all its corners. Buildings and hills hide
nothing here, because only actors are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.box import CORNERS, box_points, upright_carla_box
from jaywalk.geometry.pose import yaw_rad

T = TypeVar("T")

VEHICLE: Final = 0
PERSON: Final = 1
PROP: Final = 2

_KINDS: Final = (("vehicle.", VEHICLE), ("walker.", PERSON), ("static.prop.", PROP))
_LEAST_PERSON_M: Final = 0.3  # half width; a body sways more than its box
_FLAT_M: Final = 0.12  # half height of props that are driven over
_STILL_MPS: Final = 0.05
_NEW_SHARE: Final = 0.5  # weight of the last step in the filtered acceleration
_JUMP_MPS: Final = 15.0  # faster displacements are teleports


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedBody:
    """Constant properties of an actor."""

    kind: int
    half_length_m: float
    half_width_m: float
    half_height_m: float
    centre_m: tuple[float, float, float]  # of the box, from the origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Actors around the ego, one row each, without the ego. Left-handed metres, radians."""

    actor_id: IntArray
    kind: IntArray
    xy_m: FloatArray  # (n, 2) middle of the box
    z_m: FloatArray  # bottom of the box
    cos: FloatArray
    sin: FloatArray
    half_m: FloatArray  # (n, 2) half length, half width
    height_m: FloatArray
    velocity_mps: FloatArray  # (n, 2)
    yaw_rate_radps: FloatArray
    acceleration_mps2: FloatArray  # rate of change of the speed

    def __len__(self) -> int:
        return len(self.actor_id)

    @property
    def speed_mps(self) -> FloatArray:
        """Speeds in the plane."""
        return np.hypot(self.velocity_mps[:, 0], self.velocity_mps[:, 1])

    def where(self, mask: NDArray[Any]) -> Observation:
        """Return the selected rows."""
        return Observation(**{name: getattr(self, name)[mask] for name in self.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoVehicle:
    """State and size of the vehicle that the driver controls."""

    x_m: float  # origin
    y_m: float
    z_m: float
    yaw_rad: float
    speed_mps: float  # along the heading, negative backwards
    yaw_rate_radps: float
    half_length_m: float
    half_width_m: float
    front_m: float  # from the origin to the front of the box

    @property
    def rear_m(self) -> float:
        """Distance from the origin to the rear of the box; negative."""
        return self.front_m - 2.0 * self.half_length_m


class Perception:
    """Reads snapshots for one vehicle."""

    def __init__(self, world: Any, ego: Any) -> None:
        self._world = world
        self._ego_id = int(ego.id)
        self._bodies: dict[int, ObservedBody | None] = {}  # None: cannot be hit
        self.emergency: set[int] = set()  # vehicles that may need free way
        self._count = -1
        self._ids: list[int] = []
        self._fixed = np.zeros((0, 7))
        # From the last call of look: x, y, speed and its rate of change, one row per actor.
        self._last_ids: list[int] = []
        self._last = np.zeros((0, 4))
        self._last_s = math.nan
        box = ego.bounding_box
        self._half = (float(box.extent.x), float(box.extent.y))
        self._front = float(box.location.x + box.extent.x)

    def own(self, snapshot: Any) -> EgoVehicle:
        """Return the ego vehicle in a snapshot."""
        state = snapshot.find(self._ego_id)
        pose, velocity = state.get_transform(), state.get_velocity()
        yaw = yaw_rad(pose)
        return EgoVehicle(
            x_m=pose.location.x,
            y_m=pose.location.y,
            z_m=pose.location.z,
            yaw_rad=yaw,
            speed_mps=velocity.x * math.cos(yaw) + velocity.y * math.sin(yaw),
            yaw_rate_radps=math.radians(state.get_angular_velocity().z),
            half_length_m=self._half[0],
            half_width_m=self._half[1],
            front_m=self._front,
        )

    def look(self, snapshot: Any) -> Observation:
        """Return all other actors of a snapshot."""
        rows = None if len(snapshot) != self._count else self._read(snapshot)
        if rows is None:
            self._count = len(snapshot)
            self._learn(snapshot)
            rows = self._read(snapshot) or []
        now_s = float(snapshot.timestamp.elapsed_seconds)
        seen = self._arranged(np.array(rows, dtype=np.float64).reshape(-1, 7), now_s)
        self._last_s = now_s
        return seen

    def lit(self) -> set[int]:
        """Return the emergency vehicles with their warning lights on.

        One request covers all vehicles: a request about a destroyed one would raise.
        """
        states = self._world.get_vehicles_light_states()
        special = int(carla.VehicleLightState.Special1)
        return {
            actor_id for actor_id in self.emergency & set(states) if int(states[actor_id]) & special
        }

    def _learn(self, snapshot: Any) -> None:
        ids = [state.id for state in snapshot]
        new = [actor for actor in ids if actor not in self._bodies]
        if new:
            for actor in self._world.get_actors(new):
                self._bodies[actor.id] = asked(_body_of, actor)
                if actor.attributes.get("special_type") == "emergency":
                    self.emergency.add(actor.id)
            for actor in new:
                self._bodies.setdefault(actor, None)
        wanted = [key for key in ids if key != self._ego_id and self._bodies[key] is not None]
        self._ids = sorted(wanted)
        bodies = [body for body in map(self._bodies.get, self._ids) if body is not None]
        self._fixed = np.array(
            [
                (
                    body.kind,
                    body.half_length_m,
                    body.half_width_m,
                    body.half_height_m,
                    *body.centre_m,
                )
                for body in bodies
            ],
            dtype=np.float64,
        ).reshape(-1, 7)

    def _read(self, snapshot: Any) -> list[tuple[float, ...]] | None:
        rows: list[tuple[float, ...]] = []
        for actor in self._ids:
            state = snapshot.find(actor)
            if state is None:
                return None
            pose, velocity = state.get_transform(), state.get_velocity()
            place = pose.location
            rows.append(
                (
                    place.x,
                    place.y,
                    place.z,
                    pose.rotation.yaw,
                    velocity.x,
                    velocity.y,
                    state.get_angular_velocity().z,
                )
            )
        return rows

    def _arranged(self, rows: FloatArray, now_s: float) -> Observation:
        fixed, yaw = self._fixed, np.deg2rad(rows[:, 3])
        cos, sin = np.cos(yaw), np.sin(yaw)
        ahead, side = fixed[:, 4], fixed[:, 5]
        xy = np.column_stack(
            [rows[:, 0] + ahead * cos - side * sin, rows[:, 1] + ahead * sin + side * cos]
        )
        before, step_s = self._before(), now_s - self._last_s
        velocity = self._velocities(rows, before, step_s)
        pull = self._pulls(velocity, before, step_s)
        speed = np.hypot(velocity[:, 0], velocity[:, 1])
        self._last_ids, self._last = self._ids, np.column_stack([rows[:, :2], speed, pull])
        return Observation(
            actor_id=np.array(self._ids, dtype=np.int64),
            kind=fixed[:, 0].astype(np.int64),
            xy_m=xy,
            z_m=rows[:, 2] + fixed[:, 6] - fixed[:, 3],
            cos=cos,
            sin=sin,
            half_m=fixed[:, 1:3],
            height_m=2.0 * fixed[:, 3],
            velocity_mps=velocity,
            yaw_rate_radps=np.deg2rad(rows[:, 6]),
            acceleration_mps2=pull,
        )

    def _velocities(self, rows: FloatArray, before: FloatArray, step_s: float) -> FloatArray:
        """Return velocities of the snapshot; from positions for actors moved without a velocity."""
        velocity = rows[:, 4:6].copy()
        if step_s > 1e-6:
            moved = (rows[:, :2] - before[:, :2]) / step_s
            reported = np.hypot(velocity[:, 0], velocity[:, 1])
            real = np.hypot(moved[:, 0], moved[:, 1])  # nan for new actors
            silent = (reported < _STILL_MPS) & (real > _STILL_MPS) & (real < _JUMP_MPS)
            velocity[silent] = moved[silent]
        return velocity

    def _pulls(self, velocity_mps: FloatArray, before: FloatArray, step_s: float) -> FloatArray:
        """Return rates of change of speed; the snapshot's accelerations also contain turning."""
        if not step_s > 1e-6:
            return np.zeros(len(velocity_mps))
        speed, pull = before[:, 2], before[:, 3]
        grown = (np.hypot(velocity_mps[:, 0], velocity_mps[:, 1]) - speed) / step_s
        return np.nan_to_num(pull + _NEW_SHARE * (grown - pull))  # nan for new actors

    def _before(self) -> FloatArray:
        """Return the rows of the last observation; nan for actors that were not in it."""
        if self._last_ids is self._ids:
            return self._last
        known = dict(zip(self._last_ids, self._last, strict=True))
        nowhere = np.full(4, np.nan)
        return np.array([known.get(actor, nowhere) for actor in self._ids]).reshape(-1, 4)


def asked(question: Callable[[Any], T], actor: Any) -> T | None:
    """Return the answer of a live actor; None if it no longer exists.

    A snapshot may list an actor that has been destroyed since, and the server rejects requests
    about it. A lost connection is noticed on the next tick.
    """
    try:
        return question(actor)
    except RuntimeError:
        return None


def _body_of(actor: Any) -> ObservedBody | None:
    kind = next((kind for prefix, kind in _KINDS if actor.type_id.startswith(prefix)), None)
    if kind is None:
        return None
    box = actor.bounding_box
    half, centre = box.extent, box.location
    if kind == PROP and half.z < _FLAT_M:
        return None
    least = _LEAST_PERSON_M if kind == PERSON else 0.0
    hx, hy, hz, cx, cy, cz = half.x, half.y, half.z, centre.x, centre.y, centre.z
    if kind == PROP:  # props may lie on their side
        rotation = actor.get_transform().rotation
        hx, hy, hz, cx, cy, cz = upright_carla_box(box, rotation)
    return ObservedBody(
        kind=kind,
        half_length_m=max(float(hx), least),
        half_width_m=max(float(hy), least),
        half_height_m=float(hz),
        centre_m=(float(cx), float(cy), float(cz)),
    )


_CLEAR_M: Final = 80.0
_NIGHT_M: Final = 45.0  # by headlights
_FOG_SHARE: Final = 0.8  # of the range that the densest fog takes away
_RAIN_SHARE: Final = 0.25
_LEAST_M: Final = 12.0
_WEATHER_TICKS: Final = 100
_MIDDLE_AND_CORNERS: Final = np.vstack([np.zeros((1, 2)), CORNERS])
_TALLER_M: Final = 0.2  # a head is visible above an actor this much lower


class LimitedPerception(Perception):
    """Perception with a limited range that does not see hidden actors."""

    def __init__(self, world: Any, ego: Any) -> None:
        super().__init__(world, ego)
        self._ticks = 0
        self._range_m = _CLEAR_M

    def look(self, snapshot: Any) -> Observation:
        """Return the visible actors of a snapshot."""
        if self._ticks % _WEATHER_TICKS == 0:
            self._range_m = sight_m(self._world.get_weather())
        self._ticks += 1
        return visible(self.own(snapshot), super().look(snapshot), self._range_m)


def sight_m(weather: Any) -> float:
    """Return the visibility range in a weather (CARLA's parameters)."""
    reach = _CLEAR_M if weather.sun_altitude_angle > 0.0 else _NIGHT_M
    reach *= 1.0 - _FOG_SHARE * min(max(weather.fog_density, 0.0), 100.0) / 100.0
    reach *= 1.0 - _RAIN_SHARE * min(max(weather.precipitation, 0.0), 100.0) / 100.0
    return float(max(reach, _LEAST_M))


def visible(own: EgoVehicle, seen: Observation, range_m: float) -> Observation:
    """Return the actors within a range that no other actor hides."""
    away = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
    near = seen.where(away - seen.half_m[:, 0] < range_m)
    if len(near) < 2:
        return near
    eye = np.array([own.x_m, own.y_m])
    points = box_points(near.xy_m, near.cos, near.sin, near.half_m, _MIDDLE_AND_CORNERS)
    hidden = _blocked(eye, points, near)  # (n, 5, n): corner of i behind j
    taller = near.height_m[None, :] > near.height_m[:, None] - _TALLER_M
    np.fill_diagonal(taller, False)
    # Different corners may be hidden by different actors.
    covered = np.any(hidden & taller[:, None, :], axis=2)
    return near.where(~np.all(covered, axis=1))


def _blocked(eye_m: FloatArray, points_m: FloatArray, seen: Observation) -> BoolArray:
    """Return whether each line of sight passes through each box: slabs in its frame."""
    start = _in_frame(eye_m[None, None, None, :], seen)
    end = _in_frame(points_m[:, :, None, :], seen)
    low, high = np.zeros(end.shape[:3]), np.ones(end.shape[:3])
    for axis in (0, 1):
        half = seen.half_m[:, axis]
        step = end[..., axis] - start[..., axis]
        step = np.where(np.abs(step) < 1e-9, 1e-9, step)
        first, second = (-half - start[..., axis]) / step, (half - start[..., axis]) / step
        low = np.maximum(low, np.minimum(first, second))
        high = np.minimum(high, np.maximum(first, second))
    return np.asarray(low < high)


def _in_frame(points_m: FloatArray, seen: Observation) -> FloatArray:
    dx, dy = points_m[..., 0] - seen.xy_m[:, 0], points_m[..., 1] - seen.xy_m[:, 1]
    return np.stack([dx * seen.cos + dy * seen.sin, dy * seen.cos - dx * seen.sin], axis=-1)
