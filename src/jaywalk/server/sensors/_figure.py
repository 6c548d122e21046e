"""Simple bodies for sensors: people and animals made of capsules, and vehicles.

A person stands, walks, lies or rides; this figure is used for people whose joints are not given.
Its origin lies between the feet. An animal has a trunk, neck, head, tail and stepping legs. Its
origin lies on the ground below the middle. Local frame of both: x forward, y right, z up. A
vehicle has a hull, a cabin and wheels; two-wheelers carry a rider.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._solids import (
    BUS_WINDOWS,
    CAPSULE,
    CYLINDER,
    GLASS,
    HULL,
    PLAIN,
    Paint,
    Solids,
    kernel,
    put_box,
    put_rod,
)

_LONG: Final = (
    1.2  # a walker this much longer than wide goes on four legs (birds look so from afar)
)


@kernel
def is_animal(half_x_m: float, half_y_m: float) -> bool:
    """Return whether a walker's box belongs to an animal; people are as long as wide."""
    return half_x_m > _LONG * half_y_m


@kernel
def put_animal(
    solids: Solids,
    k: int,
    feet: NDArray[np.float64],
    axes: NDArray[np.float64],
    half: tuple[float, float, float],
    gait_phase: float,
    swing_rad: float,
    paint: Paint,
) -> int:
    """Write an animal that fills a box; ``swing_rad`` is 0 at rest. Diagonal legs move together.

    The trunk rises and falls twice a cycle. Returns the next free row.
    """
    ex, ey, height = half[0], half[1], 2.0 * half[2]
    hip = 0.55 * height
    lift = 0.02 * height * math.sin(4.0 * math.pi * gait_phase) if swing_rad > 0.0 else 0.0
    trunk = min(0.5 * (0.92 * height - hip), 0.95 * ey)
    back = hip + trunk + lift
    put_rod(
        solids,
        k,
        CAPSULE,
        feet,
        axes,
        (-0.55 * ex, 0.0, back),
        (0.45 * ex, 0.0, back),
        trunk,
        paint,
    )
    put_rod(
        solids,
        k + 1,
        CAPSULE,
        feet,
        axes,
        (0.45 * ex, 0.0, back + 0.3 * trunk),
        (0.78 * ex, 0.0, 0.93 * height + lift),
        0.45 * trunk,
        paint,
    )
    put_rod(
        solids,
        k + 2,
        CAPSULE,
        feet,
        axes,
        (0.74 * ex, 0.0, 0.93 * height + lift),
        (0.94 * ex, 0.0, 0.85 * height + lift),
        0.36 * trunk,
        paint,
    )
    put_rod(
        solids,
        k + 3,
        CAPSULE,
        feet,
        axes,
        (-0.75 * ex, 0.0, back + 0.4 * trunk),
        (-0.97 * ex, 0.0, hip),
        0.12 * trunk,
        paint,
    )
    k += 4
    thick = 0.22 * trunk
    for leg in range(4):
        side = -1.0 if leg < 2 else 1.0
        fore = leg % 2 == 1
        diagonal = (leg == 0) or (leg == 3)
        phase = 2.0 * math.pi * gait_phase + (0.0 if diagonal else math.pi)
        angle = swing_rad * math.sin(phase)
        bend = 0.9 * swing_rad * max(0.0, math.cos(phase))
        x, y = (0.42 if fore else -0.5) * ex, 0.55 * side * ey
        knee_x, knee_z = x + 0.5 * hip * math.sin(angle), hip - 0.5 * hip * math.cos(angle)
        foot_x = knee_x + 0.5 * hip * math.sin(angle - bend)
        foot_z = max(knee_z - 0.5 * hip * math.cos(angle - bend), thick)
        put_rod(
            solids,
            k,
            CAPSULE,
            feet,
            axes,
            (x, y, hip + lift),
            (knee_x, y, knee_z),
            1.4 * thick,
            paint,
        )
        put_rod(
            solids,
            k + 1,
            CAPSULE,
            feet,
            axes,
            (knee_x, y, knee_z),
            (foot_x, y, foot_z),
            thick,
            paint,
        )
        k += 2
    return k


