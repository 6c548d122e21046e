"""Payloads of sensors: a header of 48 bytes, then the encoded reading."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from jaywalk.geometry.geodesy import GeoLocation
from jaywalk.server.encoding._structs import ActorEncoder, static_actor
from jaywalk.server.encoding.codec import Dialect
from jaywalk.server.sensors._readings import (
    CollisionReading,
    EventsReading,
    FlowReading,
    GnssReading,
    ImageReading,
    ImuReading,
    ObstacleReading,
    RadarReading,
    Reading,
    ScanReading,
    SensorPose,
)

_HEADER: Final = struct.Struct("<QQd6f")
HEADER_BYTES: Final = _HEADER.size


def pack_header(kind: int, frame: int, time_s: float, pose: SensorPose) -> bytes:
    """Pack sensor type, frame, simulated time and sensor pose (the wire carries degrees)."""
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
    """Decode a depth picture to metres; the inverse of :func:`depth_to_bgra`."""
    wide = pixels.astype(np.float64)
    code = wide[..., 2] + 256.0 * wide[..., 1] + 65536.0 * wide[..., 0]
    return DEPTH_RANGE_M * code / _DEPTH_STEPS


_SCAN: Final = struct.Struct("<fI")


def encode_scan(
    points: NDArray[np.void], per_channel: NDArray[np.uint32], horizontal_angle_rad: float
) -> bytes:
    """Encode a LiDAR scan; ``points`` are grouped by channel, in the sensor's frame."""
    head = _SCAN.pack(horizontal_angle_rad, len(per_channel))
    return head + per_channel.astype("<u4", copy=False).tobytes() + points.tobytes()


def encode_radar(detections: NDArray[np.void]) -> bytes:
    """Encode radar detections of dtype :data:`RADAR_POINT`."""
    return detections.tobytes()


def encode_gnss(place: GeoLocation, error: list[float]) -> bytes:
    """Encode a place with an error added to each component."""
    return bytes(msgpack.packb([v + e for v, e in zip(place, error, strict=True)]))


def encode_imu(
    force_mps2: NDArray[np.float64], turn_radps: NDArray[np.float64], compass_rad: float
) -> bytes:
    """Encode accelerometer, gyroscope and compass."""
    return bytes(
        msgpack.packb(
            [[float(v) for v in force_mps2], [float(v) for v in turn_radps], float(compass_rad)]
        )
    )


_LABEL_NAMES: Final = {3: "building", 4: "wall", 5: "fence", 6: "pole", 9: "vegetation"}


def _encode_obstacle(reading: ObstacleReading, dialect: Dialect, actors: ActorEncoder) -> bytes:
    if reading.row >= 0:
        obstacle = actors.in_row(reading.row, dialect)
    else:
        obstacle = static_actor(_LABEL_NAMES.get(reading.label, "other"), reading.label)
    owner = actors.owner_of(reading.sensor_row, dialect)
    return bytes(msgpack.packb([owner, obstacle, reading.distance_m]))


def _encode_collision(reading: CollisionReading, dialect: Dialect, actors: ActorEncoder) -> bytes:
    if reading.other_row >= 0:
        other = actors.in_row(reading.other_row, dialect)
    else:
        other = actors.scenery(reading.scenery)
    parent = actors.in_row(reading.parent_row, dialect)
    return bytes(msgpack.packb([parent, other, list(reading.impulse_ns)]))


_ENCODERS: Final[dict[type[Reading], Callable[[Any, Dialect, ActorEncoder], bytes]]] = {
    ImageReading: lambda r, _, __: encode_image(r.pixels, r.fov_deg),
    FlowReading: lambda r, _, __: encode_flow(r.flow, r.fov_deg),
    EventsReading: lambda r, _, __: encode_events(r.events, r.width, r.height, r.fov_deg),
    ScanReading: lambda r, _, __: encode_scan(r.points, r.per_channel, r.horizontal_angle_rad),
    RadarReading: lambda r, _, __: encode_radar(r.detections),
    GnssReading: lambda r, dialect, _: encode_gnss(
        r.place_0915 if dialect.gnss_north_is_minus_y else r.place_0916, r.error
    ),
    ImuReading: lambda r, _, __: encode_imu(r.force_mps2, r.turn_radps, r.compass_rad),
    ObstacleReading: _encode_obstacle,
    CollisionReading: _encode_collision,
}


def encode_reading(reading: Reading, dialect: Dialect, actors: ActorEncoder) -> bytes:
    """Encode a reading as the part of the payload that follows the header."""
    return _ENCODERS[type(reading)](reading, dialect, actors)
