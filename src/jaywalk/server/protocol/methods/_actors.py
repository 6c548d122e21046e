"""RPC methods for actors of any type: spawn, destroy, move and push."""

from __future__ import annotations

from typing import Any

import msgpack

from jaywalk.server.encoding._structs import encode_bones
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
from jaywalk.server.protocol.rpc import Encoded, RpcContext, rpc
from jaywalk.server.world._tables import Actor, Kind, SpawnError
from jaywalk.server.world._world import UnknownActorError


def _encoded(context: RpcContext, actor: Actor) -> list[Any]:
    """Encode an actor in the caller's dialect."""
    return context.simulation.encoder.actor(actor, context.dialect)


def spawn(
    context: RpcContext,
    description: Any,
    pose: Transform,
    parent_id: int = 0,
) -> Actor:
    """Create an actor from an ActorDescription."""
    _, type_id, attributes = array(description, 3)[:3]
    values = {text(item[0]): text(item[2]) for item in (array(a, 3) for a in array(attributes))}
    try:
        actor = context.simulation.spawn(context.dialect, text(type_id), values, pose, parent_id)
    except SpawnError as problem:
        raise WireError(str(problem)) from problem
    except UnknownActorError as problem:
        raise WireError("unable to attach actor: parent actor not found") from problem
    context.server.begin_free_run()
    return actor


@rpc("get_actor_definitions")
def definitions(context: RpcContext) -> list[Any]:
    """The blueprint library."""
    return context.simulation.definitions(context.dialect)


@rpc("get_spectator")
def spectator(context: RpcContext) -> list[Any]:
    """The spectator actor."""
    return _encoded(context, context.world.spectator)


@rpc("get_actors_by_id")
def actors_by_id(context: RpcContext, ids: Any) -> list[Any]:
    """Return the actors with these ids; unknown ids are left out."""
    known = context.world.actors
    # Each actor once: an answer is never larger than the world.
    actors = (known.get(actor_id) for actor_id in dict.fromkeys(map(integer, array(ids))))
    return [_encoded(context, actor) for actor in actors if actor is not None]


@rpc("spawn_actor")
def spawn_actor(context: RpcContext, description: Any, pose: Any) -> list[Any]:
    """Spawn an actor at a world pose."""
    return _encoded(context, spawn(context, description, transform(pose)))


@rpc("spawn_actor_with_parent")
def spawn_with_parent(
    context: RpcContext,
    description: Any,
    pose: Any,
    parent: Any,
    attachment: Any,
    socket: Any = "",
) -> list[Any]:
    """Spawn an actor at a pose relative to its parent."""
    # Spring arms are attached rigidly: no view goes through them here.
    integer(attachment)
    actor = spawn(context, description, transform(pose), integer(parent))
    return _encoded(context, actor)


@rpc("destroy_actor")
def destroy(context: RpcContext, actor_id: Any) -> bool:
    """Destroy one actor; what is attached to it stays."""
    if not context.simulation.destroy(integer(actor_id)):
        raise WireError("unable to destroy actor: not found")
    return True


@rpc("set_actor_transform", "void")
def set_transform(context: RpcContext, actor_id: Any, pose: Any) -> None:
    """Teleport."""
    context.world.teleport(context.actor(actor_id), transform(pose))


@rpc("set_actor_location", "void")
def set_location(context: RpcContext, actor_id: Any, location: Any) -> None:
    """Teleport, keeping the rotation."""
    world = context.world
    actor = context.actor(actor_id)
    world.teleport(actor, (vector(location), world.pose(actor)[1]))


@rpc("set_actor_target_velocity", "void")
def set_velocity(context: RpcContext, actor_id: Any, velocity: Any) -> None:
    """Set the velocity at once (world frame, m/s)."""
    context.world.set_velocity(context.actor(actor_id), vector(velocity))


@rpc("set_actor_target_angular_velocity", "void")
def set_angular_velocity(context: RpcContext, actor_id: Any, velocity: Any) -> None:
    """Set the angular velocity at once (deg/s)."""
    context.world.set_angular_velocity(context.actor(actor_id), vector(velocity))


@rpc("enable_actor_constant_velocity", "void")
def enable_constant_velocity(context: RpcContext, actor_id: Any, velocity: Any) -> None:
    """Hold a velocity given in the actor's frame."""
    context.world.set_constant_velocity(context.actor(actor_id), vector(velocity))


@rpc("disable_actor_constant_velocity", "void")
def disable_constant_velocity(context: RpcContext, actor_id: Any) -> None:
    """Let controls act again."""
    context.world.set_constant_velocity(context.actor(actor_id), None)


def _push(context: RpcContext, actor_id: Any, kind: str, value: Any) -> None:
    context.world.push(context.actor(actor_id), kind, vector(value))


@rpc("add_actor_impulse", "void")
def add_impulse(context: RpcContext, actor_id: Any, impulse: Any) -> None:
    """Impulse at the centre, kg m/s."""
    _push(context, actor_id, "impulse", impulse)


@rpc("add_actor_impulse_at_location", "void")
def add_impulse_at(context: RpcContext, actor_id: Any, impulse: Any, location: Any) -> None:
    """Impulse at a place; its lever turns the actor."""
    context.world.push(context.actor(actor_id), "impulse", vector(impulse), vector(location))


