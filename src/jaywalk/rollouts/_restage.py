"""Restaging of a recorded scene: actors are spawned in a world with their recorded motion."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.record.queries import TRAFFIC_LIGHT, actor_rows, landmark_rows, state_rows
from jaywalk.rollouts.cases._recorded import RecordedScene

_LIFTS_M: Final = (0.0, 0.3, 1.0)  # a server may refuse to spawn where a body touches the ground
_RUN_UP_TICKS: Final = 5
_PROPS_M: Final = 130.0
_FAR_LIGHT_M: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingActor:
    """State of one actor at a tick."""

    actor: int  # number in the record
    kind: str
    type_id: str
    role_name: str
    attributes: dict[str, str]
    pose: tuple[float, float, float, float, float, float]  # x, y, z, pitch, yaw, roll
    velocity_mps: tuple[float, float, float]
    turning_dps: tuple[float, float, float]
    control: dict[str, Any]

    @property
    def transform(self) -> Any:
        """Pose as a ``carla.Transform``."""
        x, y, z, pitch, yaw, roll = self.pose
        return carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch, yaw, roll))

    @property
    def speed_mps(self) -> float:
        """Speed in the plane."""
        return float(np.hypot(*self.velocity_mps[:2]))


def actors_before(recorded: RecordedScene) -> list[StandingActor]:
    """Return the scene's actors one tick before the current one, ego first, and props near it."""
    record, now = recorded.record, recorded.current_tick
    wanted = recorded.scene.object_id.tolist()
    actors = actor_rows(record)
    states = state_rows(record, ticks=(None, now))
    moving = states.filter(pl.col("actor").is_in(wanted) & (pl.col("tick") >= now - 1))
    # Actors that appear only at the current tick are placed as they are then.
    first = moving.unique("actor", keep="first", maintain_order=True)
    props = actors.filter(pl.col("kind") == "prop")["actor"].to_list()
    still = states.filter(pl.col("actor").is_in(props)).unique(
        "actor", keep="last", maintain_order=True
    )
    gone = set(actors.filter(pl.col("last_tick") < now)["actor"].to_list())
    scene = recorded.scene
    x, y = scene.x_m[scene.sdc_index, 10], -scene.y_m[scene.sdc_index, 10]
    near = (pl.col("x_m") - float(x)) ** 2 + (pl.col("y_m") - float(y)) ** 2 < _PROPS_M**2
    still = still.filter(near & ~pl.col("actor").is_in(list(gone)))
    rows = pl.concat([first, still]).join(actors, on="actor", how="inner", suffix="_actor")
    found = [_standing(row) for row in rows.iter_rows(named=True)]
    ego = record.episode.ego_actor
    return sorted(found, key=lambda actor: (actor.actor != ego, actor.kind == "prop", actor.actor))


def _standing(row: dict[str, Any]) -> StandingActor:
    kind = str(row["kind"])
    control = {}
    if kind == "vehicle" and row["throttle"] is not None:
        control = {name: float(row[name] or 0.0) for name in ("throttle", "steer", "brake")}
        control |= {name: bool(row[name]) for name in ("hand_brake", "reverse")}
    return StandingActor(
        actor=int(row["actor"]),
        kind=kind,
        type_id=str(row["type_id"]),
        role_name=str(row["role_name"]),
        attributes=json.loads(row["attributes_json"] or "{}"),
        pose=(
            *_vector(row, "x_m", "y_m", "z_m"),
            *_vector(row, "pitch_deg", "yaw_deg", "roll_deg"),
        ),
        velocity_mps=_vector(row, "vx_mps", "vy_mps", "vz_mps"),
        turning_dps=_vector(row, "wx_dps", "wy_dps", "wz_dps"),
        control=control,
    )


def _vector(row: dict[str, Any], x: str, y: str, z: str) -> tuple[float, float, float]:
    return float(row[x] or 0.0), float(row[y] or 0.0), float(row[z] or 0.0)


