"""Scenery: boxes, rays, layers, the light manager and debug shapes.

Traffic lights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jaywalk.server.encoding.codec import (
    WireError,
    array,
    boolean,
    encode_box,
    integer,
    number,
    text,
    vector,
)
from jaywalk.server.protocol.rpc import RpcClient, rpc
from jaywalk.server.world.tables import Kind

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer


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


@rpc("get_all_level_BBs")
def level_boxes(server: CarlaServer, client: RpcClient, label: Any) -> list[Any]:
    """World boxes of everything with a semantic label (255: everything)."""
    return server.episode.world.scenery.boxes(integer(label))


@rpc("get_environment_objects")
def environment_objects(server: CarlaServer, client: RpcClient, label: Any) -> list[Any]:
    """Scenery objects with a semantic label, with ids and names."""
    return server.episode.world.scenery.objects(integer(label))


@rpc("enable_environment_objects", "void")
def enable_objects(server: CarlaServer, client: RpcClient, ids: Any, enabled: Any) -> None:
    """Show or hide scenery objects; hidden ones are neither seen nor touched."""
    server.episode.world.scenery.enable([integer(i) for i in array(ids)], boolean(enabled))


@rpc("project_point")
def project_point(
    server: CarlaServer, client: RpcClient, start: Any, direction: Any, distance: Any
) -> list[Any]:
    """First thing along a ray: [hit, [location, label]]."""
    origin, way = vector(start), vector(direction)
    length = math.hypot(*way) or 1.0
    end = tuple(o + w / length * number(distance) for o, w in zip(origin, way, strict=True))
    episode = server.episode
    hits = episode.sensors.along_ray(episode, origin, (end[0], end[1], end[2]))
    if not hits:
        return [False, [[0.0, 0.0, 0.0], 0]]
    place, label = hits[0]
    return [True, [list(place), label]]


@rpc("cast_ray")
def cast_ray(server: CarlaServer, client: RpcClient, start: Any, end: Any) -> list[Any]:
    """Everything between two points, near to far."""
    hits = server.episode.sensors.along_ray(server.episode, vector(start), vector(end))
    return [[list(place), label] for place, label in hits]


@rpc("get_navigation_mesh")
def navigation_mesh(server: CarlaServer, client: RpcClient) -> bytes:
    """The pedestrian mesh."""
    return server.episode.world.town.navmesh


@rpc("load_map_layer", "void")
def load_layer(server: CarlaServer, client: RpcClient, layers: Any) -> None:
    """Show the scenery of the given layers."""
    server.episode.world.scenery.enable_layers(integer(layers), True)


@rpc("unload_map_layer", "void")
def unload_layer(server: CarlaServer, client: RpcClient, layers: Any) -> None:
    """Hide the scenery of the given layers."""
    server.episode.world.scenery.enable_layers(integer(layers), False)


@rpc("get_names_of_all_objects")
def object_names(server: CarlaServer, client: RpcClient) -> list[str]:
    """Names of the scenery objects."""
    return server.episode.world.scenery.names()


@rpc("apply_color_texture_to_objects", "void")
def color_texture(
    server: CarlaServer, client: RpcClient, names: Any, parameter: Any, texture: Any
) -> None:
    """Textures are not drawn in this world; the call is accepted."""
    array(names)


@rpc("apply_float_color_texture_to_objects", "void")
def float_texture(
    server: CarlaServer, client: RpcClient, names: Any, parameter: Any, texture: Any
) -> None:
    """Textures are not drawn in this world; the call is accepted."""
    array(names)


@rpc("query_lights_state")
def query_lights(server: CarlaServer, client: RpcClient, endpoint: Any) -> list[Any]:
    """Street lamps of the light manager."""
    text(endpoint)
    client.awaits_snapshot = False
    server.end_greeting()  # a client's first call after the tick that it waited for
    return server.episode.world.street_lights.encode()


@rpc("update_lights_state", "void")
def update_lights(
    server: CarlaServer, client: RpcClient, endpoint: Any, lights: Any, discard: Any
) -> None:
    """Switch street lamps."""
    server.episode.world.street_lights.update(array(lights))
    server.episode.street_lights_changed = True


@rpc("update_day_night_cycle", "void")
def day_night(server: CarlaServer, client: RpcClient, endpoint: Any, enabled: Any) -> None:
    """The cycle has no effect: weather is set by programs alone."""
    boolean(enabled)


@rpc("get_imui_gravity")
def get_gravity(server: CarlaServer, client: RpcClient) -> float:
    """Gravity that IMU sensors report."""
    return server.episode.sensors.gravity_mps2


@rpc("set_imui_gravity", "void")
def set_gravity(server: CarlaServer, client: RpcClient, gravity: Any) -> None:
    """Set the gravity that IMU sensors report."""
    server.episode.sensors.gravity_mps2 = number(gravity)


@rpc("set_annotations_traverse_translucency", "void")
def translucency(server: CarlaServer, client: RpcClient, enabled: Any) -> None:
    """Nothing is translucent here."""
    boolean(enabled)


@rpc("draw_debug_shape", "void")
def draw_debug(server: CarlaServer, client: RpcClient, shape: Any) -> None:
    """There is no screen to draw on."""


@rpc("clear_debug_shape", "void")
def clear_shapes(server: CarlaServer, client: RpcClient) -> None:
    """There is no screen to draw on."""


@rpc("clear_debug_string", "void")
def clear_strings(server: CarlaServer, client: RpcClient) -> None:
    """There is no screen to draw on."""
