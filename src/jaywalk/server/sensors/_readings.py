"""Readings that sensors return; ``encoding.sensor_frames`` turns them into bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.geometry.geodesy import GeoLocation


class SensorType(IntEnum):
    """CARLA's numbers of the sensor types; 0 to 15 are the same in 0.9.15 and 0.9.16."""

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


class SensorPose(NamedTuple):
    """SensorPose of a sensor: metres and radians in CARLA's left-handed world."""

    x_m: float
    y_m: float
    z_m: float
    pitch_rad: float
    yaw_rad: float
    roll_rad: float


def pose_of(actors: np.ndarray[Any, Any], row: int) -> SensorPose:
    """Return the pose in one row of the actor table."""
    actor = actors[row]
    return SensorPose(
        float(actor["x"]),
        float(actor["y"]),
        float(actor["z"]),
        float(actor["pitch"]),
        float(actor["yaw"]),
        float(actor["roll"]),
    )


DVS_EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("polarity", "?")])
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


@dataclass(frozen=True, slots=True)
class Reading:
    """One measurement of a sensor."""


@dataclass(frozen=True, slots=True)
class ImageReading(Reading):
    """(height, width, 4) BGRA pixels."""

    pixels: NDArray[np.uint8]
    fov_deg: float


@dataclass(frozen=True, slots=True)
class FlowReading(Reading):
    """(height, width, 2) optical flow."""

    flow: NDArray[np.float32]
    fov_deg: float


@dataclass(frozen=True, slots=True)
class EventsReading(Reading):
    """Events of dtype :data:`DVS_EVENT`, in order of time."""

    events: NDArray[np.void]
    width: int
    height: int
    fov_deg: float


@dataclass(frozen=True, slots=True)
class ScanReading(Reading):
    """LiDAR points in the sensor's frame, grouped by channel."""

    points: NDArray[np.void]
    per_channel: NDArray[np.uint32]
    horizontal_angle_rad: float


@dataclass(frozen=True, slots=True)
class RadarReading(Reading):
    """Detections of dtype :data:`RADAR_POINT`."""

    detections: NDArray[np.void]


@dataclass(frozen=True, slots=True)
class GnssReading(Reading):
    """Place on the globe in the projections of both CARLA versions, and the error of each value."""

    place_0915: GeoLocation
    place_0916: GeoLocation
    error: list[float]


@dataclass(frozen=True, slots=True)
class ImuReading(Reading):
    """Specific force, turn rate and heading from north."""

    force_mps2: NDArray[np.float64]
    turn_radps: NDArray[np.float64]
    compass_rad: float


@dataclass(frozen=True, slots=True)
class ObstacleReading(Reading):
    """An obstacle: an actor's row, or scenery (row -1) described by its label."""

    sensor_row: int
    row: int
    label: int
    distance_m: float


@dataclass(frozen=True, slots=True)
class CollisionReading(Reading):
    """A contact of the sensor's parent with an actor, or with scenery (other row -1)."""

    parent_row: int
    other_row: int
    scenery: int
    impulse_ns: tuple[float, float, float]
