"""Traffic lights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.server.wire.codec import WireError, boolean, encode_box, integer, number
from jaywalk.server.wire.rpc import RpcClient, rpc
from jaywalk.server.world.tables import Kind

if TYPE_CHECKING:
    from jaywalk.server.wire.server import CarlaServer


def _light(server: CarlaServer, actor_id: Any) -> int:
    """Index of a traffic light in the light table."""
    world = server.episode.world
    return world.lights.index_of[world.actor_of_kind(integer(actor_id), Kind.LIGHT).id]


@rpc("set_traffic_light_state", "void")
def set_state(server: CarlaServer, client: RpcClient, actor_id: Any, state: Any) -> None:
    """Set one light until its controller changes phase."""
    if not 0 <= integer(state) <= 4:
        raise WireError(f"traffic light state {state} is not one of 0..4")
    server.episode.world.lights.set_state(_light(server, actor_id), state)


def _set_time(server: CarlaServer, actor_id: Any, phase: str, seconds: Any) -> None:
    server.episode.world.lights.set_time(_light(server, actor_id), phase, number(seconds))


@rpc("set_traffic_light_green_time", "void")
def set_green_time(server: CarlaServer, client: RpcClient, actor_id: Any, seconds: Any) -> None:
    """Green time of the light's controller."""
    _set_time(server, actor_id, "green", seconds)


@rpc("set_traffic_light_yellow_time", "void")
def set_yellow_time(server: CarlaServer, client: RpcClient, actor_id: Any, seconds: Any) -> None:
    """Yellow time of the light's controller."""
    _set_time(server, actor_id, "yellow", seconds)


@rpc("set_traffic_light_red_time", "void")
def set_red_time(server: CarlaServer, client: RpcClient, actor_id: Any, seconds: Any) -> None:
    """Red time of the light's controller."""
    _set_time(server, actor_id, "red", seconds)


@rpc("freeze_all_traffic_lights", "void")
def freeze_all(server: CarlaServer, client: RpcClient, frozen: Any) -> None:
    """Freeze or release every light; the client's ``light.freeze`` sends this too."""
    server.episode.world.lights.freeze(boolean(frozen))


@rpc("freeze_traffic_light", "void")
def freeze(server: CarlaServer, client: RpcClient, actor_id: Any, frozen: Any) -> None:
    """In the library but never called from Python; freezing is global, as in CARLA."""
    _light(server, actor_id)
    server.episode.world.lights.freeze(boolean(frozen))


@rpc("reset_traffic_light_group", "void")
def reset_group(server: CarlaServer, client: RpcClient, actor_id: Any) -> None:
    """Start the cycle of a light's junction anew."""
    lights = server.episode.world.lights
    lights.reset_group(int(lights.lights[_light(server, actor_id)]["group"]))


@rpc("reset_all_traffic_lights", "void")
def reset_all(server: CarlaServer, client: RpcClient) -> None:
    """Start the cycle of every junction anew."""
    server.episode.world.lights.reset_all()


@rpc("get_group_traffic_lights")
def get_group(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[int]:
    """Ids of all lights of the same junction."""
    return server.episode.world.lights.group_members(_light(server, actor_id))


@rpc("get_light_boxes")
def get_boxes(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """The lamp housing as one box around the head of the light, world frame."""
    _light(server, actor_id)
    actor = server.episode.world.actor(integer(actor_id))
    (x, y, z), _ = server.episode.world.pose(actor)
    return [encode_box((x, y, z), (0.2, 0.2, 0.5), actor.id)]