def put_back(client: Any, world: Any, actors: list[StandingActor]) -> dict[int, int]:
    """Spawn all actors and set them in motion; the last tick is the scene's current one.

    Returns:
        Actor ids of the server by number in the record.

    Raises:
        DataError: An actor does not fit into the world.
    """
    library = world.get_blueprint_library()
    ids: dict[int, int] = {}
    for lift in _LIFTS_M:
        waiting = [actor for actor in actors if actor.actor not in ids]
        answers = client.apply_batch_sync(
            [
                carla.command.SpawnActor(_blueprint(library, actor), _lifted(actor, lift))
                for actor in waiting
            ]
        )
        ids |= {
            actor.actor: int(answer.actor_id)
            for actor, answer in zip(waiting, answers, strict=True)
            if not answer.error
        }
    missing = [actor for actor in actors if actor.actor not in ids and actor.kind != "prop"]
    if missing:
        actor = missing[0]
        raise DataError(
            f"{len(missing)} of {len(actors)} actors do not fit into the world, the first is "
            f"{actor.type_id} at ({actor.pose[0]:.1f}, {actor.pose[1]:.1f}, {actor.pose[2]:.1f})."
        )
    there = [actor for actor in actors if actor.actor in ids]
    # Walkers need a few ticks to reach their speed, so they start early and are then put back.
    client.apply_batch_sync([step for actor in there for step in _walking(actor, ids)])
    for _ in range(_RUN_UP_TICKS):
        world.tick()
    client.apply_batch_sync([step for actor in there for step in _motion(actor, ids)])
    world.tick()
    return ids


def _lifted(actor: StandingActor, lift_m: float) -> Any:
    pose = actor.transform
    pose.location.z += lift_m
    return pose


def _blueprint(library: Any, actor: StandingActor) -> Any:
    model = library.find(actor.type_id)
    for name, value in sorted(actor.attributes.items()):
        if model.has_attribute(name) and model.get_attribute(name).is_modifiable:
            model.set_attribute(name, value)
    return model


def _motion(actor: StandingActor, ids: dict[int, int]) -> list[Any]:
    command, number = carla.command, ids[actor.actor]
    commands = [command.ApplyTransform(number, actor.transform)]
    if actor.kind == "vehicle":
        commands += [
            command.ApplyTargetVelocity(number, carla.Vector3D(*actor.velocity_mps)),
            command.ApplyTargetAngularVelocity(number, carla.Vector3D(*actor.turning_dps)),
            command.ApplyVehicleControl(number, carla.VehicleControl(**actor.control)),
        ]
    return commands + _walking(actor, ids)


def _walking(actor: StandingActor, ids: dict[int, int]) -> list[Any]:
    if actor.kind != "walker" or actor.speed_mps == 0.0:
        return []
    x, y, _ = actor.velocity_mps
    way = carla.Vector3D(x / actor.speed_mps, y / actor.speed_mps, 0.0)
    control = carla.WalkerControl(way, actor.speed_mps, False)
    return [carla.command.ApplyWalkerControl(ids[actor.actor], control)]


class SignalScript:
    """Player of the recorded traffic lights, which are part of the world and not rolled out."""

    def __init__(self, recorded: RecordedScene, world: Any) -> None:
        record = recorded.record
        lights = sorted(world.get_actors().filter("traffic.traffic_light"), key=lambda a: a.id)
        places = np.array([_xyz(light) for light in lights]).reshape(-1, 3)
        rows = landmark_rows(record, TRAFFIC_LIGHT)
        self._lights: dict[int, Any] = {}
        for row in rows.iter_rows(named=True):
            if not len(places):
                break
            away = np.linalg.norm(places - [row["x_m"], row["y_m"], row["z_m"]], axis=1)
            if away.min() < _FAR_LIGHT_M:
                self._lights[int(row["actor"])] = lights[int(away.argmin())]
        changes = record.signals.select("actor", "tick", "state").sort("tick").collect()
        self._changes = changes.filter(pl.col("actor").is_in(list(self._lights)))
        self._tick = recorded.current_tick - 2
        if self._lights:
            next(iter(self._lights.values())).freeze(True)  # freezes every light of the world
        before = self._changes.filter(pl.col("tick") <= self._tick)
        for actor, state in before.group_by("actor").agg(pl.col("state").last()).iter_rows():
            self._show(int(actor), int(state))

    def advance(self) -> None:
        """Show the states of the next tick."""
        self._tick += 1
        for actor, _, state in self._changes.filter(pl.col("tick") == self._tick).iter_rows():
            self._show(int(actor), int(state))

    def _show(self, actor: int, state: int) -> None:
        self._lights[actor].set_state(carla.TrafficLightState.values[state])


def _xyz(actor: Any) -> NDArray[np.float64]:
    place = actor.get_transform().location
    return np.array([place.x, place.y, place.z])
