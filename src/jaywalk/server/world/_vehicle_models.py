"""Dynamics of each vehicle type: the fitted Lincoln MKZ and models scaled from it.

Programs read the physics control (wheelbase, lock, mass) and some write it back. Mass, tyre
friction, steering lock and drag change the motion of the car. All other values are only stored.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from jaywalk.core.kernels import kernel
from jaywalk.server.world._tables import Actor
from jaywalk.server.world._vehicle_physics import VehiclePhysics

if TYPE_CHECKING:
    from jaywalk.server.world._world import World

VEHICLE_MODEL: Final = np.dtype(
    [
        ("mass_kg", "f8"),
        ("front_m", "f8"),  # fitted bicycle: origin to front axle (slightly negative for the MKZ)
        ("rear_m", "f8"),  # fitted bicycle: origin to rear axle
        ("steer_gain_rad", "f8"),  # fitted wheel angle at steer = 1
        ("max_wheel_angle_rad", "f8"),  # nominal lock; normalises Ackermann angles
        ("steer_rate_per_s", "f8"),  # change of normalised steer per second
        ("throttle_scale", "f8"),  # on positive accelerations of the fitted law
        ("brake_scale", "f8"),
        ("top_speed_mps", "f8"),
        ("reverse_speed_mps", "f8"),
        ("grip_mu", "f8"),  # lateral limit on a dry road, in g
        ("wheel_x_m", "f8"),  # half distance of the axles, for ground samples
        ("wheel_y_m", "f8"),  # half track
        ("two_wheeler", "u1"),
    ],
    align=True,
)

_MKZ_HALF_LENGTH_M: Final = 2.446
_MKZ_FRONT_M: Final = -0.090769015
_MKZ_REAR_M: Final = 1.4178275
_STEER_GAIN_RAD: Final = 0.36848336
# base type: kg at the reference product of half extents, that product, scales of throttle and
# brake, top speed m/s, grip
# The simulator's tyres hold more than real ones; controllers tuned there count on it in bends.
_BY_BASE: Final[dict[str, tuple[float, float, float, float, float, float]]] = {
    "car": (1845.0, 1.66, 1.0, 1.0, 50.0, 1.6),
    "van": (2500.0, 3.76, 0.85, 0.95, 42.0, 1.5),
    "truck": (9500.0, 9.9, 0.55, 0.85, 33.0, 1.3),
    "bus": (12500.0, 21.5, 0.5, 0.85, 30.0, 1.2),
    "motorcycle": (250.0, 0.28, 1.0, 0.9, 45.0, 1.4),
    "bicycle": (90.0, 0.1, 0.35, 0.6, 9.0, 1.2),
}
_MASS_LIMITS_KG: Final[dict[str, tuple[float, float]]] = {
    "car": (500.0, 2600.0),
    "van": (1800.0, 4500.0),
    "truck": (5500.0, 18000.0),
    "bus": (9000.0, 16000.0),
    "motorcycle": (200.0, 380.0),
    "bicycle": (88.0, 95.0),
}
_MASS_KG: Final[dict[str, float]] = {
    "vehicle.lincoln.mkz_2020": 1845.0,
    "vehicle.lincoln.mkz_2017": 1850.0,
    "vehicle.tesla.cybertruck": 3000.0,
}


def vehicle_model(
    type_id: str, base_type: str, half_x_m: float, half_y_m: float, half_z_m: float
) -> np.void:
    """Return the dynamics of a vehicle type as one ``VEHICLE_MODEL`` record.

    Args:
        type_id: Blueprint id; the MKZ gets the fitted figures exactly.
        base_type: ``car``, ``van``, ``truck``, ``bus``, ``motorcycle`` or ``bicycle``; anything
            else counts as a car.
        half_x_m: Half length of the bounding box.
        half_y_m: Half width.
        half_z_m: Half height.
    """
    base = base_type if base_type in _BY_BASE else "car"
    reference_kg, reference_m3, throttle, brake, top_mps, mu = _BY_BASE[base]
    volume = half_x_m * half_y_m * half_z_m
    lightest, heaviest = _MASS_LIMITS_KG[base]
    mass = float(np.clip(reference_kg * volume / reference_m3, lightest, heaviest))
    scale = 1.0 if "lincoln.mkz" in type_id else half_x_m / _MKZ_HALF_LENGTH_M
    scale = float(np.clip(scale, 0.6, 2.5))
    two_wheeler = base in ("motorcycle", "bicycle")
    record: Any = np.zeros((), VEHICLE_MODEL)
    record["mass_kg"] = _MASS_KG.get(type_id, mass)
    record["front_m"] = _MKZ_FRONT_M * scale
    record["rear_m"] = _MKZ_REAR_M * scale
    record["steer_gain_rad"] = _STEER_GAIN_RAD
    record["max_wheel_angle_rad"] = np.deg2rad(70.0)
    record["steer_rate_per_s"] = 10.0
    record["throttle_scale"] = throttle
    record["brake_scale"] = brake
    record["top_speed_mps"] = top_mps
    record["reverse_speed_mps"] = 2.0 if two_wheeler else 8.0
    record["grip_mu"] = mu
    record["wheel_x_m"] = 0.58 * half_x_m
    record["wheel_y_m"] = 0.02 if two_wheeler else 0.8 * half_y_m
    record["two_wheeler"] = two_wheeler
    return record[()]  # type: ignore[no-any-return]


_STOCK_TYRE_FRICTION: Final = 3.5
_MOST_MASS_KG: Final = 1e6  # heavier than any vehicle; products of two such masses stay exact
_STOCK_LOCK_DEG: Final = 70.0
_STOCK_DRAG: Final = 0.3
_RPM_PER_MPS: Final = 110.0
_IDLE_RPM: Final = 800.0


# Speeds at which the stock automatic box shifts up: 65 % of 6300 rpm through gears of 3.73, 2.05,
# 1.39 and 1.03, a final drive of 4 and wheels of 0.355 m radius.
_SHIFTS_UP_MPS = (10.2, 18.6, 27.4, 36.9)


@kernel
def shown_gear(gear: int, manual: int, speed_mps: float) -> int:
    """Return the gear that clients read: the choice of an automatic gearbox, as in CARLA."""
    if manual or gear < 1:  # chosen by the driver, reverse, or never driven
        return gear
    shown = 1
    for limit_mps in _SHIFTS_UP_MPS:
        if speed_mps > limit_mps:
            shown += 1
    return shown


def physics_in_world(world: World, actor: Actor) -> VehiclePhysics:
    """Return a vehicle's physics with wheel positions in the world frame, as CARLA gives them."""
    physics: VehiclePhysics = actor.physics
    location, (pitch, yaw, roll) = world.pose(actor)
    return physics.at_pose(
        location,
        pitch_rad=math.radians(pitch),
        yaw_rad=math.radians(yaw),
        roll_rad=math.radians(roll),
    )


