"""The actor table: one row per actor, one structured array for the whole world.

All kernels (dynamics, contacts, sensors, snapshot packing) read and write rows of this table and
rely on its layout. Frame: CARLA's left-handed world, metres and radians. Views of the table by
column are much faster than indexing rows from Python. :class:`Actor` holds the facts about an actor
that are not in its row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import ActorKind

Kind = ActorKind


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
        ("x", "f8"),
        ("y", "f8"),
        ("z", "f8"),
        ("pitch", "f8"),
        ("yaw", "f8"),
        ("roll", "f8"),
        # velocity m/s, angular velocity rad/s, acceleration m/s2, world frame
        ("vx", "f8"),
        ("vy", "f8"),
        ("vz", "f8"),
        ("wx", "f8"),
        ("wy", "f8"),
        ("wz", "f8"),
        ("ax", "f8"),
        ("ay", "f8"),
        ("az", "f8"),
        # box: centre offset in the actor's frame, half extents; mass
        ("cx", "f8"),
        ("cy", "f8"),
        ("cz", "f8"),
        ("ex", "f8"),
        ("ey", "f8"),
        ("ez", "f8"),
        ("mass", "f8"),
        # pose relative to the parent (attached actors)
        ("rel_x", "f8"),
        ("rel_y", "f8"),
        ("rel_z", "f8"),
        ("rel_pitch", "f8"),
        ("rel_yaw", "f8"),
        ("rel_roll", "f8"),
        # vehicle control (latched) and the values of a vehicle in the snapshot
        ("throttle", "f8"),
        ("steer", "f8"),
        ("brake", "f8"),
        ("hand_brake", "u1"),
        ("reverse", "u1"),
        ("manual_gear", "u1"),
        ("gear", "i4"),
        ("speed_limit_kmh", "f4"),
        ("light_state", "u1"),
        ("at_light", "u1"),
        ("light_id", "u4"),
        ("failure", "u1"),
        ("light_flags", "u4"),  # vehicle lamps
        # vehicle dynamics state
        ("v_long", "f8"),
        ("v_lat", "f8"),
        ("yaw_rate", "f8"),  # body frame, at the origin
        ("wheel_angle", "f8"),  # road-wheel angle of the front axle, rad
        ("age_s", "f8"),  # simulated time since spawn
        ("settled", "u1"),  # 1 once on the ground
        # constant-velocity mode (vehicle frame) and Ackermann control
        ("const_vel", "u1"),
        ("cvx", "f8"),
        ("cvy", "f8"),
        ("cvz", "f8"),
        ("ackermann", "u1"),
        ("ack_steer", "f8"),
        ("ack_steer_speed", "f8"),
        ("ack_speed", "f8"),
        ("ack_accel", "f8"),
        ("ack_jerk", "f8"),
        ("ack_speed_err", "f8"),
        ("ack_accel_err", "f8"),
        ("ack_speed_int", "f8"),
        ("ack_accel_int", "f8"),
        # external impulse (kg m/s) and force (N) to apply in the next step, world frame
        ("imp_x", "f8"),
        ("imp_y", "f8"),
        ("imp_z", "f8"),
        ("imp_yaw", "f8"),
        ("force_x", "f8"),
        ("force_y", "f8"),
        ("force_z", "f8"),
        ("torque_yaw", "f8"),
        # walker control (latched) and state
        ("dir_x", "f8"),
        ("dir_y", "f8"),
        ("dir_z", "f8"),
        ("walk_speed", "f8"),
        ("jump", "u1"),
        ("down_s", "f8"),  # > 0: knocked down, seconds left (inf: for good)
        ("gait_phase", "f8"),  # 0..1 of the built-in walk cycle
        ("ai", "u1"),  # driven by WalkerState commands of the client's navigation
        # pose before this step, for velocities of teleported actors and for contacts
        ("prev_x", "f8"),
        ("prev_y", "f8"),
        ("prev_z", "f8"),
        ("prev_yaw", "f8"),
        ("teleported", "u1"),  # moved by a command since the last step
    ],
    align=True,
)


class SpawnError(Exception):
    """Raised if an actor cannot be created; the text is CARLA's message."""


# CARLA's gains: speed kp, ki, kd, acceleration kp, ki, kd.
DEFAULT_ACKERMANN_GAINS = (0.15, 0.0, 0.25, 0.01, 0.0, 0.01)


@dataclass(slots=True, kw_only=True, eq=False)
class Actor:
    """Identity and static properties; everything that moves lives in the actor table."""

    id: int
    row: int
    kind: Kind
    type_id: str
    uid: int = 0
    attributes: dict[str, tuple[int, str]] = field(default_factory=dict)  # id -> (type, value)
    parent_id: int = 0
    box_centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    box_extent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    label: int = 0
    color: tuple[int, int, int] = (128, 128, 128)
    stream_id: int = 0  # 0: no stream
    box_body: bytes | None = None  # encoded answer of get_actor_bounding_box
    ackermann_gains: tuple[float, ...] = DEFAULT_ACKERMANN_GAINS
    physics: Any = None  # VehiclePhysics after the first request
    wheel_angles_deg: dict[int, float] = field(default_factory=dict)
    wheel_pitches_deg: dict[int, float] = field(default_factory=dict)

    def value(self, attribute: str, default: str = "") -> str:
        """Value of an attribute."""
        value = self.attributes.get(attribute)
        return default if value is None else value[1]


_FIRST_CAPACITY: Final = 256


class ActorColumns:
    """The actor table: grows by doubling, hands out rows, and shows every field as an array.

    ``columns.x[row]`` reads a field; ``table`` and ``rows`` go to the kernels.
    """

    def __init__(self) -> None:
        self.table: NDArray[Any] = np.zeros(_FIRST_CAPACITY, ACTOR)
        self.rows = 0  # rows in use, free ones below included
        self._free: list[int] = []
        self._show()

    def _show(self) -> None:
        for name in ACTOR.names or ():
            setattr(self, name, self.table[name])

    def __getattr__(self, name: str) -> NDArray[Any]:
        raise AttributeError(f"the actor table has no field '{name}'")

    def take_row(self) -> int:
        """Return a zeroed row for a new actor."""
        if self._free:
            row = self._free.pop()
        else:
            row = self.rows
            self.rows += 1
            if row == len(self.table):
                self.table = np.concatenate([self.table, np.zeros(len(self.table), ACTOR)])
                self._show()
        self.table[row] = np.zeros((), ACTOR)
        return row

    def release_row(self, row: int) -> None:
        """Give a row back."""
        self.table[row] = np.zeros((), ACTOR)
        self._free.append(row)
