"""What Leaderboard agents ask about the world besides their sensors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from agents.navigation.global_route_planner import (  # type: ignore[import-not-found]
    GlobalRoutePlanner,
)
from agents.tools.misc import (  # type: ignore[import-not-found]
    get_trafficlight_trigger_location,
)

_SEED = 2000
_PLAN_M = 2.0


def calculate_velocity(actor: Any) -> float:
    """Speed in the plane, m/s."""
    velocity = actor.get_velocity()
    return float(np.hypot(velocity.x, velocity.y))


class CarlaDataProvider:
    """The present world, its map and its ego.

    Attributes:
        active_scenarios: What scenarios tell PDM-Lite about themselves: (name, [first actor, last
            actor, side, route changed, from index, to index, path clear]).
    """

    active_scenarios: ClassVar[list[Any]] = []

    _client: Any = None
    _world: Any = None
    _map: Any = None
    _grp: Any = None
    _actors: ClassVar[dict[int, Any]] = {}
    _all_actors: Any = None
    _rng: Any = np.random.RandomState(_SEED)
    _traffic_manager_port = 8000

    @staticmethod
    def set_client(client: Any) -> None:
        """Take a client."""
        CarlaDataProvider._client = client

    @staticmethod
    def get_client() -> Any:
        """The client."""
        return CarlaDataProvider._client

    @staticmethod
    def set_world(world: Any) -> None:
        """Set the world and forget the actors of the last one."""
        CarlaDataProvider._world = world
        CarlaDataProvider._map = world.get_map()
        CarlaDataProvider._grp = CarlaDataProvider._all_actors = None
        CarlaDataProvider._actors.clear()
        CarlaDataProvider.active_scenarios = []
        CarlaDataProvider.set_random_seed(_SEED)

    @staticmethod
    def get_world() -> Any:
        """The world."""
        return CarlaDataProvider._world

    @staticmethod
    def get_map(world: Any = None) -> Any:
        """The map."""
        return CarlaDataProvider._map if world is None else world.get_map()

    @staticmethod
    def get_global_route_planner() -> Any:
        """A planner on the map; made when it is first asked for."""
        if CarlaDataProvider._grp is None:
            CarlaDataProvider._grp = GlobalRoutePlanner(CarlaDataProvider._map, _PLAN_M)
        return CarlaDataProvider._grp

    @staticmethod
    def get_random_seed() -> Any:
        """The generator; its name says otherwise."""
        return CarlaDataProvider._rng

    @staticmethod
    def set_random_seed(seed: int) -> None:
        """Restart the generator."""
        CarlaDataProvider._rng = np.random.RandomState(seed)

    @staticmethod
    def is_sync_mode() -> bool:
        """Always."""
        return True

    @staticmethod
    def is_runtime_init_mode() -> bool:
        """Never: everything is in place before the agent is set up."""
        return False

    @staticmethod
    def get_traffic_manager_port() -> int:
        """Port of a Traffic Manager, should an agent want one."""
        return CarlaDataProvider._traffic_manager_port

    @staticmethod
    def set_traffic_manager_port(tm_port: int) -> None:
        """Take a port."""
        CarlaDataProvider._traffic_manager_port = tm_port

    @staticmethod
    def register_actor(actor: Any, transform: Any = None) -> None:
        """Take an actor."""
        CarlaDataProvider._actors[actor.id] = actor

    @staticmethod
    def register_actors(actors: Any, transforms: Any = None) -> None:
        """Take some actors."""
        for actor in actors:
            CarlaDataProvider.register_actor(actor)

    @staticmethod
    def on_carla_tick() -> None:
        """A new tick: the list of all actors is asked for again."""
        CarlaDataProvider._all_actors = None

    @staticmethod
    def get_hero_actor() -> Any:
        """The ego, found by its role."""
        for actor in CarlaDataProvider._actors.values():
            if actor.attributes.get("role_name") == "hero":
                return actor
        return None

    @staticmethod
    def get_actors() -> Any:
        """Registered actors with their ids."""
        return iter(CarlaDataProvider._actors.items())

    @staticmethod
    def actor_id_exists(actor_id: int) -> bool:
        """Whether an actor is registered."""
        return actor_id in CarlaDataProvider._actors

    @staticmethod
    def get_actor_by_id(actor_id: int) -> Any:
        """A registered actor."""
        return CarlaDataProvider._actors.get(actor_id)

    @staticmethod
    def get_all_actors() -> Any:
        """Every actor of the world; asked for once a tick."""
        if CarlaDataProvider._all_actors is None:
            CarlaDataProvider._all_actors = CarlaDataProvider._world.get_actors()
        return CarlaDataProvider._all_actors

    @staticmethod
    def get_velocity(actor: Any) -> float:
        """Speed in the plane, m/s."""
        return calculate_velocity(actor)

    @staticmethod
    def get_location(actor: Any) -> Any:
        """Where an actor is."""
        return actor.get_location()

    @staticmethod
    def get_transform(actor: Any) -> Any:
        """Pose of an actor."""
        return actor.get_transform()

    @staticmethod
    def get_trafficlight_trigger_location(traffic_light: Any) -> Any:
        """Middle of a light's trigger volume."""
        return get_trafficlight_trigger_location(traffic_light)

    @staticmethod
    def get_next_traffic_light(actor: Any, use_cached_location: bool = True) -> Any:
        """The light whose trigger is nearest ahead on the actor's lane, within 50 m; else None."""
        waypoint = CarlaDataProvider._map.get_waypoint(actor.get_location())
        for _ in range(50):
            if waypoint.is_junction:
                break
            following = waypoint.next(1.0)
            if not following:
                return None
            waypoint = following[0]
        lights = CarlaDataProvider._world.get_traffic_lights_from_waypoint(waypoint, 10.0)
        return lights[0] if lights else None

    @staticmethod
    def cleanup() -> None:
        """Forget everything; destroys no actor."""
        CarlaDataProvider._actors.clear()
        CarlaDataProvider._client = CarlaDataProvider._world = CarlaDataProvider._map = None
        CarlaDataProvider._grp = CarlaDataProvider._all_actors = None
        CarlaDataProvider.active_scenarios = []
