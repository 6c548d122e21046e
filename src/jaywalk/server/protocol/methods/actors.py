"""Actors of any type: spawning, destroying, moving, pushing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgpack

from jaywalk.server.encoding.codec import (
    Transform,
    WireError,
    array,
    boolean,
    encode_box,
    encode_transform,
    integer,
    ok,
    text,
    transform,
    vector,
)
from jaywalk.server.protocol.rpc import Encoded, RpcClient, rpc
from jaywalk.server.world.tables import Actor, SpawnError
from jaywalk.server.world.world import UnknownActorError

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer


def encode_actor(server: CarlaServer, client: RpcClient, actor: Actor) -> list[Any]:
    """An Actor struct in the dialect of its receiver."""
    return server.episode.encode_actor(actor, client.dialect)


def spawn(
    server: CarlaServer,
    client: RpcClient,
    description: Any,
    pose: Transform,
    parent_id: int = 0,
) -> Actor:
    """Create an actor from an ActorDescription."""
    _, type_id, attributes = array(description, 3)[:3]
    values = {text(item[0]): text(item[2]) for item in (array(a, 3) for a in array(attributes))}
    try:
        return server.episode.spawn(client.dialect, text(type_id), values, pose, parent_id)
    except SpawnError as problem:
        raise WireError(str(problem)) from problem
    except UnknownActorError as problem:
        raise WireError("unable to attach actor: parent actor not found") from problem


@rpc("get_actor_definitions")
def definitions(server: CarlaServer, client: RpcClient) -> list[Any]:
    """The blueprint library."""
    return server.episode.definitions(client.dialect)


@rpc("get_spectator")
def spectator(server: CarlaServer, client: RpcClient) -> list[Any]:
    """The spectator actor."""
    return encode_actor(server, client, server.episode.world.spectator)


@rpc("get_actors_by_id")
def actors_by_id(server: CarlaServer, client: RpcClient, ids: Any) -> list[Any]:
    """The actors of these ids; unknown ones are left out."""
    known = server.episode.world.actors
    # Each actor once: an answer is never larger than the world.
    wanted = (known.get(actor_id) for actor_id in dict.fromkeys(map(integer, array(ids))))
    return [encode_actor(server, client, actor) for actor in wanted if actor is not None]


@rpc("spawn_actor")
def spawn_actor(server: CarlaServer, client: RpcClient, description: Any, pose: Any) -> list[Any]:
    """Spawn an actor at a world pose."""
    return encode_actor(server, client, spawn(server, client, description, transform(pose)))


@rpc("spawn_actor_with_parent")
def spawn_with_parent(
    server: CarlaServer,
    client: RpcClient,
    description: Any,
    pose: Any,
    parent: Any,
    attachment: Any,
    socket: Any = "",
) -> list[Any]:
    """Spawn an actor at a pose relative to its parent."""
    # Spring arms are attached rigidly: nobody looks through them here.
    integer(attachment)
    actor = spawn(server, client, description, transform(pose), integer(parent))
    return encode_actor(server, client, actor)


@rpc("destroy_actor")
def destroy(server: CarlaServer, client: RpcClient, actor_id: Any) -> bool:
    """Destroy one actor; what is attached to it stays."""
    if not server.episode.destroy(integer(actor_id)):
        raise WireError("unable to destroy actor: not found")
    return True


@rpc("set_actor_transform", "void")
def set_transform(server: CarlaServer, client: RpcClient, actor_id: Any, pose: Any) -> None:
    """Teleport."""
    world = server.episode.world
    world.teleport(world.actor(integer(actor_id)), transform(pose))


@rpc("set_actor_location", "void")
def set_location(server: CarlaServer, client: RpcClient, actor_id: Any, location: Any) -> None:
    """Teleport, keeping the rotation."""
    world = server.episode.world
    actor = world.actor(integer(actor_id))
    world.teleport(actor, (vector(location), world.pose(actor)[1]))


@rpc("set_actor_target_velocity", "void")
def set_velocity(server: CarlaServer, client: RpcClient, actor_id: Any, velocity: Any) -> None:
    """Set the velocity at once (world frame, m/s)."""
    world = server.episode.world
    world.set_velocity(world.actor(integer(actor_id)), vector(velocity))


@rpc("set_actor_target_angular_velocity", "void")
def set_angular_velocity(
    server: CarlaServer, client: RpcClient, actor_id: Any, velocity: Any
) -> None:
    """Set the angular velocity at once (deg/s)."""
    world = server.episode.world
    world.set_angular_velocity(world.actor(integer(actor_id)), vector(velocity))


@rpc("enable_actor_constant_velocity", "void")
def enable_constant_velocity(
    server: CarlaServer, client: RpcClient, actor_id: Any, velocity: Any
) -> None:
    """Hold a velocity given in the actor's frame."""
    world = server.episode.world
    world.set_constant_velocity(world.actor(integer(actor_id)), vector(velocity))


