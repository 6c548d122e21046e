"""World snapshots: a header and one record of 119 bytes per actor."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.core.units import RAD_TO_DEG
from jaywalk.server.encoding._sensor_frames import pack_header
from jaywalk.server.encoding.codec import Dialect
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._vehicle_models import shown_gear
from jaywalk.server.world._world import World

RECORD_BYTES: Final = 119
_HEAD: Final = [
    ("id", "<u4"),
    ("state", "u1"),
    ("x", "<f4"),
    ("y", "<f4"),
    ("z", "<f4"),
    ("pitch", "<f4"),
    ("yaw", "<f4"),
    ("roll", "<f4"),
    ("vx", "<f4"),
    ("vy", "<f4"),
    ("vz", "<f4"),
    ("wx", "<f4"),
    ("wy", "<f4"),
    ("wz", "<f4"),
    ("ax", "<f4"),
    ("ay", "<f4"),
    ("az", "<f4"),
]


def _record(union: list[tuple[Any, ...]]) -> np.dtype[np.void]:
    dtype = np.dtype(_HEAD + union)
    pad = RECORD_BYTES - dtype.itemsize
    return np.dtype(_HEAD + union + ([("pad", "u1", (pad,))] if pad else []))


VEHICLE_RECORD: Final = _record(
    [
        ("throttle", "<f4"),
        ("steer", "<f4"),
        ("brake", "<f4"),
        ("hand_brake", "u1"),
        ("reverse", "u1"),
        ("manual_gear", "u1"),
        ("gear", "<i4"),
        ("speed_limit", "<f4"),
        ("light_state", "u1"),
        ("at_light", "u1"),
        ("light_id", "<u4"),
        ("failure", "u1"),
    ]
)
WALKER_RECORD: Final = _record(
    [("dx", "<f4"), ("dy", "<f4"), ("dz", "<f4"), ("speed", "<f4"), ("jump", "u1")]
)
LIGHT_RECORD: Final = _record(
    [
        ("sign", "u1", (32,)),
        ("green", "<f4"),
        ("yellow", "<f4"),
        ("red", "<f4"),
        ("elapsed", "<f4"),
        ("pole", "<u4"),
        ("frozen", "u1"),
        ("light", "u1"),
    ]
)

_VEHICLE, _WALKER = int(Kind.VEHICLE), int(Kind.WALKER)
_TURN = 2.0 * np.pi


@kernel
def _pack(  # type: ignore[no-untyped-def]
    actors, rows, lights, sign_rows, sign_names, vehicles, walkers, light_records
) -> int:
    """Fill the three views of one record buffer; returns how many records were written."""
    count = 0
    for row in range(rows):
        actor = actors[row]
        if actor.id == 0:
            continue
        head = vehicles[count]
        head.id = actor.id
        head.state = 1
        head.x, head.y, head.z = actor.x, actor.y, actor.z
        # The table counts full turns, clients expect a yaw within half a turn.
        yaw = actor.yaw - _TURN * np.ceil((actor.yaw - np.pi) / _TURN)
        head.pitch, head.yaw, head.roll = (
            actor.pitch * RAD_TO_DEG,
            yaw * RAD_TO_DEG,
            actor.roll * RAD_TO_DEG,
        )
        head.vx, head.vy, head.vz = actor.vx, actor.vy, actor.vz
        head.wx, head.wy, head.wz = (
            actor.wx * RAD_TO_DEG,
            actor.wy * RAD_TO_DEG,
            actor.wz * RAD_TO_DEG,
        )
        head.ax, head.ay, head.az = actor.ax, actor.ay, actor.az
        if actor.kind == _VEHICLE:
            head.throttle, head.steer, head.brake = actor.throttle, actor.steer, actor.brake
            head.hand_brake = actor.hand_brake
            head.reverse = actor.reverse
            head.manual_gear = actor.manual_gear
            speed = np.hypot(actor.vx, actor.vy)
            head.gear = shown_gear(actor.gear, actor.manual_gear, speed)
            head.speed_limit = actor.speed_limit_kmh
            head.light_state = actor.light_state
            head.at_light = actor.at_light
            head.light_id = actor.light_id
            head.failure = actor.failure
        elif actor.kind == _WALKER:
            walker = walkers[count]
            walker.dx, walker.dy, walker.dz = actor.dir_x, actor.dir_y, actor.dir_z
            walker.speed = actor.walk_speed
            walker.jump = actor.jump
        elif actor.kind >= 5:  # lights and signs: model is their index in the sign tables
            record = light_records[count]
            for k in range(32):
                record.sign[k] = sign_names[actor.model, k]
            index = sign_rows[actor.model]
            if index >= 0:
                light = lights[index]
                record.green, record.yellow, record.red = light.green, light.yellow, light.red
                record.elapsed = light.elapsed
                record.pole = light.pole
                record.frozen = light.frozen
                record.light = light.state
        count += 1
    return count


class SnapshotPacker:
    """Owns the record buffer and packs into it; the buffer is zeroed where rows changed kind."""

    def __init__(self) -> None:
        self._buffer: NDArray[np.uint8] = np.zeros(0, np.uint8)

    def pack(self, world: World) -> bytes:
        """Pack the records of all actors of a world."""
        columns = world.columns
        size = columns.rows * RECORD_BYTES
        if len(self._buffer) < size:
            self._buffer = np.zeros(2 * size, np.uint8)
        buffer = self._buffer[:size]
        buffer[:] = 0
        count = _pack(
            columns.table,
            columns.rows,
            world.lights.lights,
            world.sign_lights,
            world.sign_names,
            buffer.view(VEHICLE_RECORD),
            buffer.view(WALKER_RECORD),
            buffer.view(LIGHT_RECORD),
        )
        return buffer[: count * RECORD_BYTES].tobytes()


_HEADER: Final = struct.Struct("<Qdf3iI")
_MAP_CHANGED, _STREET_LIGHTS_CHANGED = 1, 2
_ORIGIN: Final = SensorPose(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def encode_snapshot(
    dialect: Dialect,
    *,
    episode_id: int,
    frame: int,
    time_s: float,
    delta_s: float,
    map_changed: bool,
    street_lights_changed: bool,
    records: bytes,
) -> bytes:
    """Encode a world snapshot from its header values and the packed records of its actors."""
    flags = map_changed * _MAP_CHANGED | street_lights_changed * _STREET_LIGHTS_CHANGED
    return (
        pack_header(dialect.snapshot_type, frame, time_s, _ORIGIN)
        # The platform time is simulated time too, so that equal runs give equal bytes.
        + _HEADER.pack(episode_id, time_s, delta_s, 0, 0, 0, flags)
        + records
    )
