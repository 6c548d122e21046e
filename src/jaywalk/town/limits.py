"""Speed limits by position and heading, from points on lane centres in a grid.

The limit comes from the lane's speed record, else the road's ``<type><speed>``. Frame: CARLA's
left-handed world, metres, radians.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.roads import lane_speed_kmh

_CELL_M = 6.0
_STEP_M = 2.0
_TRAFFIC_KINDS = frozenset({"driving", "bidirectional", "entry", "exit", "onRamp", "offRamp"})


class SpeedLimits(NamedTuple):
    """Lane points sorted by cell; cell k owns ``points[starts[k]:starts[k + 1]]``."""

    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    starts: NDArray[np.int32]
    points: NDArray[np.float64]  # (n, 6): x, y, z, cos yaw, sin yaw, km/h (NaN: not given)


def build_limits(strips: list[LaneStrip]) -> SpeedLimits:
    """Collect the limits of all lanes for motor traffic, junctions included."""
    pieces = [_strip_points(s) for s in strips if s.kind in _TRAFFIC_KINDS]
    points = np.concatenate(pieces) if pieces else np.empty((0, 6))
    if not len(points):
        return SpeedLimits(0.0, 0.0, _CELL_M, 0, 0, np.zeros(1, np.int32), points)
    x0, y0 = points[:, :2].min(axis=0) - 0.5
    column = ((points[:, 0] - x0) / _CELL_M).astype(np.int64)
    row = ((points[:, 1] - y0) / _CELL_M).astype(np.int64)
    columns, rows = int(column.max()) + 1, int(row.max()) + 1
    cell = row * columns + column
    order = np.argsort(cell, kind="stable")
    starts = np.zeros(columns * rows + 1, np.int32)
    np.cumsum(np.bincount(cell, minlength=columns * rows), out=starts[1:])
    return SpeedLimits(
        float(x0), float(y0), _CELL_M, columns, rows, starts, np.ascontiguousarray(points[order])
    )


def _strip_points(strip: LaneStrip) -> NDArray[np.float64]:
    centre = strip.centre_m
    step = max(1, round(_STEP_M / max(strip.s_m[1] - strip.s_m[0], 1e-6)))
    along = np.gradient(centre[:, :2], axis=0) * (-1.0 if strip.lane.lane_id > 0 else 1.0)
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    if strip.lane.speeds or len(strip.road.speeds) > 1:
        limit = np.array([lane_speed_kmh(strip.road, strip.lane, s) for s in strip.s_m])
    else:
        limit = np.full(len(centre), strip.road.speed_kmh(strip.road.length_m))
    return np.column_stack([centre, along, limit])[::step]


@kernel
def speed_limit_at(
    limits: SpeedLimits, x_m: float, y_m: float, z_m: float, yaw_rad: float
) -> float:
    """Limit (km/h) of the lane at a position for the heading ``yaw_rad``; NaN if none is given.

    The nearest lane point within 6 m decides. A point on another level (over 3 m) does not count,
    and a lane of another direction counts as if it were up to 6 m further away.
    """
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    column = int(np.floor((x_m - limits.x0_m) / limits.cell_m))
    row = int(np.floor((y_m - limits.y0_m) / limits.cell_m))
    best, best_gap = np.nan, 144.0
    for j in range(max(row - 1, 0), min(row + 2, limits.rows)):
        for i in range(max(column - 1, 0), min(column + 2, limits.columns)):
            cell = j * limits.columns + i
            for k in range(limits.starts[cell], limits.starts[cell + 1]):
                dx, dy = limits.points[k, 0] - x_m, limits.points[k, 1] - y_m
                near = dx * dx + dy * dy
                if near > 36.0 or abs(limits.points[k, 2] - z_m) > 3.0:
                    continue
                agree = limits.points[k, 3] * cos + limits.points[k, 4] * sin
                penalty = 3.0 * (1.0 - agree)
                gap = (np.sqrt(near) + penalty) ** 2
                if gap < best_gap:
                    best, best_gap = limits.points[k, 5], gap
    return best