@rpc("disable_actor_constant_velocity", "void")
def disable_constant_velocity(server: CarlaServer, client: RpcClient, actor_id: Any) -> None:
    """Let controls act again."""
    world = server.episode.world
    world.set_constant_velocity(world.actor(integer(actor_id)), None)


def _push(server: CarlaServer, actor_id: Any, kind: str, value: Any) -> None:
    world = server.episode.world
    world.push(world.actor(integer(actor_id)), kind, vector(value))


@rpc("add_actor_impulse", "void")
def add_impulse(server: CarlaServer, client: RpcClient, actor_id: Any, impulse: Any) -> None:
    """Impulse at the centre, kg m/s."""
    _push(server, actor_id, "impulse", impulse)


@rpc("add_actor_impulse_at_location", "void")
def add_impulse_at(
    server: CarlaServer, client: RpcClient, actor_id: Any, impulse: Any, location: Any
) -> None:
    """Impulse at a place; its lever turns the actor."""
    world = server.episode.world
    world.push(world.actor(integer(actor_id)), "impulse", vector(impulse), vector(location))


@rpc("add_actor_force", "void")
def add_force(server: CarlaServer, client: RpcClient, actor_id: Any, force: Any) -> None:
    """Force at the centre during the next step, N."""
    _push(server, actor_id, "force", force)


@rpc("add_actor_force_at_location", "void")
def add_force_at(
    server: CarlaServer, client: RpcClient, actor_id: Any, force: Any, location: Any
) -> None:
    """Force at a place during the next step."""
    world = server.episode.world
    world.push(world.actor(integer(actor_id)), "force", vector(force), vector(location))


@rpc("add_actor_angular_impulse", "void")
def add_angular_impulse(server: CarlaServer, client: RpcClient, actor_id: Any, value: Any) -> None:
    """Angular impulse; the wheel sends ``add_torque`` as this too."""
    _push(server, actor_id, "angular_impulse", value)


@rpc("add_actor_torque", "void")
def add_torque(server: CarlaServer, client: RpcClient, actor_id: Any, torque: Any) -> None:
    """Torque during the next step."""
    _push(server, actor_id, "torque", torque)


@rpc("set_actor_simulate_physics", "void")
def simulate_physics(server: CarlaServer, client: RpcClient, actor_id: Any, enabled: Any) -> None:
    """Let physics move the actor, or only teleports."""
    world = server.episode.world
    world.set_physics(world.actor(integer(actor_id)), boolean(enabled))


@rpc("set_actor_collisions", "void")
def set_collisions(server: CarlaServer, client: RpcClient, actor_id: Any, enabled: Any) -> None:
    """Let the actor touch others, or not."""
    world = server.episode.world
    world.columns.collides[world.actor(integer(actor_id)).row] = boolean(enabled)