def set_physics_control(world: World, actor: Actor, control: VehiclePhysics) -> None:
    """Apply a physics control whose wheel positions are in the world frame."""
    physics = _with_wheel_places(control, actor.physics)
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
    """Return the grip: proportional to friction, within the limits of a tyre."""
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


class WheelTelemetry(NamedTuple):
    """State of one wheel, in the order of CARLA's WheelTelemetryData."""

    tire_friction: float
    lat_slip: float
    long_slip: float
    omega_radps: float
    tire_load_n: float
    normalized_tire_load: float
    tire_torque_nm: float
    tire_long_force_n: float
    tire_lat_force_n: float
    normalized_tire_long_force: float
    normalized_tire_lat_force: float


class VehicleTelemetry(NamedTuple):
    """State of the drivetrain, in the order of CARLA's VehicleTelemetryData."""

    speed_mps: float
    steer: float
    throttle: float
    brake: float
    engine_rpm: float
    gear: int
    drag: float
    wheels: list[WheelTelemetry]


def telemetry(world: World, actor: Actor) -> VehicleTelemetry:
    """Return plausible engine and wheel figures, derived from the motion."""
    row = world.columns.table[actor.row]
    speed = math.hypot(float(row["vx"]), float(row["vy"]))
    physics: VehiclePhysics = actor.physics
    load = float(row["mass"]) * 9.81 / max(len(physics.wheels), 1)
    yaw = float(row["yaw"])
    along_mps2 = float(row["ax"]) * math.cos(yaw) + float(row["ay"]) * math.sin(yaw)
    force = float(row["mass"]) * along_mps2 / max(len(physics.wheels), 1)
    wheels = [
        WheelTelemetry(
            wheel.tire_friction,
            0.0,
            0.0,
            float(row["v_long"]) / (wheel.radius_cm / 100.0),
            load,
            1.0,
            force * wheel.radius_cm / 100.0,
            force,
            0.0,
            force / load,
            0.0,
        )
        for wheel in physics.wheels
    ]
    gear = int(shown_gear(row["gear"], row["manual_gear"], speed))
    return VehicleTelemetry(
        speed,
        float(row["steer"]),
        float(row["throttle"]),
        float(row["brake"]),
        _IDLE_RPM + _RPM_PER_MPS * speed,
        gear,
        0.5 * speed * speed,
        wheels,
    )
