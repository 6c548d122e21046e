"""RPC methods for traffic lights, scenery, rays, map layers, street lamps and debug shapes."""

from __future__ import annotations

import math
from typing import Any

from jaywalk.server.encoding._structs import (
    encode_environment_objects,
    encode_level_boxes,
    encode_street_lights,
    update_street_lights,
)
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
from jaywalk.server.protocol.rpc import RpcContext, rpc
from jaywalk.server.world._tables import Kind


def _light(context: RpcContext, actor_id: Any) -> int:
    """Index of a traffic light in the light table."""
    world = context.world
    return world.lights.index_of[world.actor_of_kind(integer(actor_id), Kind.LIGHT).id]


@rpc("set_traffic_light_state", "void")
def set_state(context: RpcContext, actor_id: Any, state: Any) -> None:
    """Set one light until its controller changes phase."""
    if not 0 <= integer(state) <= 4:
        raise WireError(f"traffic light state {state} is not one of 0..4")
    context.world.lights.set_state(_light(context, actor_id), state)


def _set_time(context: RpcContext, actor_id: Any, phase: str, seconds: Any) -> None:
    context.world.lights.set_time(_light(context, actor_id), phase, number(seconds))


@rpc("set_traffic_light_green_time", "void")
def set_green_time(context: RpcContext, actor_id: Any, seconds: Any) -> None:
    """Green time of the light's controller."""
    _set_time(context, actor_id, "green", seconds)


@rpc("set_traffic_light_yellow_time", "void")
def set_yellow_time(context: RpcContext, actor_id: Any, seconds: Any) -> None:
    """Yellow time of the light's controller."""
    _set_time(context, actor_id, "yellow", seconds)


@rpc("set_traffic_light_red_time", "void")
def set_red_time(context: RpcContext, actor_id: Any, seconds: Any) -> None:
    """Red time of the light's controller."""
    _set_time(context, actor_id, "red", seconds)


@rpc("freeze_all_traffic_lights", "void")
def freeze_all(context: RpcContext, frozen: Any) -> None:
    """Freeze or release every light; the client's ``light.freeze`` sends this too."""
    context.world.lights.freeze(boolean(frozen))


@rpc("freeze_traffic_light", "void")
def freeze(context: RpcContext, actor_id: Any, frozen: Any) -> None:
    """In the library but never called from Python; freezing is global, as in CARLA."""
    _light(context, actor_id)
    context.world.lights.freeze(boolean(frozen))


@rpc("reset_traffic_light_group", "void")
def reset_group(context: RpcContext, actor_id: Any) -> None:
    """Restart the cycle of a light's junction."""
    lights = context.world.lights
    lights.reset_group(int(lights.lights[_light(context, actor_id)]["group"]))


@rpc("reset_all_traffic_lights", "void")
def reset_all(context: RpcContext) -> None:
    """Restart the cycle of every junction."""
    context.world.lights.reset_all()


@rpc("get_group_traffic_lights")
def get_group(context: RpcContext, actor_id: Any) -> list[int]:
    """Ids of all lights of the same junction."""
    return context.world.lights.group_members(_light(context, actor_id))


@rpc("get_light_boxes")
def get_boxes(context: RpcContext, actor_id: Any) -> list[Any]:
    """The lamp housing as one box around the head of the light, world frame."""
    _light(context, actor_id)
    actor = context.actor(actor_id)
    (x, y, z), _ = context.world.pose(actor)
    return [encode_box((x, y, z), (0.2, 0.2, 0.5), actor.id)]


@rpc("get_all_level_BBs")
def level_boxes(context: RpcContext, label: Any) -> list[Any]:
    """World boxes of everything with a semantic label (255: everything)."""
    return encode_level_boxes(context.world.scenery, integer(label))


@rpc("get_environment_objects")
def environment_objects(context: RpcContext, label: Any) -> list[Any]:
    """Scenery objects with a semantic label, with ids and names."""
    return encode_environment_objects(context.world.scenery, integer(label))


