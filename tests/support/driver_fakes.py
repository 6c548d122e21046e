"""Hand-made worlds for drivers: a map with parallel straight lanes, snapshots, actors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import shapely
from scene import DELTA_S, straight_road

from jaywalk.agents.base import Briefing, Moment
from jaywalk.town.routes import DenseRoute
from jaywalk.town.town import town_from_opendrive


@cache
def straight_map(length_m: float = 2000.0, speed_kmh: int = 50, lanes: int = 1) -> Any:
    """CARLA's map of one straight road along x: lanes at y = 1.75 (to +x) and -1.75 (to -x)."""
    return town_from_opendrive(straight_road(length_m, speed_kmh, lanes)).carla_map


def route_along_x(length_m: float, start_m: float = 10.0, y_m: float = 1.75) -> DenseRoute:
    """Points a metre apart on the right lane."""
    x = start_m + np.arange(0.0, length_m + 1.0)
    return dense_route(np.column_stack([x, np.full(len(x), y_m), np.zeros(len(x))]))


def dense_route(position_m: np.ndarray, yaw_deg: np.ndarray | None = None) -> DenseRoute:
    """A route through places, following a lane."""
    count = len(position_m)
    rotation = np.zeros((count, 3))
    if yaw_deg is not None:
        rotation[:, 1] = yaw_deg
    return DenseRoute(
        position_m=np.asarray(position_m, float),
        rotation_deg=rotation,
        option=np.full(count, 4, np.int8),
        lane=np.zeros((count, 3), np.int64),
        in_junction=np.zeros(count, bool),
    )