@rpc("set_actor_enable_gravity", "void")
def enable_gravity(server: CarlaServer, client: RpcClient, actor_id: Any, enabled: Any) -> None:
    """Let the actor fall, or not."""
    world = server.episode.world
    row = world.actor(integer(actor_id)).row
    world.columns.gravity[row] = boolean(enabled)
    world.columns.settled[row] = 0  # it may hang in the air now


@rpc("set_actor_dead", "void")
def set_dead(server: CarlaServer, client: RpcClient, actor_id: Any) -> None:
    """A walker falls and stays down."""
    world = server.episode.world
    world.knock_down(world.actor(integer(actor_id)))


@rpc("set_actor_autopilot", "void")
def set_autopilot(server: CarlaServer, client: RpcClient, actor_id: Any, enabled: Any) -> None:
    """Legacy: the autopilot is the Traffic Manager, which runs in the client."""
    server.episode.world.actor(integer(actor_id))


@rpc("get_actor_bounding_box")
def bounding_box(server: CarlaServer, client: RpcClient, actor_id: Any) -> Encoded:
    """Box in the actor's frame; asked hundreds of times per tick, so kept encoded."""
    actor = server.episode.world.actors.get(integer(actor_id))
    if actor is None:
        return _box_of_the_gone(server, actor_id)
    if actor.box_body is None:
        actor.box_body = msgpack.packb(ok(encode_box(actor.box_centre, actor.box_extent, actor.id)))
    return Encoded(actor.box_body)


def _box_of_the_gone(server: CarlaServer, actor_id: int) -> Encoded:
    """Box of an actor that was destroyed.

    The Traffic Manager may ask in the tick in which somebody destroys a car, and an error would end
    its whole process. Any box that is not zero makes the client use the one it knows.
    """
    if not 0 < actor_id <= server.episode.world.last_id:
        raise UnknownActorError(actor_id)
    body: bytes = msgpack.packb(ok(encode_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), actor_id)))
    return Encoded(body)


@rpc("get_actor_component_names")
def component_names(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[str]:
    """An actor is one component here."""
    server.episode.world.actor(integer(actor_id))
    return ["Body"]


@rpc("get_actor_component_world_transform")
def component_world(server: CarlaServer, client: RpcClient, actor_id: Any, name: Any) -> list[Any]:
    """World pose of a component: that of the actor."""
    text(name)
    world = server.episode.world
    return encode_transform(world.pose(world.actor(integer(actor_id))))


@rpc("get_actor_component_relative_transform")
def component_relative(
    server: CarlaServer, client: RpcClient, actor_id: Any, name: Any
) -> list[Any]:
    """Pose of a component in its actor: none of its own."""
    text(name)
    server.episode.world.actor(integer(actor_id))
    return [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def _bones(server: CarlaServer, actor_id: Any) -> list[Any]:
    """BoneOut rows of a walker; other actors have none."""
    world = server.episode.world
    return world.bones_or_none(world.actor(integer(actor_id)))


@rpc("get_actor_bone_names")
def bone_names(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[str]:
    """Names of a walker's bones."""
    return [bone[0] for bone in _bones(server, actor_id)]


@rpc("get_actor_bone_world_transforms")
def bone_world(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """World poses of a walker's bones."""
    return [bone[1] for bone in _bones(server, actor_id)]


@rpc("get_actor_bone_relative_transforms")
def bone_relative(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """Poses of a walker's bones relative to their parents."""
    return [bone[3] for bone in _bones(server, actor_id)]


@rpc("get_actor_socket_names")
def socket_names(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[str]:
    """No actor has sockets here."""
    server.episode.world.actor(integer(actor_id))
    return []


@rpc("get_actor_socket_world_transforms")
def socket_world(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """No actor has sockets here."""
    server.episode.world.actor(integer(actor_id))
    return []


@rpc("get_actor_socket_relative_transforms")
def socket_relative(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """No actor has sockets here."""
    server.episode.world.actor(integer(actor_id))
    return []
