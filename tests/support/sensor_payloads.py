"""Payloads of sensors as clients receive them, without a server."""

from __future__ import annotations

from typing import Any

from jaywalk.server.encoding._sensor_frames import encode_reading, pack_header
from jaywalk.server.encoding.codec import CARLA_0_9_16, Dialect
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._readings import pose_of
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._solids import Solids
from jaywalk.server.sensors._terrain import Relief
from jaywalk.server.sensors._visibility import (
    BAND_PX,
    CameraView,
    Visible,
    look_rows,
    nothing_seen,
)


def payload(
    sensor: Sensor,
    scene: SensorScene,
    row: int,
    frame: int,
    time_s: float,
    dt_s: float,
    dialect: Dialect = CARLA_0_9_16,
) -> bytes | None:
    """Payload of a sensor that reports at most once a frame; None when it has nothing to report."""
    readings = sensor.measure(scene, row, frame, time_s, dt_s)
    if not readings:
        return None
    [reading] = readings
    no_actors: Any = None
    header = pack_header(sensor.kind, frame, time_s, pose_of(scene.actors, row))
    return header + encode_reading(reading, dialect, no_actors)


def look(solids: Solids, meshes: Meshes, relief: Relief, view: CameraView) -> Visible:
    """Return the nearest surface in every pixel, drawn in two bands."""
    seen = nothing_seen(view)
    middle = BAND_PX * (view.height // (2 * BAND_PX))
    for rows in ((0, middle), (middle, view.height)):
        look_rows(solids, meshes, relief, view, rows, seen)
    return seen
