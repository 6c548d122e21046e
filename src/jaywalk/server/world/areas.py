"""What a place means for a vehicle: the light it stands at and the speed limit in force."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.server.world.lights import GREEN
from jaywalk.server.world.tables import Kind
from jaywalk.town.limits import SpeedLimits, speed_limit_at

_VEHICLE: Final = int(Kind.VEHICLE)
DEFAULT_LIMIT_KMH: Final = 30.0
# A limit is looked up every tenth tick: a car moves a few metres between two looks.
_LIMIT_PERIOD: Final = 10


@kernel
def mark_lights(
    actors: NDArray[Any], rows: int, boxes: NDArray[np.float64], owner: NDArray[np.int64],
    lights: NDArray[Any],
) -> None:  # fmt: skip
    """Tell every vehicle whether it is at a traffic light.

    Args:
        actors: The actor table.
        rows: Rows in use.
        boxes: (n, 7) stop boxes: centre x, y, z, lane yaw (rad), half length, width, height.
        owner: (n,) index of each box's light.
        lights: The light table.
    """
    for index in range(rows):
        row = actors[index]
        if row.id == 0 or row.kind != _VEHICLE:
            continue
        row.light_state, row.at_light, row.light_id = GREEN, 0, 0
        forward_x, forward_y = np.cos(row.yaw), np.sin(row.yaw)
        centre_x = row.x + row.cx * forward_x
        centre_y = row.y + row.cx * forward_y
        reach = row.ex + row.ey + 4.0
        for k in range(len(boxes)):
            dx, dy = boxes[k, 0] - centre_x, boxes[k, 1] - centre_y
            if dx * dx + dy * dy > reach * reach or abs(boxes[k, 2] - row.z) > 4.0:
                continue
            lane_x, lane_y = np.cos(boxes[k, 3]), np.sin(boxes[k, 3])
            if forward_x * lane_x + forward_y * lane_y <= 0.5:
                continue
            if _overlap(dx, dy, forward_x, forward_y, row.ex, row.ey, lane_x, lane_y,
                        boxes[k, 4], boxes[k, 5]):  # fmt: skip
                light = lights[owner[k]]
                row.light_state, row.at_light, row.light_id = light.state, 1, light.actor
                break


@kernel
def _overlap(
    dx: float, dy: float, ax: float, ay: float, a_long: float, a_wide: float,
    bx: float, by: float, b_long: float, b_wide: float,
) -> bool:  # fmt: skip
    """Separating-axis test of two rectangles whose centres are (dx, dy) apart."""
    cos = abs(ax * bx + ay * by)
    sin = abs(ax * by - ay * bx)
    if abs(dx * ax + dy * ay) > a_long + b_long * cos + b_wide * sin:
        return False
    if abs(dy * ax - dx * ay) > a_wide + b_long * sin + b_wide * cos:
        return False
    if abs(dx * bx + dy * by) > b_long + a_long * cos + a_wide * sin:
        return False
    return bool(abs(dy * bx - dx * by) <= b_wide + a_long * sin + a_wide * cos)


@kernel
def update_limits(actors: NDArray[Any], rows: int, limits: SpeedLimits, frame: int) -> None:
    """Latch the road's speed limit into each vehicle; where the road says nothing it stays.

    All on the same tick: when a vehicle gets its limit must not depend on who else is there.
    """
    if frame % _LIMIT_PERIOD:
        return
    for index in range(rows):
        row = actors[index]
        if row.id == 0 or row.kind != _VEHICLE:
            continue
        limit = speed_limit_at(limits, row.x, row.y, row.z, row.yaw)
        if not np.isnan(limit):
            row.speed_limit_kmh = limit
