"""Walkers: control and bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.server.encoding.codec import array, boolean, integer, number, vector
from jaywalk.server.protocol.rpc import RpcClient, rpc
from jaywalk.server.world.tables import Kind

if TYPE_CHECKING:
    from jaywalk.server.protocol.server import CarlaServer
    from jaywalk.server.world.tables import Actor


def walker(server: CarlaServer, actor_id: Any) -> Actor:
    """The walker of that id."""
    return server.episode.world.actor_of_kind(integer(actor_id), Kind.WALKER)


@rpc("apply_control_to_walker", "void")
def apply_control(server: CarlaServer, client: RpcClient, actor_id: Any, control: Any) -> None:
    """Latch a WalkerControl."""
    direction, speed, jump = array(control, 3)[:3]
    server.episode.world.control_walker(
        walker(server, actor_id), vector(direction), number(speed), boolean(jump)
    )


@rpc("set_bones_transform", "void")
def set_bones(server: CarlaServer, client: RpcClient, actor_id: Any, bones: Any) -> None:
    """Pose the named bones relative to their parents; the nested list holds (name, transform)."""
    # Decoding 60 bones for 30 people costs more than the whole step: it waits until someone looks.
    world = server.episode.world
    world.set_bones(walker(server, actor_id), array(array(bones, 1)[0]))


@rpc("get_bones_transform")
def get_bones(server: CarlaServer, client: RpcClient, actor_id: Any) -> list[Any]:
    """Every bone's world, component and relative transform."""
    return [server.episode.world.bones(walker(server, actor_id))]


@rpc("blend_pose", "void")
def blend_pose(server: CarlaServer, client: RpcClient, actor_id: Any, weight: Any) -> None:
    """Weight of the custom pose over the built-in animation, 0..1."""
    weight = min(max(number(weight), 0.0), 1.0)
    server.episode.world.people.set_blend(walker(server, actor_id).id, weight)


@rpc("get_pose_from_animation", "void")
def pose_from_animation(server: CarlaServer, client: RpcClient, actor_id: Any) -> None:
    """Make the present animated pose the custom pose."""
    server.episode.world.pose_from_animation(walker(server, actor_id))