PEDESTRIAN: Final = int(SemanticTag.PEDESTRIAN)
RIDER: Final = int(SemanticTag.RIDER)
FIGURE_PARTS: Final = 13
# Which colour a limb takes.
SKIN: Final = 0
TOP: Final = 1
LEGS: Final = 2


@kernel
def part_paint(paint: Paint, part: int) -> Paint:
    """Colour of one body part: clothes from the person's colour, skin from the person's id."""
    red, green, blue = paint.red, paint.green, paint.blue
    if part == SKIN:
        tone = 90 + (paint.object_id * 37) % 130
        red, green, blue = tone + 30, int(tone * 0.82), int(tone * 0.68)
    elif part == LEGS:
        shade = 35 + (paint.object_id * 53) % 60
        red, green, blue = shade, shade, shade + 25
    return Paint(paint.label, paint.owner, paint.object_id, paint.instance, red, green, blue, PLAIN)


@kernel
def put_figure(
    solids: Solids,
    k: int,
    feet: NDArray[np.float64],
    axes: NDArray[np.float64],
    height_m: float,
    gait_phase: float,
    swing_rad: float,
    paint: Paint,
) -> int:
    """Write a person of ``height_m``; ``swing_rad`` is 0 at rest, about 0.5 in a brisk walk."""
    h = height_m
    skin, top, legs = (
        part_paint(paint, SKIN),
        part_paint(paint, TOP),
        part_paint(paint, LEGS),
    )
    put_rod(
        solids, k, CAPSULE, feet, axes, (0.0, 0.0, 0.57 * h), (0.0, 0.0, 0.76 * h), 0.082 * h, top
    )
    put_rod(
        solids,
        k + 1,
        CAPSULE,
        feet,
        axes,
        (0.0, -0.085 * h, 0.80 * h),
        (0.0, 0.085 * h, 0.80 * h),
        0.045 * h,
        top,
    )
    put_rod(
        solids,
        k + 2,
        CAPSULE,
        feet,
        axes,
        (0.01 * h, 0.0, 0.905 * h),
        (0.01 * h, 0.0, 0.942 * h),
        0.058 * h,
        skin,
    )
    k += 3
    for side in (-1.0, 1.0):
        phase = 2.0 * math.pi * gait_phase + (0.0 if side < 0.0 else math.pi)
        hip = swing_rad * math.sin(phase)
        shin = hip - 1.3 * swing_rad * max(0.0, math.cos(phase))
        arm = -0.8 * hip
        fore = arm + 0.5 * swing_rad + 0.1
        y = side * 0.052 * h
        kx, kz = 0.245 * h * math.sin(hip), 0.53 * h - 0.245 * h * math.cos(hip)
        ax, az = kx + 0.24 * h * math.sin(shin), kz - 0.24 * h * math.cos(shin)
        put_rod(solids, k, CAPSULE, feet, axes, (0.0, y, 0.53 * h), (kx, y, kz), 0.045 * h, legs)
        put_rod(solids, k + 1, CAPSULE, feet, axes, (kx, y, kz), (ax, y, az), 0.031 * h, legs)
        put_rod(
            solids,
            k + 2,
            CAPSULE,
            feet,
            axes,
            (ax, y, az - 0.018 * h),
            (ax + 0.09 * h, y, az - 0.022 * h),
            0.022 * h,
            legs,
        )
        sy = side * 0.125 * h
        ex, ez = 0.165 * h * math.sin(arm), 0.80 * h - 0.165 * h * math.cos(arm)
        wx, wz = ex + 0.17 * h * math.sin(fore), ez - 0.17 * h * math.cos(fore)
        put_rod(
            solids, k + 3, CAPSULE, feet, axes, (0.0, sy, 0.80 * h), (ex, sy, ez), 0.027 * h, top
        )
        put_rod(solids, k + 4, CAPSULE, feet, axes, (ex, sy, ez), (wx, sy, wz), 0.023 * h, skin)
        k += 5
    return k