@rpc("enable_environment_objects", "void")
def enable_objects(context: RpcContext, ids: Any, enabled: Any) -> None:
    """Show or hide scenery objects; hidden ones are neither seen nor touched."""
    context.world.scenery.enable([integer(i) for i in array(ids)], boolean(enabled))


@rpc("project_point")
def project_point(context: RpcContext, start: Any, direction: Any, distance: Any) -> list[Any]:
    """First thing along a ray: [hit, [location, label]]."""
    origin, forward = vector(start), vector(direction)
    length = math.hypot(*forward) or 1.0
    end = tuple(o + w / length * number(distance) for o, w in zip(origin, forward, strict=True))
    hits = context.simulation.raycast_all(origin, (end[0], end[1], end[2]))
    if not hits:
        return [False, [[0.0, 0.0, 0.0], 0]]
    place, label = hits[0]
    return [True, [list(place), label]]


@rpc("cast_ray")
def cast_ray(context: RpcContext, start: Any, end: Any) -> list[Any]:
    """Everything between two points, near to far."""
    hits = context.simulation.raycast_all(vector(start), vector(end))
    return [[list(place), label] for place, label in hits]


@rpc("get_navigation_mesh")
def navigation_mesh(context: RpcContext) -> bytes:
    """The pedestrian mesh."""
    return context.world.town.navmesh


@rpc("load_map_layer", "void")
def load_layer(context: RpcContext, layers: Any) -> None:
    """Show the scenery of the given layers."""
    context.world.scenery.enable_layers(integer(layers), True)


@rpc("unload_map_layer", "void")
def unload_layer(context: RpcContext, layers: Any) -> None:
    """Hide the scenery of the given layers."""
    context.world.scenery.enable_layers(integer(layers), False)


@rpc("get_names_of_all_objects")
def object_names(context: RpcContext) -> list[str]:
    """Names of the scenery objects."""
    return context.world.scenery.names()


@rpc("apply_color_texture_to_objects", "void")
def color_texture(context: RpcContext, names: Any, parameter: Any, texture: Any) -> None:
    """Textures are not drawn in this world; the call is accepted."""
    array(names)


@rpc("apply_float_color_texture_to_objects", "void")
def float_texture(context: RpcContext, names: Any, parameter: Any, texture: Any) -> None:
    """Textures are not drawn in this world; the call is accepted."""
    array(names)


@rpc("query_lights_state")
def query_lights(context: RpcContext, endpoint: Any) -> list[Any]:
    """Street lamps of the light manager."""
    text(endpoint)
    context.client.awaits_snapshot = False
    context.server.end_greeting()  # a client's first call after the tick that it waited for
    return encode_street_lights(context.world.street_lights.values())


@rpc("update_lights_state", "void")
def update_lights(context: RpcContext, endpoint: Any, lights: Any, discard: Any) -> None:
    """Switch street lamps."""
    update_street_lights(context.world.street_lights, array(lights))
    context.simulation.street_lights_changed = True


@rpc("update_day_night_cycle", "void")
def day_night(context: RpcContext, endpoint: Any, enabled: Any) -> None:
    """The cycle has no effect: weather is set by programs alone."""
    boolean(enabled)


@rpc("get_imui_gravity")
def get_gravity(context: RpcContext) -> float:
    """Gravity that IMU sensors report."""
    return context.sensors.gravity_mps2


@rpc("set_imui_gravity", "void")
def set_gravity(context: RpcContext, gravity: Any) -> None:
    """Set the gravity that IMU sensors report."""
    context.sensors.gravity_mps2 = number(gravity)


@rpc("set_annotations_traverse_translucency", "void")
def translucency(context: RpcContext, enabled: Any) -> None:
    """Nothing is translucent here."""
    boolean(enabled)


@rpc("draw_debug_shape", "void")
def draw_debug(context: RpcContext, shape: Any) -> None:
    """There is no screen to draw on."""


@rpc("clear_debug_shape", "void")
def clear_shapes(context: RpcContext) -> None:
    """There is no screen to draw on."""


@rpc("clear_debug_string", "void")
def clear_strings(context: RpcContext) -> None:
    """There is no screen to draw on."""
