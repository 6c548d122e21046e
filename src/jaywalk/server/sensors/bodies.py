"""Plain bodies of vehicles: hull, cabin and wheels; two-wheelers carry a rider."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.figure import put_rider
from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.solids import (
    BUS_WINDOWS,
    CYLINDER,
    GLASS,
    HULL,
    PLAIN,
    Paint,
    Solids,
    put_box,
    put_rod,
)

CAR: Final = 14
TRUCK: Final = 15
BUS: Final = 16
MOTORCYCLE: Final = 18
BICYCLE: Final = 19
MOST_VEHICLE_PARTS: Final = 14
_TALL_M: Final = 0.92  # half height from which a vehicle is drawn as a van


@kernel
def is_vehicle_label(label: int) -> bool:
    """True for labels that are drawn as a vehicle."""
    return CAR <= label <= BUS or label in (MOTORCYCLE, BICYCLE)


@kernel
def put_vehicle(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    box_centre: tuple[float, float, float],
    half: tuple[float, float, float],
    paint: Paint,
) -> int:
    """Write the parts of a vehicle that fills the given box; return the next free row."""
    if paint.label in (MOTORCYCLE, BICYCLE):
        return _put_two_wheeler(solids, k, origin, axes, box_centre, half, paint)
    cx, cy, cz = box_centre
    ex, ey, ez = half
    floor = cz - ez
    height = 2.0 * ez
    wheel = min(0.5 * height * 0.46, 0.5)
    if paint.label in (TRUCK, BUS) or ez > _TALL_M:
        hull = _painted(paint, BUS_WINDOWS)
        low, high = floor + 0.7 * wheel, floor + height
        put_box(solids, k, origin, axes, (cx, cy, 0.5 * (low + high)),
                (ex, ey, 0.5 * (high - low)), hull)  # fmt: skip
        k += 1
    else:
        low, waist, high = floor + 0.55 * wheel, floor + 0.60 * height, floor + height
        put_box(solids, k, origin, axes, (cx, cy, 0.5 * (low + waist)),
                (ex, ey, 0.5 * (waist - low)), _painted(paint, HULL))  # fmt: skip
        put_box(solids, k + 1, origin, axes, (cx - 0.12 * ex, cy, 0.5 * (waist + high)),
                (0.56 * ex, 0.86 * ey, 0.5 * (high - waist)), _painted(paint, GLASS))  # fmt: skip
        k += 2
    tyre = Paint(paint.label, paint.owner, paint.object_id, paint.instance, 25, 25, 25, PLAIN)
    for i in range(4):
        x = cx + (0.62 if i < 2 else -0.60) * ex
        side = 1.0 if i % 2 == 0 else -1.0
        put_rod(solids, k, CYLINDER, origin, axes,
                (x, cy + side * (ey - 0.22), floor + wheel),
                (x, cy + side * (ey + 0.001), floor + wheel), wheel, tyre)  # fmt: skip
        k += 1
    return k


@kernel
def _painted(paint: Paint, pattern: int) -> Paint:
    return Paint(
        paint.label,
        paint.owner,
        paint.object_id,
        paint.instance,
        paint.red,
        paint.green,
        paint.blue,
        pattern,
    )


@kernel
def _put_two_wheeler(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    box_centre: tuple[float, float, float],
    half: tuple[float, float, float],
    paint: Paint,
) -> int:
    cx, cy, cz = box_centre
    ex, _, ez = half
    floor = cz - ez
    wheel = min(0.34, 0.62 * ez)
    width = 0.07 if paint.label == MOTORCYCLE else 0.025
    tyre = Paint(paint.label, paint.owner, paint.object_id, paint.instance, 25, 25, 25, PLAIN)
    for sign in (1.0, -1.0):
        x = cx + sign * (ex - wheel)
        put_rod(solids, k, CYLINDER, origin, axes, (x, cy - width, floor + wheel),
                (x, cy + width, floor + wheel), wheel, tyre)  # fmt: skip
        k += 1
    seat = min(0.85, 2.0 * ez - 0.12)
    put_box(solids, k, origin, axes, (cx, cy, floor + 0.5 * (wheel + seat)),
            (0.55 * ex, 0.04 + 2.0 * width, 0.5 * (seat - wheel)), paint)  # fmt: skip
    put_box(solids, k + 1, origin, axes, (cx + 0.62 * ex, cy, floor + 2.0 * ez - 0.06),
            (0.05, min(0.32, half[1]), 0.04), paint)  # fmt: skip
    return put_rider(solids, k + 2, origin, axes, (cx, cy, floor), seat, paint)