@kernel
def put_rider(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    floor: tuple[float, float, float],
    seat_m: float,
    paint: Paint,
) -> int:
    """Write a person sitting ``seat_m`` above ``floor`` on a two-wheeler."""
    rider = Paint(
        RIDER,
        paint.owner,
        paint.object_id,
        paint.instance,
        paint.red,
        paint.green,
        paint.blue,
        PLAIN,
    )
    skin, top, legs = part_paint(rider, SKIN), part_paint(rider, TOP), part_paint(rider, LEGS)
    x, y, z = floor
    hip_x, hip_z = x - 0.2, z + seat_m + 0.1
    chest_x, chest_z = x + 0.05, z + seat_m + 0.50
    put_rod(solids, k, CAPSULE, origin, axes, (hip_x, y, hip_z), (chest_x, y, chest_z), 0.15, top)
    put_rod(
        solids,
        k + 1,
        CAPSULE,
        origin,
        axes,
        (chest_x + 0.06, y, chest_z + 0.24),
        (chest_x + 0.08, y, chest_z + 0.30),
        0.105,
        skin,
    )
    k += 2
    for side in (-1.0, 1.0):
        knee = (x + 0.2, y + side * 0.13, z + seat_m - 0.05)
        put_rod(
            solids,
            k,
            CAPSULE,
            origin,
            axes,
            (hip_x, y + side * 0.1, hip_z - 0.05),
            knee,
            0.075,
            legs,
        )
        put_rod(
            solids,
            k + 1,
            CAPSULE,
            origin,
            axes,
            knee,
            (x + 0.05, y + side * 0.13, z + seat_m - 0.48),
            0.055,
            legs,
        )
        put_rod(
            solids,
            k + 2,
            CAPSULE,
            origin,
            axes,
            (chest_x, y + side * 0.2, chest_z),
            (x + 0.42, y + side * 0.24, z + seat_m + 0.16),
            0.05,
            top,
        )
        k += 3
    return k


CAR: Final = int(SemanticTag.CAR)
TRUCK: Final = int(SemanticTag.TRUCK)
BUS: Final = int(SemanticTag.BUS)
MOTORCYCLE: Final = int(SemanticTag.MOTORCYCLE)
BICYCLE: Final = int(SemanticTag.BICYCLE)
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
        put_box(
            solids,
            k,
            origin,
            axes,
            (cx, cy, 0.5 * (low + high)),
            (ex, ey, 0.5 * (high - low)),
            hull,
        )
        k += 1
    else:
        low, waist, high = floor + 0.55 * wheel, floor + 0.60 * height, floor + height
        put_box(
            solids,
            k,
            origin,
            axes,
            (cx, cy, 0.5 * (low + waist)),
            (ex, ey, 0.5 * (waist - low)),
            _painted(paint, HULL),
        )
        put_box(
            solids,
            k + 1,
            origin,
            axes,
            (cx - 0.12 * ex, cy, 0.5 * (waist + high)),
            (0.56 * ex, 0.86 * ey, 0.5 * (high - waist)),
            _painted(paint, GLASS),
        )
        k += 2
    tyre = Paint(paint.label, paint.owner, paint.object_id, paint.instance, 25, 25, 25, PLAIN)
    for i in range(4):
        x = cx + (0.62 if i < 2 else -0.60) * ex
        side = 1.0 if i % 2 == 0 else -1.0
        put_rod(
            solids,
            k,
            CYLINDER,
            origin,
            axes,
            (x, cy + side * (ey - 0.22), floor + wheel),
            (x, cy + side * (ey + 0.001), floor + wheel),
            wheel,
            tyre,
        )
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
        put_rod(
            solids,
            k,
            CYLINDER,
            origin,
            axes,
            (x, cy - width, floor + wheel),
            (x, cy + width, floor + wheel),
            wheel,
            tyre,
        )
        k += 1
    seat = min(0.85, 2.0 * ez - 0.12)
    put_box(
        solids,
        k,
        origin,
        axes,
        (cx, cy, floor + 0.5 * (wheel + seat)),
        (0.55 * ex, 0.04 + 2.0 * width, 0.5 * (seat - wheel)),
        paint,
    )
    put_box(
        solids,
        k + 1,
        origin,
        axes,
        (cx + 0.62 * ex, cy, floor + 2.0 * ez - 0.06),
        (0.05, min(0.32, half[1]), 0.04),
        paint,
    )
    return put_rider(solids, k + 2, origin, axes, (cx, cy, floor), seat, paint)
