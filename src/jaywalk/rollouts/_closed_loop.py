"""Closed-loop rollouts of a recorded scene on a server, with Jaywalk's traffic, crowd and drivers.

Traffic drives every vehicle that is on a lane, and the crowd controls every person. Vehicles that
stood apart from the traffic (parked cars, props of a scenario) stay. Lights are replayed as
recorded; scripts of scenarios are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.actors.crowd.crowd import Crowd
from jaywalk.actors.reactive.traits import PRESETS, SCRIPTED
from jaywalk.actors.traffic.traffic import Traffic
from jaywalk.agents.base import Briefing, Driver
from jaywalk.agents.base import Moment as DriverMoment
from jaywalk.agents.load import make_driver, seed_name
from jaywalk.client.snapshot import pose_rows
from jaywalk.core.errors import DataError, InfrastructureError
from jaywalk.core.seeds import derive_seed
from jaywalk.geometry.frames import carla_to_right_handed, carla_yaw_to_rad
from jaywalk.metrics.realism.scene import N_FUTURE, STEP_S, Rollouts
from jaywalk.record import columns as c
from jaywalk.record.episode import Episode
from jaywalk.record.queries import actor_rows
from jaywalk.rollouts._restage import SignalScript, StandingActor, actors_before, put_back
from jaywalk.rollouts.cases._recorded import RecordedScene
from jaywalk.runner.session import STEP_S as TICK_S
from jaywalk.runner.session import SimulatorSession
from jaywalk.town.lane_graph import RoadOption
from jaywalk.town.routes import DenseRoute

TRAFFIC: Final = "traffic"
_TICKS_A_STEP: Final = round(STEP_S / TICK_S)
_PARKED_MPS: Final = 0.1
_BEHIND_M: Final = 3  # points of the route kept behind the ego

Report = Callable[[int], None]


def _nothing(number: int) -> None:
    """Ignore progress."""


@dataclass(slots=True, kw_only=True)
class ClosedLoop:
    """A scene that can be rolled out repeatedly; rollout ``i`` depends only on its number.

    Attributes:
        recorded: The scene.
        world: Session to run it in.
        policy: ``traffic``, or the driver of the ego.
        seed: All seeds derive from it.
        arguments: Arguments of the driver.
    """

    recorded: RecordedScene
    world: SimulatorSession
    policy: str
    seed: int
    arguments: dict[str, Any] = field(default_factory=dict)
    _actors: list[StandingActor] = field(default_factory=list, init=False)
    _opendrive: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._actors = actors_before(self.recorded)
        file = self.recorded.record.shared_file("opendrive")
        self._opendrive = file.read_text(encoding="utf-8")

    def roll_out(self, n: int, report: Report = _nothing) -> Rollouts:
        """Roll out ``n`` times; ``report`` is called with the number done."""
        poses = []
        for number in range(n):
            try:
                poses.append(self._once(derive_seed(self.seed, self.recorded.scene.name, number)))
            except RuntimeError as problem:  # raised by the wheel when the server is gone
                raise InfrastructureError(f"{self.recorded.scene.name}: {problem}") from problem
            report(number + 1)
        return _rollouts(np.stack(poses), self.recorded)

    def _once(self, seed: int) -> NDArray[np.float64]:
        """Return one rollout: actor origins [actor of the scene, step, (x, y, z, yaw_deg)]."""
        world = self._load()
        key = hashlib.sha256(self._opendrive.encode()).hexdigest()
        signals = SignalScript(self.recorded, world)
        signals.advance()
        ids = put_back(self.world.client, world, self._actors)
        order = [ids[actor] for actor in self.recorded.scene.object_id.tolist()]
        driver = None if self.policy == TRAFFIC else self._driver(world, ids, seed)
        led = [ids[one.actor] for one in self._actors if one.kind == "vehicle" and self._leads(one)]
        traffic = Traffic(
            self.world.client, world, seed, TICK_S, network=self.world.network(key, world)
        )
        traffic.adopt(led)
        people = [ids[one.actor] for one in self._actors if one.kind == "walker"]
        crowd = None
        if people:
            crowd = Crowd(
                self.world.client,
                world,
                seed,
                TICK_S,
                network=self.world.walks(key, world),
                people_model=_people_model(self.recorded.record.episode),
            )
            crowd.adopt(people)
        poses = np.empty((len(order), N_FUTURE, 4))
        try:
            for step in range(N_FUTURE):
                for _ in range(_TICKS_A_STEP):
                    self._tick(world, traffic, crowd, driver, ids)
                    signals.advance()
                poses[:, step] = _poses(world.get_snapshot(), order, self.recorded.scene.name)
        finally:
            if driver is not None:
                driver.close()
        return poses

    def _load(self) -> Any:
        """Load the town by name if the server has the identical one, else from its text."""
        town = self.recorded.record.episode.town
        try:
            world = self.world.fresh(town)
            if world.get_map().to_opendrive() == self._opendrive:
                return world
        except DataError:
            pass  # the server does not have it
        return self.world.fresh(town, self._opendrive)

    def _leads(self, actor: StandingActor) -> bool:
        """Return True if traffic drives a vehicle."""
        if actor.actor == self.recorded.record.episode.ego_actor:
            return self.policy == TRAFFIC
        return actor.role_name == "background" or actor.speed_mps > _PARKED_MPS

    def _driver(self, world: Any, ids: dict[int, int], seed: int) -> Driver:
        ego = world.get_actor(ids[int(self.recorded.record.episode.ego_actor or 0)])
        driver = make_driver(self.policy)
        driver.setup(
            Briefing(
                client=self.world.client,
                world=world,
                map=world.get_map(),
                ego=ego,
                route=_route_ahead(self.recorded, ego.get_transform().location),
                delta_s=TICK_S,
                seed=derive_seed(seed, "driver", seed_name(self.policy)),
                arguments=self.arguments,
            )
        )
        return driver

    def _tick(
        self,
        world: Any,
        traffic: Traffic,
        crowd: Crowd | None,
        driver: Driver | None,
        ids: dict[int, int],
    ) -> None:
        traffic.step()
        snapshot = world.get_snapshot()
        if crowd is not None:
            crowd.step(snapshot)
        if driver is not None:
            moment = DriverMoment(
                frame=snapshot.frame,
                elapsed_s=snapshot.timestamp.elapsed_seconds,
                snapshot=snapshot,
            )
            ego = ids[int(self.recorded.record.episode.ego_actor or 0)]
            control = driver.decide(moment).control
            self.world.client.apply_batch([carla.command.ApplyVehicleControl(ego, control)])
        world.tick()


def _people_model(episode: Episode) -> str:
    """Model of the people of a record, who go on as they began."""
    name = str(episode.parameters.get("people_model", SCRIPTED)).split("-")[0]
    return name if name in PRESETS else SCRIPTED


def _poses(snapshot: Any, order: list[int], name: str) -> NDArray[np.float64]:
    rows = pose_rows(snapshot, order)
    if rows is None:
        raise DataError(f"{name}: an actor vanished from the world during a rollout.")
    heights = [snapshot.find(actor).get_transform().location.z for actor in order]
    return np.column_stack([rows[:, :2], heights, np.rad2deg(rows[:, 2])])


def _rollouts(poses: NDArray[np.float64], recorded: RecordedScene) -> Rollouts:
    """Return box centres in the scene's frame from actor origins [n, actor, step, 4]."""
    of_scene = pl.col(c.ACTOR).is_in(recorded.scene.object_id.tolist())
    rows = actor_rows(recorded.record).filter(of_scene)
    offset_m = rows.select(c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M).fill_null(0.0).to_numpy()
    offset = carla_to_right_handed(offset_m.astype(np.float64))[None, :, None]
    yaw = carla_yaw_to_rad(poses[..., 3])
    place = carla_to_right_handed(poses[..., :3])
    cos, sin = np.cos(yaw), np.sin(yaw)
    return Rollouts(
        x_m=(place[..., 0] + cos * offset[..., 0] - sin * offset[..., 1]).astype(np.float32),
        y_m=(place[..., 1] + sin * offset[..., 0] + cos * offset[..., 1]).astype(np.float32),
        z_m=(place[..., 2] + offset[..., 2]).astype(np.float32),
        heading_rad=np.arctan2(sin, cos).astype(np.float32),
    )


def _route_ahead(recorded: RecordedScene, place: Any) -> DenseRoute:
    """Return the rest of the recorded route from the ego's position."""
    table = recorded.record.route.sort("index").collect()
    if len(table) < 2 or not recorded.record.episode.route.dense:
        raise DataError(
            f"{recorded.record.folder.name} keeps no dense route, so no driver can follow it; "
            "use --policy traffic."
        )
    position = table.select("x_m", "y_m", "z_m").to_numpy().astype(np.float64)
    away = np.hypot(position[:, 0] - place.x, position[:, 1] - place.y)
    first = min(max(int(away.argmin()) - _BEHIND_M, 0), len(table) - 2)
    rest = table[first:]
    turns = rest.select("pitch_deg", "yaw_deg", "roll_deg").fill_null(0.0).to_numpy()
    lanes = rest.select("road_id", "section_id", "lane_id").fill_null(0).to_numpy()
    options = [RoadOption[name] for name in rest["road_option"].fill_null("VOID")]
    return DenseRoute(
        position_m=position[first:],
        rotation_deg=turns.astype(np.float64),
        option=np.array(options, dtype=np.int8),
        lane=lanes.astype(np.int64),
        in_junction=rest["is_junction"].fill_null(False).to_numpy(),
    )
