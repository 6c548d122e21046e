"""The physics control of a vehicle, as programs read and change it.

Field order and units are CARLA's. The engine, gear and brake values are those that the simulator
prints for a standard car (torque 400-500 Nm, 5 gears, drag 0.3, steering curve 1 to 0.7, brake
torque 1500, hand brake 3000 on the rear wheels). Values per model are not published, so wheelbase,
track, wheel radius and the larger engines are derived from the size of the vehicle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.server.world._blueprint_types import Blueprint, Vector3
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._vehicle_blueprints import TWO_WHEELED

CurvePoint = tuple[float, float]

_RADIUS_CM: Final = {
    "car": 35.0,
    "van": 37.0,
    "truck": 50.0,
    "bus": 48.0,
    "motorcycle": 31.0,
    "bicycle": 35.0,
}
_WHEELBASE_SHARE: Final = 0.583  # of the length; gives the 2.85 m of mkz_2020
_TRACK_SHARE: Final = 0.86  # of the width
_BIKE_SIDE_CM: Final = 1.0
_MAX_STEER_DEG: Final = 70.0
_BRAKE_NM: Final = 1500.0
_HAND_BRAKE_NM: Final = 3000.0
_STOCK_MASS_KG: Final = 1850.0
_CM: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gear:
    """One forward gear; the ratios of the engine speed at which it shifts down and up."""

    ratio: float
    down_ratio: float = 0.2
    up_ratio: float = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """One wheel. Its position is in centimetres, in the vehicle's frame unless stated otherwise."""

    tire_friction: float = 3.5
    damping_rate: float = 0.25
    max_steer_angle_deg: float
    radius_cm: float
    max_brake_torque_nm: float = _BRAKE_NM
    max_handbrake_torque_nm: float
    lat_stiff_max_load: float = 2.0
    lat_stiff_value: float = 17.0
    long_stiff_value: float = 1000.0
    position_cm: Vector3


@dataclass(frozen=True, slots=True, kw_only=True)
class VehiclePhysics:
    """All 17 fields of CARLA's physics control, in its order."""

    torque_curve: tuple[CurvePoint, ...]
    max_rpm: float
    moi: float
    damping_full_throttle: float
    damping_zero_clutch_engaged: float
    damping_zero_clutch_disengaged: float
    use_gear_autobox: bool
    gear_switch_time_s: float
    clutch_strength: float
    final_ratio: float
    gears: tuple[Gear, ...]
    mass_kg: float
    drag_coefficient: float
    center_of_mass_m: Vector3
    steering_curve: tuple[CurvePoint, ...]  # km/h, share of the full angle
    wheels: tuple[Wheel, ...]
    use_sweep_wheel_collision: bool

    def at_pose(
        self, location_m: Vector3, *, pitch_rad: float, yaw_rad: float, roll_rad: float
    ) -> VehiclePhysics:
        """Return a copy with wheel positions in the world frame, as clients expect them."""
        rotation = rotation_matrix_carla(
            math.degrees(pitch_rad), math.degrees(yaw_rad), math.degrees(roll_rad)
        )
        wheels = tuple(
            replace(wheel, position_cm=_placed(wheel.position_cm, location_m, rotation))
            for wheel in self.wheels
        )
        return replace(self, wheels=wheels)


def default_physics(blueprint: Blueprint) -> VehiclePhysics:
    """Return the initial physics of a vehicle of this blueprint; wheels in the vehicle frame.

    Raises:
        UsageError: The blueprint is not a vehicle.
    """
    if blueprint.kind is not Kind.VEHICLE:
        raise UsageError(f"{blueprint.id} has no physics control, expected a vehicle blueprint")
    base_type = blueprint.value("base_type")
    # Heavier vehicles get a stronger engine and brakes, so that all respond alike.
    strength = max(blueprint.body.mass_kg / _STOCK_MASS_KG, 0.1)
    low_nm, high_nm = 400.0 * strength, 500.0 * strength
    return VehiclePhysics(
        torque_curve=((0.0, low_nm), (1890.76, high_nm), (5729.58, low_nm)),
        max_rpm=6300.0 if base_type in ("car", "van") else 5000.0,
        moi=1.0,
        damping_full_throttle=0.15,
        damping_zero_clutch_engaged=2.0,
        damping_zero_clutch_disengaged=0.35,
        use_gear_autobox=True,
        gear_switch_time_s=0.5 if blueprint.value("special_type") != "electric" else 0.0,
        clutch_strength=10.0,
        final_ratio=4.0,
        gears=tuple(Gear(ratio=ratio) for ratio in (3.73, 2.05, 1.39, 1.03, 0.82)),
        mass_kg=blueprint.body.mass_kg,
        drag_coefficient=0.3 if base_type == "car" else 0.45,
        center_of_mass_m=(0.45, 0.0, -0.3) if base_type not in TWO_WHEELED else (0.1, 0.0, 0.1),
        steering_curve=((0.0, 1.0), (20.0, 0.9), (60.0, 0.8), (120.0, 0.7)),
        wheels=_wheels(blueprint, base_type, max(strength, 1.0)),
        use_sweep_wheel_collision=False,
    )


def _wheels(blueprint: Blueprint, base_type: str, strength: float) -> tuple[Wheel, ...]:
    """Front left, front right, rear left, rear right; y points right."""
    half_x_m, half_y_m, _ = blueprint.body.half_extents_m
    middle_cm = _CM * blueprint.body.centre_m[0]
    reach_cm = _CM * _WHEELBASE_SHARE * half_x_m
    side_cm = _CM * _TRACK_SHARE * half_y_m
    # The Microlino is the only car too small for stock wheels.
    radius_cm = min(_RADIUS_CM[base_type], 0.36 * _CM * blueprint.body.half_extents_m[2] * 2.0)
    # The simulator gives bikes four wheels too, two of them in line with the others.
    side_cm = _BIKE_SIDE_CM if base_type in TWO_WHEELED else side_cm
    return tuple(
        Wheel(
            max_steer_angle_deg=_MAX_STEER_DEG if front else 0.0,
            radius_cm=radius_cm,
            max_brake_torque_nm=_BRAKE_NM * strength,
            max_handbrake_torque_nm=0.0 if front else _HAND_BRAKE_NM * strength,
            position_cm=(middle_cm + (reach_cm if front else -reach_cm), side, radius_cm),
        )
        for front in (True, False)
        for side in (-side_cm, side_cm)
    )


def _placed(point_cm: Vector3, origin_m: Vector3, rotation: FloatArray) -> Vector3:
    x, y, z = (_CM * np.array(origin_m) + rotation @ np.array(point_cm)).tolist()
    return x, y, z
