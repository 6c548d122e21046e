"""The parts of CARLA's vehicle physics interface that have a meaning for our dynamics.

Programs read the physics control (wheelbase, lock, mass) and some write it back. Mass, tyre
friction, steering lock and drag change how the car drives; the rest is kept and read back.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jaywalk.server.world.actor import Actor
from jaywalk.server.world.snapshot import shown_gear
from jaywalk.server.world.vehicle_models import vehicle_model
from jaywalk.server.world.vehicle_physics import VehiclePhysics

if TYPE_CHECKING:
    from jaywalk.server.world.world import World

_STOCK_TYRE_FRICTION: Final = 3.5
_MOST_MASS_KG: Final = 1e6  # heavier than any vehicle; products of two such masses stay exact
_STOCK_LOCK_DEG: Final = 70.0
_STOCK_DRAG: Final = 0.3
_RPM_PER_MPS: Final = 110.0
_IDLE_RPM: Final = 800.0


def physics_control(world: World, actor: Actor) -> list[Any]:
    """The physics control as it travels; wheel positions are in the world, as CARLA gives them."""
    physics: VehiclePhysics = actor.physics
    location, (pitch, yaw, roll) = world.pose(actor)
    placed = physics.at_pose(
        location,
        pitch_rad=math.radians(pitch),
        yaw_rad=math.radians(yaw),
        roll_rad=math.radians(roll),
    )
    return placed.to_wire()


def set_physics_control(world: World, actor: Actor, record: list[Any]) -> None:
    """Take over a physics control."""
    physics = _with_wheel_places(VehiclePhysics.from_wire(record), actor.physics)
    actor.physics = physics
    stock = vehicle_model(actor.type_id, actor.value("base_type"), *actor.box_extent)
    model = world.model(actor)
    mass = min(max(physics.mass_kg, 1.0), _MOST_MASS_KG)
    model["mass_kg"] = mass
    world.columns.mass[actor.row] = mass
    wheels = physics.wheels
    friction = sum(wheel.tire_friction for wheel in wheels) / len(wheels)
    model["grip_mu"] = stock["grip_mu"] * _grip_share(friction)
    lock = max(wheel.max_steer_angle_deg for wheel in wheels)
    model["steer_gain_rad"] = stock["steer_gain_rad"] * min(lock / _STOCK_LOCK_DEG, 1.2)
    model["max_wheel_angle_rad"] = math.radians(max(lock, 1.0))
    drag = max(physics.drag_coefficient, 0.01) / _STOCK_DRAG
    model["top_speed_mps"] = stock["top_speed_mps"] / min(max(drag, 0.25), 4.0) ** (1.0 / 3.0)


def set_tyre_friction(world: World, actor: Actor, friction: float) -> None:
    """Give all tyres of a vehicle the same friction."""
    physics: VehiclePhysics = actor.physics
    wheels = tuple(replace(wheel, tire_friction=friction) for wheel in physics.wheels)
    actor.physics = replace(physics, wheels=wheels)
    stock = vehicle_model(actor.type_id, actor.value("base_type"), *actor.box_extent)
    world.model(actor)["grip_mu"] = stock["grip_mu"] * _grip_share(friction)


def _grip_share(friction: float) -> float:
    """Grip is proportional to friction, within what a tyre can have."""
    return min(max(friction / _STOCK_TYRE_FRICTION, 0.0), 3.0)


def _with_wheel_places(physics: VehiclePhysics, old: VehiclePhysics) -> VehiclePhysics:
    """Positions travel in the world frame; the vehicle's own geometry does not change.

    Another number of wheels than the vehicle has (none, in a control made from scratch) leaves the
    wheels as they are.
    """
    if len(physics.wheels) != len(old.wheels):
        return replace(physics, wheels=old.wheels)
    wheels = tuple(
        replace(wheel, position_cm=before.position_cm)
        for wheel, before in zip(physics.wheels, old.wheels, strict=True)
    )
    return replace(physics, wheels=wheels)


def telemetry(world: World, actor: Actor) -> list[Any]:
    """VehicleTelemetry: plausible engine and wheel figures from the motion."""
    row = world.columns.table[actor.row]
    speed = math.hypot(float(row["vx"]), float(row["vy"]))
    physics: VehiclePhysics = actor.physics
    load = float(row["mass"]) * 9.81 / max(len(physics.wheels), 1)
    yaw = float(row["yaw"])
    along_mps2 = float(row["ax"]) * math.cos(yaw) + float(row["ay"]) * math.sin(yaw)
    force = float(row["mass"]) * along_mps2 / max(len(physics.wheels), 1)
    wheels = [
        [
            wheel.tire_friction, 0.0, 0.0, float(row["v_long"]) / (wheel.radius_cm / 100.0), load,
            1.0, force * wheel.radius_cm / 100.0, force, 0.0, force / load, 0.0,
        ]
        for wheel in physics.wheels
    ]  # fmt: skip
    gear = int(shown_gear(row["gear"], row["manual_gear"], speed))
    return [
        speed, float(row["steer"]), float(row["throttle"]), float(row["brake"]),
        _IDLE_RPM + _RPM_PER_MPS * speed, gear, 0.5 * speed * speed, wheels,
    ]  # fmt: skip
