"""Ackermann control: a wanted speed, acceleration and wheel angle become pedals and steer."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jaywalk.core.kernels import kernel
from jaywalk.server.world.longitudinal import acceleration_at, next_speed

_SPEED_GAIN: Final = 3.0  # 1/s: wanted acceleration per speed error
_MAX_ACCELERATION_MPS2: Final = 8.0
_MAX_DECELERATION_MPS2: Final = 8.0
_STOP_MPS: Final = 0.1


@kernel
def _throttle_for(
    acceleration_mps2: float, speed_mps: float, scale: float, top_mps: float
) -> float:
    """Throttle that gives this acceleration; the law rises with the throttle, so bisect."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        if acceleration_at(speed_mps, middle, scale, top_mps) < acceleration_mps2:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def ackermann_pedals(row: Any, model: Any, dt_s: float) -> None:
    """Set throttle, brake, reverse and steer of a vehicle from its Ackermann target.

    The speed error asks for an acceleration (limited by ``ack_accel`` when that is not 0), the
    fitted law turned around gives the pedal. A speed target of 0 ends in a full stop.
    """
    target = row["ack_speed"] if np.isfinite(row["ack_speed"]) else 0.0
    angle = row["ack_steer"] if np.isfinite(row["ack_steer"]) else 0.0
    rate = row["ack_steer_speed"] if np.isfinite(row["ack_steer_speed"]) else 0.0
    wanted = min(max(angle / model["max_wheel_angle_rad"], -1.0), 1.0)
    if rate > 0.0:
        most = rate / model["max_wheel_angle_rad"] * dt_s
        wanted = row["steer"] + min(max(wanted - row["steer"], -most), most)
    row["steer"] = wanted

    speed = row["v_long"]
    row["throttle"], row["brake"] = 0.0, 0.0
    if abs(target) < _STOP_MPS and abs(speed) < _STOP_MPS:
        row["brake"] = 1.0
        return
    if abs(speed) < _STOP_MPS:
        row["reverse"] = 1 if target < 0.0 else 0
    direction = -1.0 if row["reverse"] else 1.0
    along, error = speed * direction, (target - speed) * direction
    row["ack_speed_err"] = error
    limit = abs(row["ack_accel"]) if np.isfinite(row["ack_accel"]) else 0.0
    wish = _SPEED_GAIN * error
    wish = min(wish, limit if limit > 0.0 else _MAX_ACCELERATION_MPS2)
    wish = max(wish, -limit if limit > 0.0 else -_MAX_DECELERATION_MPS2)
    row["ack_accel_err"] = wish
    scale, top = model["throttle_scale"], model["top_speed_mps"]
    coasting = acceleration_at(along, 0.0, scale, top)
    if wish >= coasting:
        row["throttle"] = _throttle_for(wish, along, scale, top)
    else:
        full = (next_speed(max(along, 0.2), 0.0, 1.0, False, 1, 0.0, 1.0, model, 0.05)
                - max(along, 0.2)) / 0.05  # fmt: skip
        row["brake"] = min(max((wish - coasting) / min(full - coasting, -0.1), 0.0), 1.0)
