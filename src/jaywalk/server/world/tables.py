"""The actor table: one row per actor, one structured array for the whole world.

Every kernel (dynamics, contacts, sensors, snapshot packing) reads and writes rows of this table, so
the layout is the contract between them. Frame: CARLA's left-handed world, metres and radians.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np


class Kind(IntEnum):
    """What an actor is, as far as the world's kernels care."""

    OTHER = 0  # spectator, controllers
    VEHICLE = 1
    WALKER = 2
    PROP = 3
    SENSOR = 4
    LIGHT = 5
    SIGN = 6


ACTOR: Final = np.dtype(
    [
        ("id", "u4"),  # 0 marks a free row
        ("kind", "u1"),
        ("physics", "u1"),  # 0: moved only by teleports
        ("collides", "u1"),
        ("gravity", "u1"),
        ("attached", "u1"),  # pose follows parent_row each tick
        ("parent_row", "i4"),
        ("model", "i4"),  # row of the vehicle-model table / rig index of a walker
        # pose of the actor's origin, world frame
        ("x", "f8"), ("y", "f8"), ("z", "f8"),
        ("pitch", "f8"), ("yaw", "f8"), ("roll", "f8"),
        # velocity m/s, angular velocity rad/s, acceleration m/s2, world frame
        ("vx", "f8"), ("vy", "f8"), ("vz", "f8"),
        ("wx", "f8"), ("wy", "f8"), ("wz", "f8"),
        ("ax", "f8"), ("ay", "f8"), ("az", "f8"),
        # box: centre offset in the actor's frame, half extents; mass
        ("cx", "f8"), ("cy", "f8"), ("cz", "f8"),
        ("ex", "f8"), ("ey", "f8"), ("ez", "f8"),
        ("mass", "f8"),
        # pose relative to the parent (attached actors)
        ("rel_x", "f8"), ("rel_y", "f8"), ("rel_z", "f8"),
        ("rel_pitch", "f8"), ("rel_yaw", "f8"), ("rel_roll", "f8"),
        # vehicle control (latched) and what the snapshot says of a vehicle
        ("throttle", "f8"), ("steer", "f8"), ("brake", "f8"),
        ("hand_brake", "u1"), ("reverse", "u1"), ("manual_gear", "u1"), ("gear", "i4"),
        ("speed_limit_kmh", "f4"),
        ("light_state", "u1"), ("at_light", "u1"), ("light_id", "u4"), ("failure", "u1"),
        ("light_flags", "u4"),  # vehicle lamps
        # vehicle dynamics state
        ("v_long", "f8"), ("v_lat", "f8"), ("yaw_rate", "f8"),  # body frame, at the origin
        ("wheel_angle", "f8"),  # road-wheel angle of the front axle, rad
        ("age_s", "f8"),  # simulated time since spawn
        ("settled", "u1"),  # 1 once on the ground
        # constant-velocity mode (vehicle frame) and Ackermann control
        ("const_vel", "u1"), ("cvx", "f8"), ("cvy", "f8"), ("cvz", "f8"),
        ("ackermann", "u1"), ("ack_steer", "f8"), ("ack_steer_speed", "f8"), ("ack_speed", "f8"),
        ("ack_accel", "f8"), ("ack_jerk", "f8"), ("ack_speed_err", "f8"), ("ack_accel_err", "f8"),
        ("ack_speed_int", "f8"), ("ack_accel_int", "f8"),
        # external impulse (kg m/s) and force (N) to apply in the next step, world frame
        ("imp_x", "f8"), ("imp_y", "f8"), ("imp_z", "f8"), ("imp_yaw", "f8"),
        ("force_x", "f8"), ("force_y", "f8"), ("force_z", "f8"), ("torque_yaw", "f8"),
        # walker control (latched) and state
        ("dir_x", "f8"), ("dir_y", "f8"), ("dir_z", "f8"), ("walk_speed", "f8"), ("jump", "u1"),
        ("down_s", "f8"),  # > 0: knocked down, seconds left (inf: for good)
        ("gait_phase", "f8"),  # 0..1 of the built-in walk cycle
        ("ai", "u1"),  # driven by WalkerState commands of the client's navigation
        # pose before this step, for velocities of teleported actors and for contacts
        ("prev_x", "f8"), ("prev_y", "f8"), ("prev_z", "f8"), ("prev_yaw", "f8"),
        ("teleported", "u1"),  # moved by a command since the last step
    ],
    align=True,
)  # fmt: skip
