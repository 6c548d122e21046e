"""Packs the actor table into the records of a world snapshot (119 bytes an actor, section 5.3)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.core.units import RAD_TO_DEG
from jaywalk.server.world.tables import Kind

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


# Speeds at which the stock automatic box shifts up: 65 % of 6300 rpm through gears of 3.73, 2.05,
# 1.39 and 1.03, a final drive of 4 and wheels of 0.355 m radius.
_SHIFTS_UP_MPS = (10.2, 18.6, 27.4, 36.9)


@kernel
def shown_gear(gear: int, manual: int, speed_mps: float) -> int:
    """The gear that clients read: what an automatic box would have chosen, as CARLA reports it."""
    if manual or gear < 1:  # chosen by the driver, reverse, or never driven
        return gear
    shown = 1
    for limit_mps in _SHIFTS_UP_MPS:
        if speed_mps > limit_mps:
            shown += 1
    return shown


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

    def pack(
        self,
        actors: NDArray[np.void],
        rows: int,
        lights: NDArray[np.void],
        sign_rows: NDArray[np.int32],
        sign_names: NDArray[np.uint8],
    ) -> bytes:
        """Records of all actors, ready to be put behind the snapshot header."""
        size = rows * RECORD_BYTES
        if len(self._buffer) < size:
            self._buffer = np.zeros(2 * size, np.uint8)
        buffer = self._buffer[:size]
        buffer[:] = 0
        count = _pack(
            actors,
            rows,
            lights,
            sign_rows,
            sign_names,
            buffer.view(VEHICLE_RECORD),
            buffer.view(WALKER_RECORD),
            buffer.view(LIGHT_RECORD),
        )
        return buffer[: count * RECORD_BYTES].tobytes()