@rpc("add_actor_force", "void")
def add_force(context: RpcContext, actor_id: Any, force: Any) -> None:
    """Force at the centre during the next step, N."""
    _push(context, actor_id, "force", force)


@rpc("add_actor_force_at_location", "void")
def add_force_at(context: RpcContext, actor_id: Any, force: Any, location: Any) -> None:
    """Force at a place during the next step."""
    context.world.push(context.actor(actor_id), "force", vector(force), vector(location))


@rpc("add_actor_angular_impulse", "void")
def add_angular_impulse(context: RpcContext, actor_id: Any, value: Any) -> None:
    """Angular impulse; the wheel sends ``add_torque`` as this too."""
    _push(context, actor_id, "angular_impulse", value)


@rpc("add_actor_torque", "void")
def add_torque(context: RpcContext, actor_id: Any, torque: Any) -> None:
    """Torque during the next step."""
    _push(context, actor_id, "torque", torque)


@rpc("set_actor_simulate_physics", "void")
def simulate_physics(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Let physics move the actor, or only teleports."""
    context.world.set_physics(context.actor(actor_id), boolean(enabled))


@rpc("set_actor_collisions", "void")
def set_collisions(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Let the actor touch others, or not."""
    context.world.columns.collides[context.actor(actor_id).row] = boolean(enabled)


@rpc("set_actor_enable_gravity", "void")
def enable_gravity(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Let the actor fall, or not."""
    columns, row = context.world.columns, context.actor(actor_id).row
    columns.gravity[row] = boolean(enabled)
    columns.settled[row] = 0  # it may hang in the air now


@rpc("set_actor_dead", "void")
def set_dead(context: RpcContext, actor_id: Any) -> None:
    """A walker falls and stays down."""
    context.world.knock_down(context.actor(actor_id))


@rpc("set_actor_autopilot", "void")
def set_autopilot(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Legacy: the autopilot is the Traffic Manager, which runs in the client."""
    context.actor(actor_id)


@rpc("get_actor_bounding_box")
def bounding_box(context: RpcContext, actor_id: Any) -> Encoded:
    """Box in the actor's frame; asked hundreds of times per tick, so kept encoded."""
    actor = context.world.actors.get(integer(actor_id))
    if actor is None:
        return _box_of_destroyed(context, actor_id)
    if actor.box_body is None:
        actor.box_body = msgpack.packb(ok(encode_box(actor.box_centre, actor.box_extent, actor.id)))
    return Encoded(actor.box_body)


def _box_of_destroyed(context: RpcContext, actor_id: int) -> Encoded:
    """Return a box for an actor that was destroyed.

    The Traffic Manager may ask in the tick in which a client destroys a car, and an error would end
    its whole process. Any box that is not zero makes the client use the one it has stored.
    """
    if not 0 < actor_id <= context.world.last_id:
        raise UnknownActorError(actor_id)
    body: bytes = msgpack.packb(ok(encode_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), actor_id)))
    return Encoded(body)


@rpc("get_actor_component_names")
def component_names(context: RpcContext, actor_id: Any) -> list[str]:
    """An actor is one component here."""
    context.actor(actor_id)
    return ["Body"]


@rpc("get_actor_component_world_transform")
def component_world(context: RpcContext, actor_id: Any, name: Any) -> list[Any]:
    """World pose of a component: that of the actor."""
    text(name)
    return encode_transform(context.world.pose(context.actor(actor_id)))


@rpc("get_actor_component_relative_transform")
def component_relative(context: RpcContext, actor_id: Any, name: Any) -> list[Any]:
    """Pose of a component in its actor: the identity."""
    text(name)
    context.actor(actor_id)
    return [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def _bones(context: RpcContext, actor_id: Any) -> list[Any]:
    """Return name, world, component and relative transform per bone; only walkers have bones."""
    actor = context.actor(actor_id)
    return encode_bones(context.world.bones(actor)) if actor.kind is Kind.WALKER else []


@rpc("get_actor_bone_names")
def bone_names(context: RpcContext, actor_id: Any) -> list[str]:
    """Names of a walker's bones."""
    return [bone[0] for bone in _bones(context, actor_id)]


@rpc("get_actor_bone_world_transforms")
def bone_world(context: RpcContext, actor_id: Any) -> list[Any]:
    """World poses of a walker's bones."""
    return [bone[1] for bone in _bones(context, actor_id)]


@rpc("get_actor_bone_relative_transforms")
def bone_relative(context: RpcContext, actor_id: Any) -> list[Any]:
    """Poses of a walker's bones relative to their parents."""
    return [bone[3] for bone in _bones(context, actor_id)]


@rpc("get_actor_socket_names")
def socket_names(context: RpcContext, actor_id: Any) -> list[str]:
    """No actor has sockets here."""
    context.actor(actor_id)
    return []


@rpc("get_actor_socket_world_transforms")
def socket_world(context: RpcContext, actor_id: Any) -> list[Any]:
    """No actor has sockets here."""
    context.actor(actor_id)
    return []


@rpc("get_actor_socket_relative_transforms")
def socket_relative(context: RpcContext, actor_id: Any) -> list[Any]:
    """No actor has sockets here."""
    context.actor(actor_id)
    return []
