"""Point payloads: LiDAR, semantic LiDAR and radar."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SCAN: Final = struct.Struct("<fI")
LIDAR_POINT: Final = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4")]
)  # fmt: skip
SEMANTIC_POINT: Final = np.dtype(
    [
        ("x", "<f4"), ("y", "<f4"), ("z", "<f4"),
        ("cos_incidence", "<f4"), ("object_id", "<u4"), ("label", "<u4"),
    ]
)  # fmt: skip
RADAR_POINT: Final = np.dtype(
    [("velocity", "<f4"), ("azimuth", "<f4"), ("altitude", "<f4"), ("depth", "<f4")]
)  # fmt: skip


def encode_scan(
    points: NDArray[np.void], per_channel: NDArray[np.uint32], horizontal_angle_rad: float
) -> bytes:
    """Encode a LiDAR scan; ``points`` are grouped by channel, in the sensor's frame."""
    head = _SCAN.pack(horizontal_angle_rad, len(per_channel))
    return head + per_channel.astype("<u4", copy=False).tobytes() + points.tobytes()


def encode_radar(detections: NDArray[np.void]) -> bytes:
    """Encode radar detections of dtype :data:`RADAR_POINT`."""
    return detections.tobytes()
