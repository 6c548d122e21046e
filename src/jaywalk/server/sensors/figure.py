"""A simple person made of capsules: standing, walking, lying or riding.

It stands in for people whose joints nobody supplies. Local frame: x forward, y right, z up; the
origin lies between the feet.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.solids import CAPSULE, PLAIN, Paint, Solids, put_rod

PEDESTRIAN: Final = 12
RIDER: Final = 13
FIGURE_PARTS: Final = 13

# Which colour a limb takes.
SKIN: Final = 0
TOP: Final = 1
LEGS: Final = 2


class Limbs(NamedTuple):
    """Limbs of people whose joints are known, as capsules in the world."""

    row: NDArray[np.int32]  # row of the actor table
    start: NDArray[np.float64]  # (n, 3)
    end: NDArray[np.float64]  # (n, 3)
    radius: NDArray[np.float64]
    part: NDArray[np.uint8]  # SKIN, TOP or LEGS


def no_limbs() -> Limbs:
    """For a world in which nobody's joints are known."""
    return Limbs(
        np.zeros(0, np.int32),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0),
        np.zeros(0, np.uint8),
    )


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
    """Write a person of ``height_m``; ``swing_rad`` is 0 standing, about 0.5 in a brisk walk."""
    h = height_m
    skin, top, legs = (
        part_paint(paint, SKIN),
        part_paint(paint, TOP),
        part_paint(paint, LEGS),
    )
    put_rod(solids, k, CAPSULE, feet, axes, (0.0, 0.0, 0.57 * h), (0.0, 0.0, 0.76 * h),
            0.082 * h, top)  # fmt: skip
    put_rod(solids, k + 1, CAPSULE, feet, axes, (0.0, -0.085 * h, 0.80 * h),
            (0.0, 0.085 * h, 0.80 * h), 0.045 * h, top)  # fmt: skip
    put_rod(solids, k + 2, CAPSULE, feet, axes, (0.01 * h, 0.0, 0.905 * h),
            (0.01 * h, 0.0, 0.942 * h), 0.058 * h, skin)  # fmt: skip
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
        put_rod(solids, k, CAPSULE, feet, axes, (0.0, y, 0.53 * h), (kx, y, kz),
                0.045 * h, legs)  # fmt: skip
        put_rod(solids, k + 1, CAPSULE, feet, axes, (kx, y, kz), (ax, y, az),
                0.031 * h, legs)  # fmt: skip
        put_rod(solids, k + 2, CAPSULE, feet, axes, (ax, y, az - 0.018 * h),
                (ax + 0.09 * h, y, az - 0.022 * h), 0.022 * h, legs)  # fmt: skip
        sy = side * 0.125 * h
        ex, ez = 0.165 * h * math.sin(arm), 0.80 * h - 0.165 * h * math.cos(arm)
        wx, wz = ex + 0.17 * h * math.sin(fore), ez - 0.17 * h * math.cos(fore)
        put_rod(solids, k + 3, CAPSULE, feet, axes, (0.0, sy, 0.80 * h), (ex, sy, ez),
                0.027 * h, top)  # fmt: skip
        put_rod(solids, k + 4, CAPSULE, feet, axes, (ex, sy, ez), (wx, sy, wz),
                0.023 * h, skin)  # fmt: skip
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
    rider = Paint(RIDER, paint.owner, paint.object_id, paint.instance,
                  paint.red, paint.green, paint.blue, PLAIN)  # fmt: skip
    skin, top, legs = part_paint(rider, SKIN), part_paint(rider, TOP), part_paint(rider, LEGS)
    x, y, z = floor
    hip_x, hip_z = x - 0.2, z + seat_m + 0.1
    chest_x, chest_z = x + 0.05, z + seat_m + 0.50
    put_rod(solids, k, CAPSULE, origin, axes, (hip_x, y, hip_z), (chest_x, y, chest_z),
            0.15, top)  # fmt: skip
    put_rod(solids, k + 1, CAPSULE, origin, axes, (chest_x + 0.06, y, chest_z + 0.24),
            (chest_x + 0.08, y, chest_z + 0.30), 0.105, skin)  # fmt: skip
    k += 2
    for side in (-1.0, 1.0):
        knee = (x + 0.2, y + side * 0.13, z + seat_m - 0.05)
        put_rod(solids, k, CAPSULE, origin, axes, (hip_x, y + side * 0.1, hip_z - 0.05), knee,
                0.075, legs)  # fmt: skip
        put_rod(solids, k + 1, CAPSULE, origin, axes, knee,
                (x + 0.05, y + side * 0.13, z + seat_m - 0.48), 0.055, legs)  # fmt: skip
        put_rod(solids, k + 2, CAPSULE, origin, axes, (chest_x, y + side * 0.2, chest_z),
                (x + 0.42, y + side * 0.24, z + seat_m + 0.16), 0.05, top)  # fmt: skip
        k += 3
    return k
