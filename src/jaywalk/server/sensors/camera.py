"""Cameras: colour, depth, semantic and instance pictures, normals, optical flow and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors.base import Sensor
from jaywalk.server.sensors.cut_outs import draw_cut_outs
from jaywalk.server.sensors.events import EventPixels
from jaywalk.server.sensors.flow import static_flow
from jaywalk.server.sensors.header import Pose, SensorType
from jaywalk.server.sensors.images import encode_events, encode_flow, encode_image
from jaywalk.server.sensors.scene import Scene
from jaywalk.server.sensors.shading import (
    depth_picture,
    label_picture,
    normal_picture,
    rgb_picture,
)
from jaywalk.server.sensors.solids import pose_axes
from jaywalk.server.sensors.visibility import View, Visible, focal_length_px, look

_MOST_PIXELS: Final = 8192  # per side
_LEAST_FOV_DEG, _MOST_FOV_DEG = 0.1, 179.0
MOST_IMAGE_BYTES: Final = 64 * 1024 * 1024  # 4096 x 4096 pixels of colour


class Camera(Sensor):
    """A pinhole camera; subclasses say which picture they make of what it sees."""

    bytes_per_pixel = 4

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self.width = self.attributes.integer("image_size_x", 1, _MOST_PIXELS)
        self.height = self.attributes.integer("image_size_y", 1, _MOST_PIXELS)
        size = self.width * self.height * self.bytes_per_pixel
        if size > MOST_IMAGE_BYTES:
            raise UsageError(
                f"{type_id}: image_size_x={self.width} and image_size_y={self.height} make images "
                f"of {size / 2**20:.0f} MB; at most {MOST_IMAGE_BYTES // 2**20} MB can be sent."
            )
        # As in CARLA any angle is taken and reported; a flat picture shows less than half a turn.
        self.fov_deg = self.attributes.number("fov", -1e6, 1e6)
        self._drawn_fov_deg = min(max(self.fov_deg, _LEAST_FOV_DEG), _MOST_FOV_DEG)

    def view(self, pose: Pose) -> View:
        """The camera at a pose."""
        return View(
            np.array(pose[:3]),
            pose_axes(pose),
            self.width,
            self.height,
            focal_length_px(self.width, self._drawn_fov_deg),
        )

    def see(self, scene: Scene, pose: Pose, view: View) -> Visible:
        """What the camera shows; cameras of one kind at one place share the work."""
        key = ("view", pose, self.width, self.height, self.fov_deg)
        seen = scene.shared.get(key)
        if not isinstance(seen, Visible):
            seen = look(scene.solids, scene.relief, view)
            if len(scene.pictures.texels):
                draw_cut_outs(scene.solids, scene.pictures, view, seen)
            scene.shared[key] = seen
        return seen

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """BGRA pixels."""
        raise NotImplementedError

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> bytes | None:
        view = self.view(pose)
        pixels = self.picture(scene, view, self.see(scene, pose, view))
        return encode_image(pixels, self.fov_deg)


class RgbCamera(Camera):
    """Colours."""

    kind = SensorType.RGB

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """Plainly shaded colours."""
        return rgb_picture(scene, view, seen)


class DepthCamera(Camera):
    """Depth along the camera axis."""

    kind = SensorType.DEPTH

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """Depth in 24 bits."""
        return depth_picture(view, seen)


class SemanticCamera(Camera):
    """Labels."""

    kind = SensorType.SEMANTIC

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """Labels in the red channel."""
        return label_picture(scene, view, seen, False)


class InstanceCamera(Camera):
    """Labels and ids."""

    kind = SensorType.INSTANCE

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """Labels in red, the low byte of the id in green, the high byte in blue."""
        return label_picture(scene, view, seen, True)


class CosmosCamera(SemanticCamera):
    """Stands in for the control picture of 0.9.16 with the semantic one."""

    kind = SensorType.COSMOS


class NormalsCamera(Camera):
    """Surface normals."""

    kind = SensorType.NORMALS

    def picture(self, scene: Scene, view: View, seen: Visible) -> NDArray[np.uint8]:
        """World normals as colours."""
        return normal_picture(scene, view, seen)


class FlowCamera(Camera):
    """Motion of each pixel since the camera's last frame, in shares of the picture's size."""

    bytes_per_pixel = 8  # two floats

    kind = SensorType.OPTICAL_FLOW

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self._last: tuple[float, View] | None = None

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> bytes:
        view = self.view(pose)
        last_s, last = self._last or (time_s, view)
        self._last = (time_s, view)
        flow = static_flow(scene, view, self.see(scene, pose, view), last, time_s - last_s)
        return encode_flow(flow, self.fov_deg)


class EventCamera(Camera):
    """Changes of brightness; silent in frames without any, like the real one."""

    bytes_per_pixel = 13  # of one event

    kind = SensorType.DVS

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self._pixels = EventPixels.from_attributes(self.attributes)

    def _payload(
        self, scene: Scene, row: int, pose: Pose, frame: int, time_s: float, dt_s: float
    ) -> bytes | None:
        view = self.view(pose)
        picture = rgb_picture(scene, view, self.see(scene, pose, view))
        events = self._pixels.update(picture, time_s, self.noise(frame))
        if len(events) == 0:
            return None
        return encode_events(events, self.width, self.height, self.fov_deg)
