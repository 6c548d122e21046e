"""Attached actors: their pose and motion follow the parent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel


@kernel
def _rotation(pitch: float, yaw: float, roll: float, out: NDArray[np.float64]) -> None:
    """Matrix of an Unreal rotator in radians: columns forward, right, up."""
    cp, sp = np.cos(pitch), np.sin(pitch)
    cy, sy = np.cos(yaw), np.sin(yaw)
    cr, sr = np.cos(roll), np.sin(roll)
    out[0, 0], out[0, 1], out[0, 2] = cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr
    out[1, 0], out[1, 1], out[1, 2] = cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr
    out[2, 0], out[2, 1], out[2, 2] = sp, -cp * sr, cp * cr


@kernel
def follow_parents(actors: NDArray[Any], rows: int) -> None:
    """Place every attached actor; two passes let an attachment hang on an attachment."""
    outer, inner = np.empty((3, 3)), np.empty((3, 3))
    for _ in range(2):
        for index in range(rows):
            row = actors[index]
            if row.id == 0 or row.attached == 0:
                continue
            parent = actors[row.parent_row]
            _rotation(parent.pitch, parent.yaw, parent.roll, outer)
            dx = outer[0, 0] * row.rel_x + outer[0, 1] * row.rel_y + outer[0, 2] * row.rel_z
            dy = outer[1, 0] * row.rel_x + outer[1, 1] * row.rel_y + outer[1, 2] * row.rel_z
            dz = outer[2, 0] * row.rel_x + outer[2, 1] * row.rel_y + outer[2, 2] * row.rel_z
            row.x, row.y, row.z = parent.x + dx, parent.y + dy, parent.z + dz
            if row.rel_pitch == 0.0 and row.rel_yaw == 0.0 and row.rel_roll == 0.0:
                row.pitch, row.yaw, row.roll = parent.pitch, parent.yaw, parent.roll
            else:
                _rotation(row.rel_pitch, row.rel_yaw, row.rel_roll, inner)
                total = outer @ inner
                row.pitch = np.arcsin(min(max(total[2, 0], -1.0), 1.0))
                row.yaw = np.arctan2(total[1, 0], total[0, 0])
                row.roll = np.arctan2(-total[2, 1], total[2, 2])
            # A point off the parent's centre moves with the parent's turning too.
            row.vx = parent.vx - parent.wz * dy
            row.vy = parent.vy + parent.wz * dx
            row.vz = parent.vz
            row.wx, row.wy, row.wz = parent.wx, parent.wy, parent.wz
            row.ax, row.ay, row.az = parent.ax, parent.ay, parent.az
