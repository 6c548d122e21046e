"""Encodings of a vehicle's physics control and telemetry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.server.world._blueprint_types import Vector3
from jaywalk.server.world._vehicle_models import VehicleTelemetry
from jaywalk.server.world._vehicle_physics import CurvePoint, Gear, VehiclePhysics, Wheel

_PHYSICS_FIELDS: Final = 17
_WHEEL_FIELDS: Final = 10
_GEAR_FIELDS: Final = 3


def encode_physics(physics: VehiclePhysics) -> list[object]:
    """Encode a physics control as nested lists."""
    return [
        [list(point) for point in physics.torque_curve],
        physics.max_rpm,
        physics.moi,
        physics.damping_full_throttle,
        physics.damping_zero_clutch_engaged,
        physics.damping_zero_clutch_disengaged,
        physics.use_gear_autobox,
        physics.gear_switch_time_s,
        physics.clutch_strength,
        physics.final_ratio,
        [[gear.ratio, gear.down_ratio, gear.up_ratio] for gear in physics.gears],
        physics.mass_kg,
        physics.drag_coefficient,
        list(physics.center_of_mass_m),
        [list(point) for point in physics.steering_curve],
        [_encode_wheel(wheel) for wheel in physics.wheels],
        physics.use_sweep_wheel_collision,
    ]


def decode_physics(record: Sequence[object]) -> VehiclePhysics:
    """Decode the physics control that a client sent.

    Raises:
        UsageError: The record has another shape or holds a number that is not finite.
    """
    if len(record) != _PHYSICS_FIELDS:
        raise UsageError(f"vehicle physics has {len(record)} fields, expected {_PHYSICS_FIELDS}")
    return VehiclePhysics(
        torque_curve=_curve(record[0], "torque_curve"),
        max_rpm=_number(record[1], "max_rpm"),
        moi=_number(record[2], "moi"),
        damping_full_throttle=_number(record[3], "damping_rate_full_throttle"),
        damping_zero_clutch_engaged=_number(record[4], "damping_rate_clutch_engaged"),
        damping_zero_clutch_disengaged=_number(record[5], "damping_rate_clutch_disengaged"),
        use_gear_autobox=bool(record[6]),
        gear_switch_time_s=_number(record[7], "gear_switch_time"),
        clutch_strength=_number(record[8], "clutch_strength"),
        final_ratio=_number(record[9], "final_ratio"),
        gears=tuple(_gear(item) for item in _items(record[10], "forward_gears")),
        mass_kg=_number(record[11], "mass"),
        drag_coefficient=_number(record[12], "drag_coefficient"),
        center_of_mass_m=_vector(record[13], "center_of_mass"),
        steering_curve=_curve(record[14], "steering_curve"),
        wheels=tuple(_wheel(item) for item in _items(record[15], "wheels")),
        use_sweep_wheel_collision=bool(record[16]),
    )


def _encode_wheel(wheel: Wheel) -> list[object]:
    *numbers, position = (getattr(wheel, field.name) for field in fields(wheel))
    return [*numbers, list(position)]


def _wheel(record: object) -> Wheel:
    items = _items(record, "wheel")
    if len(items) != _WHEEL_FIELDS:
        raise UsageError(f"wheel physics has {len(items)} fields, expected {_WHEEL_FIELDS}")
    numbers = [_number(item, "wheel") for item in items[:-1]]
    return Wheel(
        tire_friction=numbers[0],
        damping_rate=numbers[1],
        max_steer_angle_deg=numbers[2],
        radius_cm=numbers[3],
        max_brake_torque_nm=numbers[4],
        max_handbrake_torque_nm=numbers[5],
        lat_stiff_max_load=numbers[6],
        lat_stiff_value=numbers[7],
        long_stiff_value=numbers[8],
        position_cm=_vector(items[-1], "wheel position"),
    )


def _gear(record: object) -> Gear:
    numbers = [_number(item, "gear") for item in _items(record, "gear")]
    if len(numbers) != _GEAR_FIELDS:
        raise UsageError(f"gear physics has {len(numbers)} fields, expected {_GEAR_FIELDS}")
    return Gear(ratio=numbers[0], down_ratio=numbers[1], up_ratio=numbers[2])


def _items(record: object, name: str) -> Sequence[object]:
    if not isinstance(record, (list, tuple)):
        raise UsageError(f"vehicle physics {name} is {record!r}, expected a list")
    return record


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"vehicle physics {name} is {value!r}, expected a finite number")
    return float(value)


def _vector(record: object, name: str) -> Vector3:
    numbers = [_number(item, name) for item in _items(record, name)]
    if len(numbers) != 3:
        raise UsageError(f"vehicle physics {name} is {record!r}, expected x, y and z")
    return numbers[0], numbers[1], numbers[2]


def _curve(record: object, name: str) -> tuple[CurvePoint, ...]:
    points = []
    for item in _items(record, name):
        pair = _items(item, name)
        if len(pair) != 2:
            raise UsageError(f"vehicle physics {name} holds {item!r}, expected pairs x, y")
        points.append((_number(pair[0], name), _number(pair[1], name)))
    return tuple(points)


def encode_telemetry(telemetry: VehicleTelemetry) -> list[Any]:
    """Encode a vehicle's telemetry."""
    *figures, wheels = telemetry
    return [*figures, [list(wheel) for wheel in wheels]]