def vector(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(x=x, y=y, z=z)


@dataclass
class FakeActor:
    """An actor and its state in the snapshot."""

    id: int
    type_id: str
    x: float
    y: float
    yaw_deg: float = 0.0
    speed_mps: float = 0.0  # along the yaw
    half: tuple[float, float, float] = (2.3, 0.95, 0.75)
    z: float = 0.0
    box_reads: int = 0
    velocity: tuple[float, float] | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    lights: Any = None
    gone: bool = False  # destroyed since the snapshot: questions to the server raise

    @property
    def bounding_box(self) -> SimpleNamespace:
        self._ask("get_actor_bounding_box")
        self.box_reads += 1
        return SimpleNamespace(extent=vector(*self.half), location=vector(0.0, 0.0, self.half[2]))

    def get_transform(self) -> SimpleNamespace:
        rotation = SimpleNamespace(yaw=self.yaw_deg, pitch=0.0, roll=0.0)
        return SimpleNamespace(location=vector(self.x, self.y, self.z), rotation=rotation)

    def get_velocity(self) -> SimpleNamespace:
        if self.velocity is not None:
            return vector(*self.velocity)
        yaw = math.radians(self.yaw_deg)
        return vector(self.speed_mps * math.cos(yaw), self.speed_mps * math.sin(yaw))

    def get_light_state(self) -> Any:
        self._ask("get_vehicle_light_state")
        return self.lights

    def _ask(self, call: str) -> None:
        if self.gone:
            raise RuntimeError(f"{call}: actor {self.id} does not exist")

    def get_acceleration(self) -> SimpleNamespace:
        return vector()

    def get_angular_velocity(self) -> SimpleNamespace:
        return vector()


class ActorList(list):
    """A list with CARLA's ``filter`` for the few patterns in use."""

    def filter(self, pattern: str) -> ActorList:
        start = pattern.rstrip("*")
        return ActorList(actor for actor in self if actor.type_id.startswith(start))


@dataclass
class FakeWorld:
    """Actors, and a count of the questions asked."""

    actors: list[FakeActor] = field(default_factory=list)
    questions: int = 0

    def get_actors(self, ids: list[int] | None = None) -> ActorList:
        self.questions += 1
        return ActorList(a for a in self.actors if ids is None or a.id in ids)

    def get_vehicles_light_states(self) -> dict[int, Any]:
        cars = [a for a in self.actors if a.type_id.startswith("vehicle.") and not a.gone]
        return {car.id: 0 if car.lights is None else car.lights for car in cars}

    def get_weather(self) -> SimpleNamespace:
        return SimpleNamespace(sun_altitude_angle=45.0, fog_density=0.0, precipitation=0.0)

    def snapshot(self, elapsed_s: float = 0.0) -> FakeSnapshot:
        return FakeSnapshot({a.id: a for a in self.actors}, elapsed_s)


class FakeSnapshot:
    """A snapshot of a fake world; the actors are their own states."""

    def __init__(self, states: dict[int, FakeActor], elapsed_s: float) -> None:
        self._states = states
        self.timestamp = SimpleNamespace(elapsed_seconds=elapsed_s)
        self.frame = round(elapsed_s / 0.05)

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Any:
        return iter(self._states.values())

    def find(self, actor: int) -> FakeActor | None:
        return self._states.get(actor)


class ClosedLoop:
    """A driver in a fake world: the ego is PDM-Lite's bicycle, others go on as they go.

    ``contacts`` lists the ids of what the ego touched.
    """

    def __init__(
        self,
        driver: Any,
        others: list[FakeActor],
        route: DenseRoute,
        lanes: int = 1,
        **arguments: Any,
    ) -> None:
        x, y, _ = route.position_m[0]
        self.ego = FakeActor(1, "vehicle.ego", x, y, half=(2.446, 0.918, 0.74))
        self.world = FakeWorld([self.ego, *others])
        self.driver, self.time_s = driver, 0.0
        self.contacts: set[int] = set()
        self.speeds: list[float] = []
        self.track: list[tuple[float, float]] = []
        self.decisions: list[Any] = []
        self.driver.setup(
            Briefing(
                client=None,
                world=self.world,
                map=straight_map(lanes=lanes),
                ego=self.ego,
                route=route,
                seed=1,
                delta_s=DELTA_S,
                arguments=arguments,
            )
        )

    def run(self, seconds: float, each: Any = lambda loop: None) -> ClosedLoop:
        for _ in range(int(seconds / DELTA_S)):
            each(self)
            moment = Moment(
                frame=0, elapsed_s=self.time_s, snapshot=self.world.snapshot(self.time_s)
            )
            decision = self.driver.decide(moment)
            self.decisions.append(decision)
            self._step(decision.control)
            self._touch()
            self.time_s += DELTA_S
        return self

    def _step(self, control: Any) -> None:
        ego = self.ego
        wheel = 0.36848336 * control.steer
        slip = math.atan(1.4178275 / (1.4178275 - 0.090769015) * math.tan(wheel))
        ego.yaw_deg += math.degrees(ego.speed_mps / 1.4178275 * math.sin(slip) * DELTA_S)
        yaw = math.radians(ego.yaw_deg) + slip
        ego.x += ego.speed_mps * math.cos(yaw) * DELTA_S
        ego.y += ego.speed_mps * math.sin(yaw) * DELTA_S
        push = 7.0 * (max(control.throttle - 0.3, 0.0) / 0.7) ** 1.5 - 0.3 - 7.3 * control.brake
        ego.speed_mps = max(ego.speed_mps + push * DELTA_S, 0.0)
        for other in self.world.actors[1:]:
            velocity = other.get_velocity()
            other.x += velocity.x * DELTA_S
            other.y += velocity.y * DELTA_S
        self.speeds.append(ego.speed_mps)
        self.track.append((ego.x, ego.y))

    def _touch(self) -> None:
        mine = _box(self.ego)
        self.contacts |= {a.id for a in self.world.actors[1:] if mine.intersects(_box(a))}


def _box(actor: FakeActor) -> shapely.Polygon:
    half_x, half_y, _ = actor.half
    box = shapely.affinity.rotate(
        shapely.box(-half_x, -half_y, half_x, half_y), actor.yaw_deg, origin=(0, 0)
    )
    return shapely.affinity.translate(box, actor.x, actor.y)
