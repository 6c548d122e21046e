"""Observations for agents of ``jaywalk_agent`` as arrays, and their forecasts and plans.

Observations are read through the ``carla`` package. An agent in this process and a remote agent get
the same values. Single-precision values of the wire become float64, which holds them exactly.

Agents of ``jaywalk_agent`` return forecasts and plans in their answers, Leaderboard agents through
the optional methods ``jaywalk_forecasts()`` and ``jaywalk_plan()``. This module converts both to
the form of the record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np
from defusedxml.ElementTree import fromstring

import jaywalk_agent as told
from jaywalk.agents.base import Briefing, Forecast, Moment, Plan
from jaywalk.agents.driving.perception import LimitedPerception, asked
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.files import read_text
from jaywalk.geometry.geodesy import route_reference_deg, to_gps
from jaywalk.geometry.pose import yaw_rad
from jaywalk.town.routes import DenseRoute, thin_route

_MATCH_M: Final = 2.0
_MOST_VALUES: Final = 2_000_000


class AnswerError(Exception):
    """Raised for a forecast or plan in a wrong form; names it and the expected form."""


def read_forecasts(said: Any, source: str, snapshot: Any, people: Any) -> tuple[Forecast, ...]:
    """Convert forecasts to the form of the record.

    Args:
        said: Objects or maps with the fields of ``jaywalk_agent.Forecast``.
        source: Source of forecasts that do not name one.
        snapshot: The present snapshot.
        people: Returns the ids of all people, for forecasts with a place instead of an id.

    Raises:
        AnswerError: A forecast has a wrong form.
    """
    if said is None:
        return ()
    if not isinstance(said, Sequence) or isinstance(said, str):
        raise AnswerError(f"forecasts: a {type(said).__name__}, expected a list.")
    forecasts = []
    for number, item in enumerate(said):
        where = f"forecasts[{number}]"
        actor = _field(item, "actor_id")
        if actor is None:
            actor = _at(
                _array(_field(item, "position_m"), (2,), where, "position_m"), snapshot, people()
            )
        if actor is not None:
            forecasts.append(_forecast(item, int(actor), source, where))
    return tuple(forecasts)


def _forecast(item: Any, actor: int, source: str, where: str) -> Forecast:
    time_s = _array(_field(item, "time_s"), (-1,), where, "time_s")
    mean = _array(_field(item, "mean_m"), (-1, len(time_s), 2), where, "mean_m")
    modes = len(mean)
    weight = _field(item, "weight")
    spread = _field(item, "covariance_m2")
    return Forecast(
        actor_id=actor,
        source=str(_field(item, "source") or source),
        time_s=time_s,
        weight=np.full(modes, 1.0 / max(modes, 1))
        if weight is None
        else _array(weight, (modes,), where, "weight"),
        mean_m=mean,
        covariance_m2=None
        if spread is None
        else _array(spread, (modes, len(time_s), 2, 2), where, "covariance_m2"),
    )


def read_plan(said: Any) -> Plan | None:
    """Convert a plan to the form of the record: an object or map with ``path_m``, or a path.

    Raises:
        AnswerError: The plan has a wrong form.
    """
    if said is None:
        return None
    bare = isinstance(said, (list, tuple, np.ndarray))
    path = _array(said if bare else _field(said, "path_m"), (-1, 2), "plan", "path_m")
    time_s = None if bare else _field(said, "time_s")
    return Plan(
        path_m=path,
        time_s=None if time_s is None else _array(time_s, (len(path),), "plan", "time_s"),
    )


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _array(value: Any, shape: tuple[int, ...], where: str, name: str) -> FloatArray:
    """Return an array of real numbers after a check of its shape; -1 allows any length."""
    words = "(" + ", ".join("any" if n < 0 else str(n) for n in shape) + ")"
    if value is None:
        raise AnswerError(f"{where}: {name} is missing, expected numbers of shape {words}.")
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError) as problem:
        raise AnswerError(f"{where}: {name} holds no plain numbers: {problem}.") from problem
    fits = array.ndim == len(shape) and all(
        want in (-1, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits or array.size > _MOST_VALUES:
        raise AnswerError(f"{where}: {name} has shape {array.shape}, expected {words}.")
    if not np.all(np.isfinite(array)):
        raise AnswerError(f"{where}: {name} holds values that are not finite.")
    return array


def _at(place_m: FloatArray, snapshot: Any, people: Sequence[int]) -> int | None:
    """Return the person at a place; None if there is none within 2 m."""
    best, gap = None, _MATCH_M
    for key in people:
        state = snapshot.find(key)
        if state is None:
            continue
        there = state.get_transform().location
        away = float(np.hypot(there.x - place_m[0], there.y - place_m[1]))
        if away < gap:
            best, gap = key, away
    return best


SPARSE_M: Final = 200.0  # the Leaderboard's
_KINDS: Final = (
    ("vehicle.", told.VEHICLE),
    ("walker.", told.PERSON),
    ("static.prop.", told.PROP),
)
_SIGNAL_REACH_M: Final = 80.0  # of a light's or sign's post from the route
_LINE_REACH_M: Final = 30.0
_CENTIMETRES: Final = 100.0


class Observer:
    """Reads the world for one ego."""

    def __init__(self, briefing: Briefing) -> None:
        self._briefing = briefing
        self._world, self._ego = briefing.world, briefing.ego
        wanted = str(briefing.arguments.get("perception", "full"))
        if wanted not in ("full", "limited"):
            raise UsageError(f"perception '{wanted}': expected full or limited.")
        self._perception = (
            LimitedPerception(self._world, self._ego) if wanted == "limited" else None
        )
        self._bodies: dict[int, tuple[int, str, FloatArray] | None] = {}
        self._lights: list[Any] = []

    def briefing(self) -> told.Briefing:
        """Return the briefing before the first tick."""
        ours = self._briefing
        reference = route_reference_deg(fromstring(ours.map.to_opendrive()))
        config = ours.arguments.get("config")
        return told.Briefing(
            town=ours.map.name.rsplit("/", 1)[-1],
            seed=ours.seed,
            delta_s=ours.delta_s,
            ego=_vehicle(self._ego),
            route=_route(ours.route, reference),
            stop_lines=self._stop_lines(),
            stop_signs_m=self._stop_signs(),
            gps_reference_deg=reference,
            arguments=dict(ours.arguments),
            config=read_text(Path(config), "an agent's config") if config else "",
        )

    def moment(self, now: Moment, sensors: dict[str, tuple[int, Any]]) -> told.Moment:
        """Return the observation of a tick."""
        states = [int(light.state) for light in self._lights]
        return told.Moment(
            frame=int(now.frame),
            # A difference of server times; earlier episodes must not change its last bit.
            time_s=round(now.elapsed_s, 9),
            ego=self._ego_state(now.snapshot.find(self._ego.id)),
            actors=self._actors(now.snapshot),
            lights=told.Lights(
                id=np.array([light.id for light in self._lights], np.int64),
                state=np.array(states, np.int64),
            ),
            sensors=sensors,
        )

    # -- the ego ---------------------------------------------------------------------------------

    def _ego_state(self, state: Any) -> told.EgoState:
        pose, velocity = state.get_transform(), state.get_velocity()
        yaw, pitch = yaw_rad(pose), math.radians(pose.rotation.pitch)
        ahead = (math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), math.sin(pitch))
        ego = self._ego
        return told.EgoState(
            position_m=_vector(pose.location),
            rotation_deg=_rotation(pose.rotation),
            velocity_mps=_vector(velocity),
            acceleration_mps2=_vector(state.get_acceleration()),
            angular_velocity_dps=_vector(state.get_angular_velocity()),
            speed_mps=velocity.x * ahead[0] + velocity.y * ahead[1] + velocity.z * ahead[2],
            speed_limit_kmh=float(ego.get_speed_limit()),
            light_state=int(ego.get_traffic_light_state()) if ego.is_at_traffic_light() else -1,
        )

    # -- the others ------------------------------------------------------------------------------

    def _actors(self, snapshot: Any) -> told.Actors:
        new = [state.id for state in snapshot if state.id not in self._bodies]
        if new:
            self._learn(new)
        seen = None
        if self._perception is not None:
            seen = set(self._perception.look(snapshot).actor_id.tolist())
        rows: list[tuple[float, ...]] = []
        fixed: list[FloatArray] = []
        names: list[str] = []
        ids: list[tuple[int, int]] = []
        for key in sorted(state.id for state in snapshot):
            body = self._bodies[key]
            if body is None or (seen is not None and key not in seen):
                continue
            state = snapshot.find(key)
            pose, velocity, turning = (
                state.get_transform(),
                state.get_velocity(),
                state.get_angular_velocity(),
            )
            place, turn = pose.location, pose.rotation
            rows.append(
                (
                    place.x,
                    place.y,
                    place.z,
                    turn.pitch,
                    turn.yaw,
                    turn.roll,
                    velocity.x,
                    velocity.y,
                    velocity.z,
                    turning.x,
                    turning.y,
                    turning.z,
                )
            )
            ids.append((key, body[0]))
            names.append(body[1])
            fixed.append(body[2])
        moving = np.array(rows, np.float64).reshape(-1, 12)
        sizes = np.array(fixed, np.float64).reshape(-1, 6)
        identity = np.array(ids, np.int64).reshape(-1, 2)
        return told.Actors(
            id=identity[:, 0].copy(),
            kind=identity[:, 1].copy(),
            type_id=names,
            position_m=moving[:, 0:3].copy(),
            rotation_deg=moving[:, 3:6].copy(),
            velocity_mps=moving[:, 6:9].copy(),
            angular_velocity_dps=moving[:, 9:12].copy(),
            half_m=sizes[:, 0:3].copy(),
            centre_m=sizes[:, 3:6].copy(),
        )

    def _learn(self, new: list[int]) -> None:
        """Return type and size of an actor; the server is asked only once."""
        for actor in self._world.get_actors(new):
            kind = next((k for prefix, k in _KINDS if actor.type_id.startswith(prefix)), None)
            if kind is not None and actor.id != self._ego.id:
                size = asked(_size_m, actor)
                if size is not None:
                    self._bodies[actor.id] = (kind, str(actor.type_id), size)
        for key in new:
            self._bodies.setdefault(key, None)

    # -- lights and signs ------------------------------------------------------------------------

    def _stop_lines(self) -> told.StopLines:
        ids: list[int] = []
        places: list[FloatArray] = []
        yaws: list[float] = []
        for light in self._near("traffic.traffic_light"):
            rows = [
                point.transform
                for point in light.get_stop_waypoints()
                if self._gap_m(point.transform.location) < _LINE_REACH_M
            ]
            if rows:
                self._lights.append(light)
            ids += [int(light.id)] * len(rows)
            places += [_vector(pose.location) for pose in rows]
            yaws += [float(pose.rotation.yaw) for pose in rows]
        return told.StopLines(
            light_id=np.array(ids, np.int64),
            position_m=np.array(places, np.float64).reshape(-1, 3),
            yaw_deg=np.array(yaws, np.float64),
        )

    def _stop_signs(self) -> FloatArray:
        middles = []
        for sign in self._near("traffic.stop"):
            centre = sign.trigger_volume.location
            middle = carla.Location(centre.x, centre.y, centre.z)
            sign.get_transform().transform(middle)  # in place: the wheel changes its argument
            middles.append(_vector(middle))
        return np.array(middles, np.float64).reshape(-1, 3)

    def _near(self, kind: str) -> list[Any]:
        actors = sorted(self._world.get_actors().filter(kind), key=lambda actor: actor.id)
        return [a for a in actors if self._gap_m(a.get_transform().location) < _SIGNAL_REACH_M]

    def _gap_m(self, place: Any) -> float:
        way = self._briefing.route.position_m
        return float(np.min(np.hypot(way[:, 0] - place.x, way[:, 1] - place.y)))


def _vector(vector: Any) -> FloatArray:
    return np.array([vector.x, vector.y, vector.z], np.float64)


def _rotation(rotation: Any) -> FloatArray:
    return np.array([rotation.pitch, rotation.yaw, rotation.roll], np.float64)


def _route(route: DenseRoute, reference: tuple[float, float]) -> told.Route:
    return told.Route(
        position_m=np.array(route.position_m, np.float64),
        rotation_deg=np.array(route.rotation_deg, np.float64),
        gps=np.array(to_gps(route.position_m, reference), np.float64),
        option=np.array(route.option, np.int64),
        in_junction=np.array(route.in_junction, np.bool_),
        sparse=thin_route(route, SPARSE_M),
    )


def _size_m(actor: Any) -> FloatArray:
    """Return half size and centre of an actor's box."""
    box = actor.bounding_box
    return np.concatenate([_vector(box.extent), _vector(box.location)])


def _vehicle(ego: Any) -> told.Vehicle:
    box, pose = ego.bounding_box, ego.get_transform()
    physics = ego.get_physics_control()
    yaw = yaw_rad(pose)
    along = [
        (wheel.position.x / _CENTIMETRES - pose.location.x) * math.cos(yaw)
        + (wheel.position.y / _CENTIMETRES - pose.location.y) * math.sin(yaw)
        for wheel in physics.wheels
    ] or [math.nan]
    steer = [float(wheel.max_steer_angle) for wheel in physics.wheels] or [math.nan]
    return told.Vehicle(
        id=int(ego.id),
        type_id=str(ego.type_id),
        half_m=_vector(box.extent),
        centre_m=_vector(box.location),
        mass_kg=float(physics.mass),
        max_steer_deg=max(steer),
        front_axle_x_m=max(along),
        rear_axle_x_m=min(along),
    )
