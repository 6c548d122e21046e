"""RPC methods for vehicles: control, lamps and physics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jaywalk.server.encoding._vehicle_physics import (
    decode_physics,
    encode_physics,
    encode_telemetry,
)
from jaywalk.server.encoding.codec import WireError, array, boolean, integer, number
from jaywalk.server.protocol.rpc import RpcContext, rpc
from jaywalk.server.world._vehicle_models import physics_in_world, set_physics_control, telemetry
from jaywalk.server.world._world import ALL_DOORS

if TYPE_CHECKING:
    from jaywalk.server.world._tables import Actor


def pedal(value: Any, when_nan: float) -> float:
    """Return a pedal position in 0..1; NaN becomes ``when_nan``."""
    position = value if isinstance(value, float) else number(value)
    if math.isnan(position):
        return when_nan
    return min(max(position, 0.0), 1.0)


def decode_control(control: Any) -> tuple[float, float | None, float, bool, bool, bool, int]:
    """Decode a VehicleControl; steer is None if the previous value must be kept.

    A NaN brake means full brake: the Traffic Manager divides by a target speed of zero when it
    stops a car. A NaN throttle means zero throttle.
    """
    throttle, steer, brake, hand_brake, reverse, manual, gear = array(control, 7)[:7]
    angle = steer if isinstance(steer, float) else number(steer)
    return (
        pedal(throttle, 0.0),
        None if math.isnan(angle) else min(max(angle, -1.0), 1.0),
        pedal(brake, 1.0),
        boolean(hand_brake),
        boolean(reverse),
        boolean(manual),
        integer(gear),
    )


@rpc("apply_control_to_vehicle", "void")
def apply_control(context: RpcContext, actor_id: Any, control: Any) -> None:
    """Latch a VehicleControl."""
    context.world.control_vehicle(context.vehicle(actor_id), *decode_control(control))


@rpc("apply_ackermann_control_to_vehicle", "void")
def apply_ackermann(context: RpcContext, actor_id: Any, control: Any) -> None:
    """Latch an Ackermann control (steer rad, steer speed, speed, acceleration, jerk)."""
    values = [number(value) for value in array(control, 5)[:5]]
    context.world.control_ackermann(context.vehicle(actor_id), values)


@rpc("get_ackermann_controller_settings")
def get_ackermann(context: RpcContext, actor_id: Any) -> list[float]:
    """Gains of the two Ackermann loops."""
    return list(context.vehicle(actor_id).ackermann_gains)


@rpc("apply_ackermann_controller_settings", "void")
def set_ackermann(context: RpcContext, actor_id: Any, gains: Any) -> None:
    """Keep the gains; our controller inverts the dynamics and needs none."""
    values = tuple(number(value) for value in array(gains, 6)[:6])
    context.vehicle(actor_id).ackermann_gains = values


@rpc("get_physics_control")
def get_physics(context: RpcContext, actor_id: Any) -> list[Any]:
    """The vehicle's physics parameters as CARLA structures them."""
    return encode_physics(physics_in_world(context.world, context.vehicle(actor_id)))


@rpc("apply_physics_control", "void")
def set_physics(context: RpcContext, actor_id: Any, physics: Any) -> None:
    """Keep new physics parameters; mass, tyre friction, drag and steering lock have effect."""
    actor = context.vehicle(actor_id)
    set_physics_control(context.world, actor, decode_physics(array(physics, 16)))


@rpc("get_telemetry_data")
def get_telemetry(context: RpcContext, actor_id: Any) -> list[Any]:
    """Return the state of the drivetrain and the wheels."""
    return encode_telemetry(telemetry(context.world, context.vehicle(actor_id)))


