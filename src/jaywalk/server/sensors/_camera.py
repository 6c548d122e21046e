"""Cameras: colour, depth, semantic and instance pictures, normals, optical flow and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors._bands import in_bands
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._cut_outs import draw_cut_outs
from jaywalk.server.sensors._events import EventPixels, static_flow
from jaywalk.server.sensors._lens import EXPOSURE, LENS, exposure_of
from jaywalk.server.sensors._readings import (
    EventsReading,
    FlowReading,
    ImageReading,
    Reading,
    SensorPose,
    SensorType,
)
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._shading import (
    depth_picture,
    label_picture,
    normal_picture,
    rgb_picture,
)
from jaywalk.server.sensors._solids import pose_axes
from jaywalk.server.sensors._visibility import (
    CameraView,
    Visible,
    focal_length_px,
    look_rows,
    nothing_seen,
)
from jaywalk.server.sensors.catalogue import PLACED, TICK, flag, floats, integer, sensor

_MOST_PIXELS: Final = 8192  # per side
_LEAST_FOV_DEG, _MOST_FOV_DEG = 0.1, 179.0
MOST_IMAGE_BYTES: Final = 64 * 1024 * 1024  # 4096 x 4096 pixels of colour


_EVENTS: Final = (
    *floats(
        positive_threshold="0.3",
        negative_threshold="0.3",
        sigma_positive_threshold="0.0",
        sigma_negative_threshold="0.0",
    ),
    integer("refractory_period_ns", "0"),
    flag("use_log", "true"),
    *floats(log_eps="0.001"),
)


def _see_rows(scene: SensorScene, view: CameraView, rows: tuple[int, int], seen: Visible) -> None:
    look_rows(scene.solids, scene.meshes, scene.relief, view, rows, seen)
    if len(scene.pictures.texels):
        draw_cut_outs(scene.solids, scene.pictures, view, rows, seen)


class CameraSensor(Sensor):
    """A pinhole camera; subclasses define the picture that they make of the visible surfaces."""

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

    def view(self, pose: SensorPose) -> CameraView:
        """Return the view of the camera at a pose."""
        return CameraView(
            np.array(pose[:3]),
            pose_axes(pose),
            self.width,
            self.height,
            focal_length_px(self.width, self._drawn_fov_deg),
        )

    def see(self, scene: SensorScene, pose: SensorPose, view: CameraView) -> Visible:
        """Return the visible surfaces; cameras of one kind in one pose share the work."""
        key = ("view", pose, self.width, self.height, self.fov_deg)
        seen = scene.shared.get(key)
        if not isinstance(seen, Visible):
            seen = scene.shared[key] = nothing_seen(view)
            in_bands(view.height, lambda rows: _see_rows(scene, view, rows, seen))
        return seen

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """BGRA pixels."""
        raise NotImplementedError

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        view = self.view(pose)
        pixels = self.picture(scene, view, self.see(scene, pose, view))
        return [ImageReading(pixels, self.fov_deg)]


@sensor(
    "camera.rgb",
    PLACED,
    TICK,
    LENS,
    EXPOSURE,
    summary="colour images",
    order=1,
)
class RgbCamera(CameraSensor):
    """Colours."""

    kind = SensorType.RGB

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self._exposure = exposure_of(self.attributes)

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """Lit and textured colours."""
        return rgb_picture(scene, view, seen, self._exposure)


@sensor(
    "camera.depth",
    PLACED,
    TICK,
    LENS,
    summary="depth along the camera axis",
    order=2,
)
class DepthCamera(CameraSensor):
    """Depth along the camera axis."""

    kind = SensorType.DEPTH

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """Depth in 24 bits."""
        return depth_picture(view, seen)


@sensor(
    "camera.semantic_segmentation",
    PLACED,
    TICK,
    LENS,
    summary="semantic labels",
    order=3,
)
class SemanticCamera(CameraSensor):
    """Labels."""

    kind = SensorType.SEMANTIC

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """Labels in the red channel."""
        return label_picture(scene, view, seen, False)


@sensor(
    "camera.instance_segmentation",
    PLACED,
    TICK,
    LENS,
    summary="semantic labels and actor ids",
    order=4,
)
class InstanceCamera(CameraSensor):
    """Labels and ids."""

    kind = SensorType.INSTANCE

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """Labels in red, the low byte of the id in green, the high byte in blue."""
        return label_picture(scene, view, seen, True)


@sensor(
    "camera.cosmos_visualization",
    PLACED,
    TICK,
    LENS,
    summary="semantic image in place of the control image",
    order=8,
    only_0916=True,
)
class CosmosCamera(SemanticCamera):
    """Stands in for the control picture of 0.9.16 with the semantic one."""

    kind = SensorType.COSMOS


@sensor(
    "camera.normals",
    PLACED,
    TICK,
    LENS,
    summary="surface normals",
    order=5,
)
class NormalsCamera(CameraSensor):
    """Surface normals."""

    kind = SensorType.NORMALS

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """World normals as colours."""
        return normal_picture(scene, view, seen)


@sensor(
    "camera.optical_flow",
    PLACED,
    TICK,
    LENS,
    summary="motion of each pixel",
    order=6,
)
class FlowCamera(CameraSensor):
    """Motion of each pixel since the camera's last frame, in shares of the picture's size."""

    bytes_per_pixel = 8  # two floats

    kind = SensorType.OPTICAL_FLOW

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self._last: tuple[float, CameraView] | None = None

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        view = self.view(pose)
        last_s, last = self._last or (time_s, view)
        self._last = (time_s, view)
        flow = static_flow(scene, view, self.see(scene, pose, view), last, time_s - last_s)
        return [FlowReading(flow, self.fov_deg)]


@sensor(
    "camera.dvs",
    PLACED,
    TICK,
    LENS,
    EXPOSURE,
    _EVENTS,
    summary="changes of brightness as events",
    order=7,
)
class EventCamera(CameraSensor):
    """Changes of brightness; silent in frames without any, like the real one."""

    bytes_per_pixel = 13  # of one event

    kind = SensorType.DVS

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        super().__init__(type_id, attributes, sensor_id, seed)
        self._pixels = EventPixels.from_attributes(self.attributes)
        self._exposure = exposure_of(self.attributes)

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        view = self.view(pose)
        picture = rgb_picture(scene, view, self.see(scene, pose, view), self._exposure)
        events = self._pixels.update(picture, time_s, self.noise(frame))
        if len(events) == 0:
            return []
        return [EventsReading(events, self.width, self.height, self.fov_deg)]
