"""The 48-byte head of every sensor payload, and the numbers that select the client's decoder."""

from __future__ import annotations

import math
import struct
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np


class SensorType(IntEnum):
    """Decoder numbers; 0 to 15 are the same for 0.9.15 and 0.9.16 clients."""

    COLLISION = 0
    DEPTH = 1
    NORMALS = 2
    DVS = 3
    GNSS = 4
    IMU = 5
    LANE_INVASION = 6  # client-side: never sent
    OBSTACLE = 7
    OPTICAL_FLOW = 8
    RADAR = 9
    SEMANTIC_LIDAR = 10
    LIDAR = 11
    RSS = 12  # client-side: never sent
    RGB = 13
    SEMANTIC = 14
    INSTANCE = 15
    COSMOS = 16  # 0.9.16 only
    V2X = 20  # 0.9.16 only
    V2X_CUSTOM = 21  # 0.9.16 only


class Pose(NamedTuple):
    """Where a sensor is: metres and radians in CARLA's left-handed world."""

    x_m: float
    y_m: float
    z_m: float
    pitch_rad: float
    yaw_rad: float
    roll_rad: float


_HEADER: Final = struct.Struct("<QQd6f")
HEADER_BYTES: Final = _HEADER.size


def pose_of(actors: np.ndarray[Any, Any], row: int) -> Pose:
    """Pose of one row of the actor table."""
    actor = actors[row]
    return Pose(
        float(actor["x"]),
        float(actor["y"]),
        float(actor["z"]),
        float(actor["pitch"]),
        float(actor["yaw"]),
        float(actor["roll"]),
    )


def pack_header(kind: SensorType, frame: int, time_s: float, pose: Pose) -> bytes:
    """Pack decoder number, frame, simulated time and sensor pose (the wire carries degrees)."""
    return _HEADER.pack(
        kind,
        frame,
        time_s,
        pose.x_m,
        pose.y_m,
        pose.z_m,
        math.degrees(pose.pitch_rad),
        math.degrees(math.remainder(pose.yaw_rad, math.tau)),
        math.degrees(pose.roll_rad),
    )