@rpc("show_vehicle_debug_telemetry", "void")
def show_telemetry(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """There is no screen to show it on."""
    context.vehicle(actor_id)


@rpc("get_vehicle_light_state")
def get_light_state(context: RpcContext, actor_id: Any) -> list[int]:
    """Lamps that are on, as flags."""
    row = context.vehicle(actor_id).row
    return [int(context.world.columns.light_flags[row])]


@rpc("set_vehicle_light_state", "void")
def set_light_state(context: RpcContext, actor_id: Any, state: Any) -> None:
    """Switch lamps."""
    flags = integer(array(state, 1)[0])
    context.world.set_light_flags(context.vehicle(actor_id), flags)


@rpc("get_vehicle_light_states")
def get_light_states(context: RpcContext) -> list[list[int]]:
    """Lamps of every vehicle; the Traffic Manager begins each of its cycles with this call."""
    context.server.traffic_managers.note_call(context.client)
    return context.world.light_flags()


def _wheel(actor: Actor, wheel: Any) -> int:
    if not 0 <= integer(wheel) <= 3:
        raise WireError(f"wheel {wheel} is not one of 0..3")
    return int(wheel)


def _door(door: Any) -> int:
    if not 0 <= integer(door) <= ALL_DOORS:
        raise WireError(f"door {door} is not one of 0..{ALL_DOORS}")
    return int(door)


@rpc("open_vehicle_door", "void")
def open_door(context: RpcContext, actor_id: Any, door: Any) -> None:
    """Open a door for show: cameras and scans see it, contacts do not."""
    context.world.set_door(context.vehicle(actor_id), _door(door), is_open=True)


@rpc("close_vehicle_door", "void")
def close_door(context: RpcContext, actor_id: Any, door: Any) -> None:
    """Close a door."""
    context.world.set_door(context.vehicle(actor_id), _door(door), is_open=False)


@rpc("set_wheel_steer_direction", "void")
def set_wheel_steer(context: RpcContext, actor_id: Any, wheel: Any, angle_deg: Any) -> None:
    """Turn one wheel for show; it has no effect on the motion, as in CARLA."""
    actor = context.vehicle(actor_id)
    actor.wheel_angles_deg[_wheel(actor, wheel)] = number(angle_deg)


@rpc("get_wheel_steer_angle")
def get_wheel_steer(context: RpcContext, actor_id: Any, wheel: Any) -> float:
    """Angle of one wheel in degrees."""
    actor = context.vehicle(actor_id)
    index = _wheel(actor, wheel)
    shown = actor.wheel_angles_deg.get(index)
    if shown is not None:
        return shown
    return context.world.wheel_angle_deg(actor) if index < 2 else 0.0


@rpc("set_wheel_pitch_angle", "void")
def set_wheel_pitch(context: RpcContext, actor_id: Any, wheel: Any, angle_deg: Any) -> None:
    """Roll one wheel for show."""
    actor = context.vehicle(actor_id)
    actor.wheel_pitches_deg[_wheel(actor, wheel)] = number(angle_deg)


@rpc("get_wheel_pitch_angle")
def get_wheel_pitch(context: RpcContext, actor_id: Any, wheel: Any) -> float:
    """Rolled angle of one wheel in degrees."""
    actor = context.vehicle(actor_id)
    return actor.wheel_pitches_deg.get(_wheel(actor, wheel), 0.0)


@rpc("get_vehicle_bone_world_transforms")
def get_vehicle_bones(context: RpcContext, actor_id: Any) -> list[Any]:
    """A vehicle has one bone here: its body."""
    pose = context.world.pose(context.vehicle(actor_id))
    return [[list(pose[0]), list(pose[1])]]


@rpc("enable_carsim", "void")
def enable_carsim(context: RpcContext, actor_id: Any, path: Any) -> None:
    """Refuse: CarSim is not part of this world."""
    raise WireError("Jaywalk has no CarSim physics; vehicles use its own dynamics")


@rpc("use_carsim_road", "void")
def use_carsim_road(context: RpcContext, actor_id: Any, enabled: Any) -> None:
    """Refuse: CarSim is not part of this world."""
    raise WireError("Jaywalk has no CarSim physics; vehicles use its own dynamics")


@rpc("enable_chrono_physics", "void")
def enable_chrono(context: RpcContext, actor_id: Any, *settings: Any) -> None:
    """Refuse: Chrono is not part of this world."""
    raise WireError("Jaywalk has no Chrono physics; vehicles use its own dynamics")


@rpc("restore_physx_physics", "void")
def restore_physics(context: RpcContext, actor_id: Any) -> None:
    """The own dynamics are always on."""
    context.vehicle(actor_id)
