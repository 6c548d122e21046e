"""A synchronous world with a few conveniences; everything goes through the real wheel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import carla
import numpy as np
from child import wait_for

DELTA_S = 0.05


def xyz(vector: Any) -> np.ndarray:
    """A location or vector as an array."""
    return np.array([vector.x, vector.y, vector.z])


def angle_between_deg(first: float, second: float) -> float:
    """Absolute difference of two angles."""
    return abs((first - second + 180.0) % 360.0 - 180.0)


@dataclass
class Scene:
    """The world of a client, and what was spawned into it."""

    client: carla.Client
    world: carla.World
    map: carla.Map
    spawned: list[carla.Actor] = field(default_factory=list)

    @classmethod
    def load(cls, client: carla.Client, town: str) -> Scene:
        """Begin a new episode in a town and switch to synchronous ticks."""
        return cls.of(client, client.load_world(town))

    @classmethod
    def of(cls, client: carla.Client, world: carla.World) -> Scene:
        """Make a world synchronous."""
        settings = world.get_settings()
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = DELTA_S
        world.apply_settings(settings)
        scene = cls(client, world, world.get_map())
        scene.tick()
        return scene

    def leave(self) -> None:
        """Give the world back to the wall clock."""
        self.clear()
        settings = self.world.get_settings()
        settings.synchronous_mode = False
        settings.fixed_delta_seconds = None
        self.world.apply_settings(settings)

    def clear(self) -> None:
        """Destroy what this scene spawned."""
        for actor in reversed(self.spawned):
            if isinstance(actor, carla.Sensor) and actor.is_listening():
                actor.stop()
        commands = [carla.command.DestroyActor(actor.id) for actor in self.spawned]
        self.client.apply_batch_sync(commands, False)
        self.spawned.clear()
        self.tick()

    def tick(self, count: int = 1) -> int:
        """Step; returns the last frame."""
        frame = 0
        for _ in range(count):
            frame = self.world.tick()
        return frame

    def blueprint(self, type_id: str, **attributes: Any) -> carla.ActorBlueprint:
        """A blueprint with attributes set."""
        blueprint = self.world.get_blueprint_library().find(type_id)
        for name, value in attributes.items():
            blueprint.set_attribute(name, str(value))
        return blueprint

    def spawn(
        self,
        type_id: str,
        pose: carla.Transform,
        parent: carla.Actor | None = None,
        settle: int = 1,
        **attributes: Any,
    ) -> Any:
        """Spawn an actor and tick, so that it reads back."""
        blueprint = self.blueprint(type_id, **attributes)
        actor = self.world.spawn_actor(blueprint, pose, attach_to=parent)
        self.spawned.append(actor)
        self.tick(settle)
        return actor

    def car(self, index: int = 0, type_id: str = "vehicle.lincoln.mkz_2020", **more: Any) -> Any:
        """A car at a recommended spawn point, settled on the road."""
        return self.spawn(type_id, self.map.get_spawn_points()[index], settle=8, **more)

    def walker(self, location: carla.Location, type_id: str = "walker.pedestrian.0001") -> Any:
        """A person standing at a place."""
        pose = carla.Transform(location + carla.Location(z=1.0))
        return self.spawn(type_id, pose, settle=8)

    def snapshot(self, actor: carla.Actor) -> Any:
        """The actor in the latest snapshot."""
        return self.world.get_snapshot().find(actor.id)

    def until(self, condition: Callable[[], bool], ticks: int) -> int:
        """Tick until something holds; returns the ticks it took."""
        for count in range(ticks):
            if condition():
                return count
            self.tick()
        raise AssertionError(f"did not happen within {ticks} ticks")

    def until_heard(self, events: list[Any], ticks: int) -> None:
        """Tick until an event has come, and then wait for its thread if need be.

        An event is sent with its tick, but the wheel hands it over in a thread of its own.
        """
        for _ in range(ticks):
            if events:
                return
            self.tick()
        wait_for(lambda: bool(events), f"an event within {ticks} ticks")

    def pause(self) -> None:
        """Give a world that should stand still time to move; load cannot fail such a check."""
        time.sleep(0.3)

    def straight_lane(self, length_m: float) -> carla.Waypoint:
        """A driving lane that runs straight and outside junctions for a length."""
        for point in self.map.get_spawn_points():
            start = self.map.get_waypoint(point.location)
            chain = [start]
            while len(chain) * 5.0 <= length_m + 10.0:
                following = chain[-1].next(5.0)
                if not following or following[0].is_junction:
                    break
                if angle_between_deg(following[0].transform.rotation.yaw, point.rotation.yaw) > 1.0:
                    break
                chain.append(following[0])
            else:
                return start
        raise AssertionError(f"no straight lane of {length_m} m")


def forward(yaw_deg: float) -> np.ndarray:
    """Unit vector of a heading."""
    return np.array([math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg)), 0.0])


def straight_road(length_m: float = 2000.0, speed_kmh: int = 50, lanes: int = 1) -> str:
    """OpenDRIVE text of one flat straight road with lanes and a sidewalk each way."""
    lane = (
        '<lane id="{0}" type="{1}" level="false">'
        '<width sOffset="0" a="{2}" b="0" c="0" d="0"/></lane>'
    )
    driven = range(1, lanes + 1)
    left = lane.format(lanes + 1, "sidewalk", 2.0)
    left += "".join(lane.format(k, "driving", 3.5) for k in reversed(driven))
    right = "".join(lane.format(-k, "driving", 3.5) for k in driven)
    right += lane.format(-lanes - 1, "sidewalk", 2.0)
    return f"""<?xml version="1.0"?>
<OpenDRIVE><header revMajor="1" revMinor="4" name="straight" version="1" north="0" south="0"
 east="0" west="0"><geoReference><![CDATA[+proj=tmerc +lat_0=0 +lon_0=0]]></geoReference></header>
<road name="main" length="{length_m}" id="1" junction="-1"><link/>
<type s="0" type="town"><speed max="{speed_kmh}" unit="km/h"/></type>
<planView><geometry s="0" x="0" y="0" hdg="0" length="{length_m}"><line/></geometry></planView>
<elevationProfile><elevation s="0" a="0" b="0" c="0" d="0"/></elevationProfile>
<lateralProfile/><lanes><laneSection s="0"><left>{left}</left>
<center><lane id="0" type="none" level="false"/></center><right>{right}</right>
</laneSection></lanes>
</road></OpenDRIVE>"""
