"""Boxes that are tipped over: the upright box around them, in the frame that only turns by yaw.

Angles are an Unreal rotator's (pitch, roll) in radians; the frame is CARLA's left-handed one.
"""

from __future__ import annotations

import numpy as np

from jaywalk.core.kernels import kernel

Six = tuple[float, float, float, float, float, float]


@kernel
def upright_box(
    hx: float, hy: float, hz: float, cx: float, cy: float, cz: float, pitch: float, roll: float
) -> Six:
    """Half extents and centre of the smallest upright box around a tipped one."""
    cp, sp = np.cos(pitch), np.sin(pitch)
    cr, sr = np.cos(roll), np.sin(roll)
    ax, ay, az = cp, sp * sr, -sp * cr
    dx, dy, dz = sp, -cp * sr, cp * cr
    return (
        abs(ax) * hx + abs(ay) * hy + abs(az) * hz,
        abs(cr) * hy + abs(sr) * hz,
        abs(dx) * hx + abs(dy) * hy + abs(dz) * hz,
        ax * cx + ay * cy + az * cz,
        cr * cy + sr * cz,
        dx * cx + dy * cy + dz * cz,
    )
