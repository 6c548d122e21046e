"""The two coordinate frames of the project, and the only place where they meet.

CARLA:  left-handed, x forward, y right, z up, metres and degrees; Unreal's rotator order.
Ours:   right-handed, x forward, y left, z up, metres and radians (OpenDRIVE's frame).
"""

from __future__ import annotations

import numpy as np

from jaywalk.core.arrays import FloatArray


def carla_to_right_handed(points_carla_m: FloatArray) -> FloatArray:
    """Mirror (..., 2|3) points between the two frames; it is its own inverse."""
    points = np.array(points_carla_m, dtype=np.float64)
    points[..., 1] = -points[..., 1]
    return points


def carla_yaw_to_rad(yaw_deg: FloatArray | float) -> FloatArray:
    """Convert CARLA yaw (degrees, clockwise from above) to radians counter-clockwise."""
    return -np.deg2rad(np.asarray(yaw_deg, dtype=np.float64))


def rad_to_carla_yaw(yaw_rad: FloatArray | float) -> FloatArray:
    """Convert a right-handed yaw in radians to CARLA degrees."""
    return -np.rad2deg(np.asarray(yaw_rad, dtype=np.float64))


def rotation_matrix_carla(pitch_deg: float, yaw_deg: float, roll_deg: float) -> FloatArray:
    """Rotation matrix of an Unreal rotator: columns are forward, right and up.

    The same matrix as ``carla.Transform.get_matrix``: world = R @ local, both left-handed.
    """
    cp, sp = np.cos(np.deg2rad(pitch_deg)), np.sin(np.deg2rad(pitch_deg))
    cy, sy = np.cos(np.deg2rad(yaw_deg)), np.sin(np.deg2rad(yaw_deg))
    cr, sr = np.cos(np.deg2rad(roll_deg)), np.sin(np.deg2rad(roll_deg))
    return np.array(
        [
            [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr],
            [cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr],
            [sp, -cp * sr, cp * cr],
        ]
    )


def rotator_from_matrix(rotation: FloatArray) -> tuple[float, float, float]:
    """Inverse of :func:`rotation_matrix_carla`: (pitch, yaw, roll) in degrees."""
    pitch = np.arcsin(np.clip(rotation[2, 0], -1.0, 1.0))
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    roll = np.arctan2(-rotation[2, 1], rotation[2, 2])
    return float(np.rad2deg(pitch)), float(np.rad2deg(yaw)), float(np.rad2deg(roll))
