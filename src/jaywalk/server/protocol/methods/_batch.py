"""RPC methods that apply a batch of commands (section 7.1 of the protocol notes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaywalk.server.encoding.codec import (
    ARRAY_LIMIT,
    WireError,
    array,
    boolean,
    failed,
    integer,
    number,
    ok,
    optional,
    text,
    transform,
    vector,
)
from jaywalk.server.protocol.methods import _actors as actors
from jaywalk.server.protocol.methods import _scenery as lights
from jaywalk.server.protocol.methods import _vehicles as vehicles
from jaywalk.server.protocol.methods import _walkers as walkers
from jaywalk.server.protocol.methods._vehicles import decode_control
from jaywalk.server.protocol.rpc import RpcContext, actor_problem, rpc
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._world import UnknownActorError

_SPAWN, _DESTROY, _VEHICLE_CONTROL, _PHYSICS, _TRANSFORM, _LIGHTS = 0, 1, 2, 5, 6, 18
_COMMAND_LIMIT = 10_000  # with the follow-ups of spawns
# A batch runs without a break while all other clients wait. Slow commands count several times.
_WEIGHTS = {_SPAWN: 5, _DESTROY: 2, _PHYSICS: 2, _TRANSFORM: 2}
_PUSHES = {10: "impulse", 11: "force", 12: "angular_impulse", 13: "torque"}


@rpc("apply_batch", "bare")
def apply_batch(context: RpcContext, commands: Any, do_tick: Any = False) -> list[Any]:
    """Run commands in order; each gives the actor's id or an error, and none stops the others."""
    try:
        taken = _checked(commands)
    except WireError as problem:
        # The wheel crashes if there are fewer results than commands.
        return [failed(str(problem))] * len(array(commands, at_most=ARRAY_LIMIT))
    results = [_run(context, command) for command in taken]
    if do_tick is True:
        context.server.tick()
    return results


def _checked(commands: Any) -> Sequence[Any]:
    """Return the commands of a batch after a check of its length; a longer one is not run."""
    taken = array(commands, at_most=_COMMAND_LIMIT)
    weight = sum(_weight(command) for command in taken)
    if weight > _COMMAND_LIMIT:
        raise WireError(
            f"a batch counts as {weight} commands (a spawn as {_WEIGHTS[_SPAWN]}), at most "
            f"{_COMMAND_LIMIT} are taken; send it in parts"
        )
    return taken


def _weight(command: Any) -> int:
    """Return the weight of a command, including the nested commands that follow a spawn."""
    weight, waiting = 0, [command]
    while waiting:
        weight += 1
        try:
            index, body = waiting.pop()[0]
            weight += _WEIGHTS.get(index, 1) - 1
            inner = body[-1] if index == _SPAWN else ()
            if isinstance(inner, list):
                waiting += inner
        except (TypeError, ValueError, IndexError, KeyError):
            continue  # reported when it is run
    return weight


def _run(context: RpcContext, command: Any) -> Any:
    try:
        index, body = command[0]
        if index == _VEHICLE_CONTROL:  # the Traffic Manager sends one per car and tick
            world = context.world
            actor = world.actor_of_kind(body[0], Kind.VEHICLE)
            world.control_vehicle(actor, *decode_control(body[1]))
            return ok(actor.id)
        if index == _SPAWN:
            return ok(_spawn(context, array(body, 4)))
        return ok(_apply(context, integer(index), array(body, 1)))
    except WireError as problem:
        return failed(str(problem))
    except UnknownActorError as problem:
        return failed(actor_problem(_NAMES.get(command[0][0], "apply_batch"), problem))
    except Exception as problem:
        # The wheel reads as many results as it sent commands and crashes on fewer: whatever one
        # command does, it must not cost the others their answers.
        return failed(f"malformed command: {problem}")


def _spawn(context: RpcContext, body: Any) -> int:
    """[description, transform, optional parent, (attachment, socket,) do_after commands]."""
    parent = optional(body[2])
    actor = actors.spawn(
        context, body[0], transform(body[1]), integer(parent) if parent is not None else 0
    )
    for follow_up in array(body[-1]):
        inner_index, inner_body = follow_up[0]
        # The placeholder id stands for the actor just spawned; results of follow-ups are ignored.
        _run(context, [[inner_index, [actor.id, *array(inner_body, 1)[1:]]]])
    return actor.id


def _apply(context: RpcContext, index: int, body: Any) -> int:
    if index == 20:  # ConsoleCommand
        text(body[0])
        raise WireError("Jaywalk has no engine console")
    actor_id = integer(body[0])
    world = context.world
    if index == _DESTROY:
        actors.destroy(context, actor_id)
        return actor_id
    actor = world.actor(actor_id)
    if index in _PUSHES:
        world.push(actor, _PUSHES[index], vector(body[1]))
    elif index == 7:
        person = world.actor_of_kind(actor_id, Kind.WALKER)
        world.set_walker_state(person, transform(body[1]), number(body[2]))
    elif index == _LIGHTS:
        world.set_light_flags(context.vehicle(actor_id), integer(body[1]))
    elif index in _BY_METHOD:
        _BY_METHOD[index](context, actor_id, body[1])
    elif index == 14:
        world.set_physics(actor, boolean(body[1]))
    elif index in (16, 17):  # autopilot is the client's; telemetry has no screen
        boolean(body[1])
    else:
        raise WireError(f"unknown command {index}")
    return actor_id


_NAMES = {
    2: "apply_control_to_vehicle",
    3: "apply_ackermann_control_to_vehicle",
    4: "apply_control_to_walker",
    5: "apply_physics_control",
    6: "set_actor_transform",
    7: "set_walker_state",
    8: "set_actor_target_velocity",
    9: "set_actor_target_angular_velocity",
    10: "add_actor_impulse",
    11: "add_actor_force",
    12: "add_actor_angular_impulse",
    13: "add_actor_torque",
    14: "set_actor_simulate_physics",
    15: "set_actor_enable_gravity",
    18: "set_vehicle_light_state",
    19: "set_actor_location",
    21: "set_traffic_light_state",
}
_BY_METHOD = {
    3: vehicles.apply_ackermann,
    4: walkers.apply_control,
    5: vehicles.set_physics,
    6: actors.set_transform,
    8: actors.set_velocity,
    9: actors.set_angular_velocity,
    15: actors.enable_gravity,
    19: actors.set_location,
    21: lights.set_state,
}
