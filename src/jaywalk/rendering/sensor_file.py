"""Camera, LiDAR and boxes of a record as an MCAP file with Foxglove's schemas, encoded as JSON.

Foxglove's frames are right-handed, so y is mirrored. The camera's frame is an optical one: z
forward, x right, y down.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.spatial.transform import Rotation

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.rendering._lives import ActorLife
from jaywalk.rendering.replay_camera import ReplayCamera, jpeg
from jaywalk.report.svg import claim
from jaywalk.server.sensors._readings import ScanReading
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.world._world import Transform

TOPICS: Final = {
    "/camera": "foxglove.CompressedImage",
    "/camera/calibration": "foxglove.CameraCalibration",
    "/lidar": "foxglove.PointCloud",
    "/boxes": "foxglove.SceneUpdate",
    "/frames": "foxglove.FrameTransforms",
}
SCAN_HZ: Final = 10.0
REACH_M: Final = 100.0
_CHANNELS: Final = 32
_POINTS: Final = 12800  # of a turn
_ABOVE_M: Final = 0.4  # the LiDAR over the roof
_WORLD, _CAMERA, _LIDAR = "world", "camera", "lidar"
_OPTICAL: Final = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_MIRROR: Final = np.diag([1.0, -1.0, 1.0])
_FLOAT32: Final = 7  # Foxglove's numeric type
_COLORS: Final = {
    "vehicle": (0.16, 0.44, 0.72, 0.5),
    "walker": (0.88, 0.11, 0.45, 0.6),
    "prop": (0.93, 0.62, 0.12, 0.5),
}


def import_mcap() -> Any:
    """Import the writer of the ``mcap`` package, or explain how to install it."""
    try:
        return import_module("mcap.writer")
    except ImportError as problem:
        raise PrerequisiteError(
            "Writing sensor data needs the package 'mcap'. Install the extra: "
            "pip install 'jaywalk[viz]'."
        ) from problem


def write_sensors(camera: ReplayCamera, path: Path, progress: Callable[[float], None]) -> int:
    """Write an episode; return the number of pictures.

    Args:
        camera: Which picture; the LiDAR is on the actor that it follows.
        path: The file.
        progress: Is called with the share that is done.
    """
    writer_module = import_mcap()
    rows = camera.rows()
    with claim(path).open("wb") as stream:
        writer = writer_module.Writer(stream)
        writer.start(library="jaywalk")
        _Frames(camera, writer).write(rows, progress)
        writer.finish()
    return len(rows)


class _Frames:
    """Messages of an episode, tick by tick."""

    def __init__(self, camera: ReplayCamera, writer: Any) -> None:
        self._camera, self._world, self._writer = camera, camera.world, writer
        self._channels = {}
        for topic, schema in TOPICS.items():
            text = json.dumps(SCHEMAS[schema]).encode()
            number = writer.register_schema(name=schema, encoding="jsonschema", data=text)
            self._channels[topic] = writer.register_channel(
                topic=topic, message_encoding="json", schema_id=number
            )
        self._scanner = self._world.add_sensor(
            "sensor.lidar.ray_cast",
            {
                "channels": str(_CHANNELS),
                "range": f"{REACH_M:g}",
                "points_per_second": str(round(_POINTS / self._world.step_s)),
                "rotation_frequency": f"{1.0 / self._world.step_s:g}",
            },
        )
        self._time: dict[str, int] = {}
        self._time_ns = 0

    def write(self, rows: list[int], progress: Callable[[float], None]) -> None:
        """Write the messages of some ticks."""
        every = max(1, round(1.0 / (SCAN_HZ * self._world.step_s)))
        for done, index in enumerate(rows, start=1):
            self._time_ns = round(float(self._world.time_s[index]) * 1e9)
            self._time = {"sec": self._time_ns // 10**9, "nsec": self._time_ns % 10**9}
            tick = int(self._world.ticks[index])
            scene = self._world.show(index)
            self._write_picture(scene, tick)
            self._write_boxes(tick)
            if (done - 1) % every == 0:
                self._write_scan(scene, tick)
            progress(done / len(rows))

    def _send(self, topic: str, message: dict[str, Any]) -> None:
        self._writer.add_message(
            channel_id=self._channels[topic],
            log_time=self._time_ns,
            publish_time=self._time_ns,
            data=json.dumps(message, separators=(",", ":")).encode(),
        )

    def _write_picture(self, scene: SensorScene, tick: int) -> None:
        head = {"timestamp": self._time, "frame_id": _CAMERA}
        pixels = self._camera.shoot(scene, tick)
        data = base64.b64encode(jpeg(pixels)).decode()
        self._send("/camera", {**head, "data": data, "format": "jpeg"})
        width, height = self._camera.size_px
        focal = 0.5 * width / math.tan(0.5 * math.radians(self._camera.fov_deg))
        u, v = 0.5 * width, 0.5 * height
        k = [focal, 0.0, u, 0.0, focal, v, 0.0, 0.0, 1.0]
        p = [focal, 0.0, u, 0.0, 0.0, focal, v, 0.0, 0.0, 0.0, 1.0, 0.0]
        self._send(
            "/camera/calibration",
            {
                **head,
                "width": width,
                "height": height,
                "distortion_model": "plumb_bob",
                "D": [0.0] * 5,
                "K": k,
                "R": np.eye(3).ravel().tolist(),
                "P": p,
            },
        )
        self._send_frame(_CAMERA, self._camera.pose(tick), _OPTICAL)

    def _write_scan(self, scene: SensorScene, tick: int) -> None:
        life = self._camera.carrier
        row = life.row_at(tick)
        x, y, z, pitch, yaw, roll = life.pose[row].tolist()
        top = life.centre_m[2] + life.half_m[2] + _ABOVE_M
        turn = rotation_matrix_carla(pitch, yaw, roll)
        place = np.array([x, y, z]) + turn @ np.array([0.0, 0.0, top])
        pose = (float(place[0]), float(place[1]), float(place[2])), (pitch, yaw, roll)
        readings = self._world.measure(self._scanner, pose, scene)
        self._send_frame(_LIDAR, pose, np.eye(3))
        for reading in readings:
            assert isinstance(reading, ScanReading)
            points = reading.points.copy()
            points["y"] *= -1.0
            names = points.dtype.names or ()
            fields = [{"name": n, "offset": 4 * k, "type": _FLOAT32} for k, n in enumerate(names)]
            self._send(
                "/lidar",
                {
                    "timestamp": self._time,
                    "frame_id": _LIDAR,
                    "pose": _pose(np.zeros(3), np.eye(3)),
                    "point_stride": points.dtype.itemsize,
                    "fields": fields,
                    "data": base64.b64encode(points.tobytes()).decode(),
                },
            )

    def _write_boxes(self, tick: int) -> None:
        eye = np.array(self._camera.pose(tick)[0])
        entities = []
        for life in self._world.lives.values():
            row = life.row_at(tick)
            if row < 0 or not any(life.half_m):
                continue
            if np.hypot(*(life.pose[row, :2] - eye[:2])) <= REACH_M:
                entities.append(self._entity(life, row))
        self._send("/boxes", {"deletions": [], "entities": entities})

    def _entity(self, life: ActorLife, row: int) -> dict[str, Any]:
        turn = rotation_matrix_carla(*life.pose[row, 3:].tolist())
        centre = life.pose[row, :3] + turn @ np.array(life.centre_m)
        color = dict(zip("rgba", _COLORS[life.kind], strict=True))
        size = dict(zip("xyz", (2.0 * half for half in life.half_m), strict=True))
        cube = {"pose": _pose(_MIRROR @ centre, _MIRROR @ turn @ _MIRROR)}
        return {
            "timestamp": self._time,
            "frame_id": _WORLD,
            "id": str(life.number),
            "lifetime": {"sec": 0, "nsec": round(1.5e9 * self._world.step_s)},
            "frame_locked": False,
            "metadata": [{"key": "type_id", "value": life.type_id}],
            "cubes": [cube | {"size": size, "color": color}],
        }

    def _send_frame(self, name: str, pose: Transform, axes: FloatArray) -> None:
        turn = _MIRROR @ rotation_matrix_carla(*pose[1]) @ _MIRROR @ axes
        placed = _pose(_MIRROR @ np.array(pose[0]), turn)
        transform = {
            "timestamp": self._time,
            "parent_frame_id": _WORLD,
            "child_frame_id": name,
            "translation": placed["position"],
            "rotation": placed["orientation"],
        }
        self._send("/frames", {"transforms": [transform]})


def _pose(place: FloatArray, turn: FloatArray) -> dict[str, Any]:
    quaternion = Rotation.from_matrix(turn).as_quat()
    return {
        "position": dict(zip("xyz", place.tolist(), strict=True)),
        "orientation": dict(zip("xyzw", quaternion.tolist(), strict=True)),
    }


def _record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_NUMBER: Final = {"type": "number"}
_WHOLE: Final = {"type": "integer"}
_TEXT: Final = {"type": "string"}
_BYTES: Final = {"type": "string", "contentEncoding": "base64"}
_TIME: Final = _record(sec=_WHOLE, nsec=_WHOLE)
_VECTOR: Final = _record(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_QUATERNION: Final = _record(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE: Final = _record(position=_VECTOR, orientation=_QUATERNION)
_COLOR: Final = _record(r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_STAMPED: Final = {"timestamp": _TIME, "frame_id": _TEXT}
_TRANSFORM: Final = _record(
    timestamp=_TIME,
    parent_frame_id=_TEXT,
    child_frame_id=_TEXT,
    translation=_VECTOR,
    rotation=_QUATERNION,
)
_CUBE: Final = _record(pose=_POSE, size=_VECTOR, color=_COLOR)
_ENTITY: Final = _record(
    **_STAMPED,
    id=_TEXT,
    lifetime=_TIME,
    frame_locked={"type": "boolean"},
    metadata=_list(_record(key=_TEXT, value=_TEXT)),
    cubes=_list(_CUBE),
)
SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "foxglove.CompressedImage": _record(**_STAMPED, data=_BYTES, format=_TEXT),
    "foxglove.CameraCalibration": _record(
        **_STAMPED,
        width=_WHOLE,
        height=_WHOLE,
        distortion_model=_TEXT,
        D=_list(_NUMBER),
        K=_list(_NUMBER),
        R=_list(_NUMBER),
        P=_list(_NUMBER),
    ),
    "foxglove.PointCloud": _record(
        **_STAMPED,
        pose=_POSE,
        point_stride=_WHOLE,
        fields=_list(_record(name=_TEXT, offset=_WHOLE, type=_WHOLE)),
        data=_BYTES,
    ),
    "foxglove.SceneUpdate": _record(
        deletions=_list(_record(timestamp=_TIME, type=_WHOLE, id=_TEXT)),
        entities=_list(_ENTITY),
    ),
    "foxglove.FrameTransforms": _record(transforms=_list(_TRANSFORM)),
}
