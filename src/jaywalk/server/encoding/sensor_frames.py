"""Image payloads: width, height and field of view, then the pixels.

The 48-byte head of every sensor payload, and the numbers that select the client's decoder.

Point payloads: LiDAR, semantic LiDAR and radar.
"""

from __future__ import annotations

import math
import struct
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray


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


_IMAGE: Final = struct.Struct("<IIf")
DVS_EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("polarity", "?")])
DEPTH_RANGE_M: Final = 1000.0  # what the 24 bits of a depth pixel span
_DEPTH_STEPS: Final = 2**24 - 1


def encode_image(pixels: NDArray[np.uint8], fov_deg: float) -> bytes:
    """Encode (height, width, 4) BGRA pixels."""
    height, width = pixels.shape[:2]
    return _IMAGE.pack(width, height, fov_deg) + pixels.tobytes()


def encode_flow(flow: NDArray[np.float32], fov_deg: float) -> bytes:
    """Encode (height, width, 2) optical flow."""
    height, width = flow.shape[:2]
    return _IMAGE.pack(width, height, fov_deg) + flow.astype("<f4", copy=False).tobytes()


def encode_events(events: NDArray[np.void], width: int, height: int, fov_deg: float) -> bytes:
    """Encode events of dtype :data:`DVS_EVENT`, 13 bytes each."""
    return _IMAGE.pack(width, height, fov_deg) + events.tobytes()


def depth_to_bgra(depth_m: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Code depth along the camera axis into 24 bits: R lowest, B highest; far ends at 1000 m."""
    share = np.clip(np.asarray(depth_m, dtype=np.float64) / DEPTH_RANGE_M, 0.0, 1.0)
    code = np.rint(share * _DEPTH_STEPS).astype(np.uint32)
    pixels = np.empty((*code.shape, 4), np.uint8)
    pixels[..., 2] = code & 0xFF
    pixels[..., 1] = (code >> 8) & 0xFF
    pixels[..., 0] = code >> 16
    pixels[..., 3] = 255
    return pixels


def bgra_to_depth(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Metres from a coded depth picture; the inverse of :func:`depth_to_bgra`."""
    wide = pixels.astype(np.float64)
    code = wide[..., 2] + 256.0 * wide[..., 1] + 65536.0 * wide[..., 0]
    return DEPTH_RANGE_M * code / _DEPTH_STEPS


_SCAN: Final = struct.Struct("<fI")
LIDAR_POINT: Final = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4")])
SEMANTIC_POINT: Final = np.dtype(
    [
        ("x", "<f4"),
        ("y", "<f4"),
        ("z", "<f4"),
        ("cos_incidence", "<f4"),
        ("object_id", "<u4"),
        ("label", "<u4"),
    ]
)
RADAR_POINT: Final = np.dtype(
    [("velocity", "<f4"), ("azimuth", "<f4"), ("altitude", "<f4"), ("depth", "<f4")]
)


def encode_scan(
    points: NDArray[np.void], per_channel: NDArray[np.uint32], horizontal_angle_rad: float
) -> bytes:
    """Encode a LiDAR scan; ``points`` are grouped by channel, in the sensor's frame."""
    head = _SCAN.pack(horizontal_angle_rad, len(per_channel))
    return head + per_channel.astype("<u4", copy=False).tobytes() + points.tobytes()


def encode_radar(detections: NDArray[np.void]) -> bytes:
    """Encode radar detections of dtype :data:`RADAR_POINT`."""
    return detections.tobytes()
