"""A simple animal made of capsules: trunk, neck, head, tail and legs that step.

Local frame: x forward, y right, z up; the origin lies on the ground below the middle.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.solids import CAPSULE, Paint, Solids, put_rod

_LONG: Final = (
    1.2  # a walker this much longer than wide goes on four legs (birds look so from afar)
)


@kernel
def is_animal(half_x_m: float, half_y_m: float) -> bool:
    """Whether a walker's box is an animal's: people are as long as they are wide."""
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
    """Write an animal that fills a box; ``swing_rad`` is 0 standing. Diagonal legs move together.

    The trunk rises and falls twice a cycle. Returns the next free row.
    """
    ex, ey, height = half[0], half[1], 2.0 * half[2]
    hip = 0.55 * height
    lift = 0.02 * height * math.sin(4.0 * math.pi * gait_phase) if swing_rad > 0.0 else 0.0
    trunk = min(0.5 * (0.92 * height - hip), 0.95 * ey)
    back = hip + trunk + lift
    put_rod(solids, k, CAPSULE, feet, axes, (-0.55 * ex, 0.0, back), (0.45 * ex, 0.0, back),
            trunk, paint)  # fmt: skip
    put_rod(solids, k + 1, CAPSULE, feet, axes, (0.45 * ex, 0.0, back + 0.3 * trunk),
            (0.78 * ex, 0.0, 0.93 * height + lift), 0.45 * trunk, paint)  # fmt: skip
    put_rod(solids, k + 2, CAPSULE, feet, axes, (0.74 * ex, 0.0, 0.93 * height + lift),
            (0.94 * ex, 0.0, 0.85 * height + lift), 0.36 * trunk, paint)  # fmt: skip
    put_rod(solids, k + 3, CAPSULE, feet, axes, (-0.75 * ex, 0.0, back + 0.4 * trunk),
            (-0.97 * ex, 0.0, hip), 0.12 * trunk, paint)  # fmt: skip
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
        put_rod(solids, k, CAPSULE, feet, axes, (x, y, hip + lift), (knee_x, y, knee_z),
                1.4 * thick, paint)  # fmt: skip
        put_rod(solids, k + 1, CAPSULE, feet, axes, (knee_x, y, knee_z), (foot_x, y, foot_z),
                thick, paint)  # fmt: skip
        k += 2
    return k
