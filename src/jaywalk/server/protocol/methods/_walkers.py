"""RPC methods for walkers: control and bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaywalk.server.encoding._framing import PackedList
from jaywalk.server.encoding._structs import encode_bones
from jaywalk.server.encoding.codec import ARRAY_LIMIT, array, boolean, number, vector
from jaywalk.server.protocol.rpc import RpcContext, rpc

if TYPE_CHECKING:
    pass


@rpc("apply_control_to_walker", "void")
def apply_control(context: RpcContext, actor_id: Any, control: Any) -> None:
    """Latch a WalkerControl."""
    direction, speed, jump = array(control, 3)[:3]
    context.world.control_walker(
        context.walker(actor_id), vector(direction), number(speed), boolean(jump)
    )


@rpc("set_bones_transform", "void")
def set_bones(context: RpcContext, actor_id: Any, bones: Any) -> None:
    """Pose the named bones relative to their parents; the nested list holds (name, transform)."""
    # Decoding 60 bones for 30 people costs more than the whole step: it waits until someone looks.
    listed = array(bones, 1)[0]
    packed = isinstance(listed, PackedList) and len(listed) <= ARRAY_LIMIT
    if isinstance(listed, PackedList) and not packed:
        listed = listed.decoded()
    context.world.set_bones(context.walker(actor_id), listed if packed else array(listed))


@rpc("get_bones_transform")
def get_bones(context: RpcContext, actor_id: Any) -> list[Any]:
    """Every bone's world, component and relative transform."""
    return [encode_bones(context.world.bones(context.walker(actor_id)))]


@rpc("blend_pose", "void")
def blend_pose(context: RpcContext, actor_id: Any, weight: Any) -> None:
    """Weight of the custom pose over the built-in animation, 0..1."""
    weight = min(max(number(weight), 0.0), 1.0)
    context.world.people.set_blend(context.walker(actor_id).id, weight)


@rpc("get_pose_from_animation", "void")
def pose_from_animation(context: RpcContext, actor_id: Any) -> None:
    """Make the present animated pose the custom pose."""
    context.world.pose_from_animation(context.walker(actor_id))
