"""A context for scenarios without a server: a straight street, and all that they spawn and command.

The street has a lane of 3.5 m and a sidewalk of 2 m each way. Places are told as a driver on the
route would: metres ahead of the trigger and to the right of the lane's middle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from types import MappingProxyType, SimpleNamespace
from typing import Any

import carla
import numpy as np
from driver_fakes import dense_route, straight_map

from jaywalk.actors.events import EgoMoment
from jaywalk.scenarios.base import Scenario, ScenarioContext, make_scenario
from jaywalk.scenarios.formats.route_xml import parse_routes
from jaywalk.town.routes import DenseRoute

TRIGGER_M = 60.0  # along the route
LANE_M = 3.5
HERO = 1
NOBODY: Mapping[int, Any] = MappingProxyType({})
HALF_M = (0.3, 0.4, 0.9)  # of everything that is spawned


@dataclass(frozen=True)
class Model:
    """A blueprint: whatever is asked for exists."""

    id: str

    def has_attribute(self, name: str) -> bool:
        return name in ("base_type", "has_dynamic_doors")

    def get_attribute(self, name: str) -> Any:
        return SimpleNamespace(as_str=lambda: "car", as_bool=lambda: True)

    def set_attribute(self, name: str, value: str) -> None:
        pass


class Library:
    """One blueprint of every pattern."""

    def find(self, name: str) -> Model:
        return Model(name)

    def filter(self, pattern: str) -> list[Model]:
        return [Model(pattern.replace("*", "any_2020"))]


@dataclass(frozen=True)
class Spawned:
    """Somebody on the context."""

    id: int
    type_id: str
    pose: Any
    bounding_box: Any = field(
        default_factory=lambda: carla.BoundingBox(carla.Location(), carla.Vector3D(*HALF_M))
    )


@dataclass
class FakeWorld:
    """Client and world in one; ``commands`` is all that was sent, but for what spawns."""

    spawned: list[Spawned] = field(default_factory=list)
    commands: list[Any] = field(default_factory=list)
    furniture: list[Any] = field(default_factory=list)  # signs
    faces: list[Any] = field(default_factory=list)  # boxes of signs

    def get_blueprint_library(self) -> Library:
        return Library()

    def try_spawn_actor(self, model: Model, pose: Any) -> Spawned:
        self.spawned.append(Spawned(100 + len(self.spawned), model.id, pose))
        return self.spawned[-1]

    def apply_batch(self, commands: list[Any], _tick: bool = False) -> None:
        self.commands += commands

    def apply_batch_sync(self, commands: list[Any], _tick: bool = False) -> list[Any]:
        answers = []
        for one in commands:
            if isinstance(one, Wish):
                actor = self.try_spawn_actor(one.model, one.pose)
                answers.append(SimpleNamespace(actor_id=actor.id, error=""))
            else:
                self.commands.append(one)
        return answers

    def get_actor(self, number: int) -> Any:
        return SimpleNamespace(
            id=number, get_speed_limit=lambda: 50.0, open_door=self.commands.append
        )

    def get_actors(self) -> Any:
        kept = self.furniture
        return SimpleNamespace(
            filter=lambda pattern: [one for one in kept if fnmatch(one.type_id, pattern)]
        )

    def get_level_bbs(self, label: Any) -> list[Any]:
        return self.faces


@dataclass
class Wish:
    """Stands for ``carla.command.SpawnActor``, which takes blueprints of a server alone."""

    model: Model
    pose: Any


@dataclass(frozen=True)
class Street:
    """A route on the straight street, one way or the other."""

    yaw_deg: float  # 0 or 180
    context: ScenarioContext

    @property
    def world(self) -> FakeWorld:
        return self.context.world

    def place(self, location: Any) -> tuple[float, float]:
        """Metres ahead of the trigger, and to the right of the lane's middle."""
        way = math.cos(math.radians(self.yaw_deg))
        start = self.context.route.position_m[0]
        ahead_m = way * (location.x - start[0]) - TRIGGER_M
        return round(ahead_m, 3), round(way * (location.y - start[1]), 3)

    def turn_deg(self, rotation: Any) -> float:
        """Clockwise from the route's heading, -180 to 180."""
        return round((rotation.yaw - self.yaw_deg + 180.0) % 360.0 - 180.0, 3)

    def location(self, ahead_m: float, right_m: float, up_m: float = 0.0) -> Any:
        """The opposite of ``place``."""
        way = math.cos(math.radians(self.yaw_deg))
        start = self.context.route.position_m[0]
        along_m = TRIGGER_M + ahead_m
        return carla.Location(start[0] + way * along_m, start[1] + way * right_m, up_m)

    def scenario(self, kind: str, elements: str = "", name: str = "S") -> Scenario:
        """A scenario of a public type, from the text of its elements."""
        at = self.location(0.0, 0.0)
        text = f"""<routes><route id="1" town="T"><waypoints><position x="0" y="0" z="0"/>
        <position x="9" y="0" z="0"/></waypoints><scenarios><scenario name="{name}" type="{kind}">
        <trigger_point x="{at.x}" y="{at.y}" z="0" yaw="{self.yaw_deg}"/>{elements}</scenario>
        </scenarios></route></routes>"""
        return make_scenario(parse_routes(text, "f.xml").routes[0].scenarios[0], self.context)


def street(yaw_deg: float = 0.0, *, traffic: Any = None, length_m: float = 400.0) -> Street:
    """The route on the right lane of its direction, in the middle of the street."""
    way = math.cos(math.radians(yaw_deg))
    x = 1000.0 + way * np.arange(0.0, length_m)
    places = np.column_stack([x, np.full(len(x), way * LANE_M / 2.0), np.zeros(len(x))])
    route: DenseRoute = dense_route(places, np.full(len(x), yaw_deg))
    world = FakeWorld()
    context = ScenarioContext(
        client=world, world=world, map=straight_map(), route=route, seed=1, traffic=traffic
    )
    return Street(yaw_deg, context)


def moment(
    elapsed_s: float, ahead_m: float, speed_mps: float = 0.0, states: Mapping[int, Any] = NOBODY
) -> EgoMoment:
    """The ego so far beyond the trigger, and the states of others by their numbers."""
    return EgoMoment(
        elapsed_s=elapsed_s,
        snapshot=SimpleNamespace(find=states.get),
        ego_id=HERO,
        ego_along_m=TRIGGER_M + ahead_m,
        ego_speed_mps=speed_mps,
    )
