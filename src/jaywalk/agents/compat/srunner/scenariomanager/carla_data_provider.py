"""What Leaderboard agents ask about the world besides their sensors."""

from __future__ import annotations

from typing import Any


class CarlaDataProvider:
    """The present world, its map and its ego."""

    _client: Any = None
    _world: Any = None
    _map: Any = None
    _hero: Any = None

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
        """Take a world."""
        CarlaDataProvider._world = world
        CarlaDataProvider._map = world.get_map()
        CarlaDataProvider._hero = None

    @staticmethod
    def get_world() -> Any:
        """The world."""
        return CarlaDataProvider._world

    @staticmethod
    def get_map(world: Any = None) -> Any:
        """The map."""
        return CarlaDataProvider._map if world is None else world.get_map()

    @staticmethod
    def is_sync_mode() -> bool:
        """Always."""
        return True

    @staticmethod
    def register_actor(actor: Any, transform: Any = None) -> None:
        """Take an actor; the ego is told by its role."""
        if actor.attributes.get("role_name") == "hero":
            CarlaDataProvider._hero = actor

    @staticmethod
    def on_carla_tick() -> None:
        """Nothing is kept from tick to tick: the wheel's own snapshot is read."""

    @staticmethod
    def get_hero_actor() -> Any:
        """The ego."""
        return CarlaDataProvider._hero

    @staticmethod
    def get_velocity(actor: Any) -> float:
        """Speed in m/s."""
        return float(actor.get_velocity().length())

    @staticmethod
    def get_location(actor: Any) -> Any:
        """Where an actor is."""
        return actor.get_location()

    @staticmethod
    def get_transform(actor: Any) -> Any:
        """Pose of an actor."""
        return actor.get_transform()

    @staticmethod
    def get_all_actors() -> Any:
        """Every actor."""
        return CarlaDataProvider._world.get_actors()
