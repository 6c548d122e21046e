"""Cameras: colour, depth, semantic and instance pictures, normals, optical flow and events.

Flat pictures can be cut out: where they are transparent, a camera sees the surfaces behind them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._events import EventPixels, static_flow
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
from jaywalk.server.sensors._solids import (
    CUT_OUT,
    LOWER,
    UPPER,
    Pictures,
    Solids,
    as_int64,
    ink_at,
    kernel,
    pose_axes,
)
from jaywalk.server.sensors._visibility import (
    NEAR_M,
    CameraView,
    Visible,
    focal_length_px,
    look,
    pixel_ray,
)
from jaywalk.server.sensors.catalogue import PLACED, TICK, choice, flag, floats, integer, sensor


@kernel
def draw_cut_outs(solids: Solids, pictures: Pictures, view: CameraView, seen: Visible) -> None:
    """Draw the solids that ``look`` leaves out, in front of or behind the surfaces it found."""
    window = np.empty(4, np.int64)
    for k in range(solids.used):
        if solids.pattern[k] >= CUT_OUT and _window(solids.form, k, view, window):
            _draw(solids, pictures, k, view, window, seen)


@kernel
def _window(form: NDArray[np.float64], k: int, view: CameraView, out: NDArray[np.int64]) -> bool:
    """Pixels (left, right, top, bottom) around a plate; False: it is out of sight."""
    left, right, top, bottom = math.inf, -math.inf, math.inf, -math.inf
    before = 0
    for corner in range(8):
        x, y, z = 0.0, 0.0, 0.0
        for m in range(3):
            at = form[k, m] - view.origin[m]
            for axis in range(3):
                half = form[k, 12 + axis]
                at += (half if (corner >> axis) & 1 else -half) * form[k, 3 + 3 * axis + m]
            x += view.axes[0, m] * at
            y += view.axes[1, m] * at
            z += view.axes[2, m] * at
        if x < NEAR_M:
            continue
        before += 1
        u = 0.5 * view.width + view.focal_px * y / x
        v = 0.5 * view.height - view.focal_px * z / x
        left, right = min(left, u), max(right, u)
        top, bottom = min(top, v), max(bottom, v)
    if before == 0:
        return False
    if before < 8:
        left, right, top, bottom = 0.0, float(view.width), 0.0, float(view.height)
    out[0] = math.floor(max(left - 1.0, 0.0))
    out[1] = math.ceil(min(right + 1.0, float(view.width)))
    out[2] = math.floor(max(top - 1.0, 0.0))
    out[3] = math.ceil(min(bottom + 1.0, float(view.height)))
    return bool(out[0] < out[1] and out[2] < out[3])


@kernel
def _draw(
    solids: Solids,
    pictures: Pictures,
    k: int,
    view: CameraView,
    window: NDArray[np.int64],
    seen: Visible,
) -> None:
    """Cast the rays of the pixels around a plate; it is seen from above or below, never edge on."""
    form, pattern = solids.form, as_int64(solids.pattern[k])
    ox, oy, oz = view.origin[0], view.origin[1], view.origin[2]
    px, py, pz = ox - form[k, 0], oy - form[k, 1], oz - form[k, 2]
    above = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
    if abs(above) <= form[k, 14]:
        return
    part = UPPER if above > 0.0 else LOWER
    gap = abs(above) - form[k, 14]
    sign = -1.0 if above > 0.0 else 1.0
    for v in range(window[2], window[3]):
        for u in range(window[0], window[1]):
            dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
            toward = sign * (form[k, 9] * dx + form[k, 10] * dy + form[k, 11] * dz)
            if toward <= 1e-12:
                continue
            t = gap / toward
            value = np.float32(1.0 / t)
            if t < NEAR_M or value <= seen.inverse_depth[v, u]:
                continue
            x, y, z = px + t * dx, py + t * dy, pz + t * dz
            if abs(form[k, 3] * x + form[k, 4] * y + form[k, 5] * z) > form[k, 12]:
                continue
            if abs(form[k, 6] * x + form[k, 7] * y + form[k, 8] * z) > form[k, 13]:
                continue
            place = (ox + t * dx, oy + t * dy, oz + t * dz)
            if ink_at(pictures, form, pattern, k, part, place, t / view.focal_px)[3]:
                seen.inverse_depth[v, u] = value
                seen.surface[v, u] = k * 8 + part


_MOST_PIXELS: Final = 8192  # per side
_LEAST_FOV_DEG, _MOST_FOV_DEG = 0.1, 179.0
MOST_IMAGE_BYTES: Final = 64 * 1024 * 1024  # 4096 x 4096 pixels of colour


_LENS: Final = (
    integer("image_size_x", "800"),
    integer("image_size_y", "600"),
    *floats(
        fov="90.0",
        lens_circle_falloff="5.0",
        lens_circle_multiplier="0.0",
        lens_k="-1.0",
        lens_kcube="0.0",
        lens_x_size="0.08",
        lens_y_size="0.08",
    ),
)
_EXPOSURE: Final = (
    choice("exposure_mode", "histogram", "manual"),
    *floats(exposure_compensation="0.0", shutter_speed="200.0", iso="100.0", fstop="1.4"),
    flag("enable_postprocess_effects", "true"),
    *floats(
        gamma="2.2",
        motion_blur_intensity="0.45",
        motion_blur_max_distortion="0.35",
        lens_flare_intensity="0.1",
        bloom_intensity="0.675",
        motion_blur_min_object_screen_size="0.1",
        exposure_min_bright="10.0",
        exposure_max_bright="12.0",
        exposure_speed_up="3.0",
        exposure_speed_down="1.0",
        calibration_constant="16.0",
        focal_distance="1000.0",
        min_fstop="1.2",
    ),
    integer("blade_count", "5"),
    *floats(
        blur_amount="1.0",
        blur_radius="0.0",
        slope="0.88",
        toe="0.55",
        shoulder="0.26",
        black_clip="0.0",
        white_clip="0.04",
        temp="6500.0",
        tint="0.0",
        chromatic_aberration_intensity="0.0",
        chromatic_aberration_offset="0.0",
    ),
)
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
            seen = look(scene.solids, scene.meshes, scene.relief, view)
            if len(scene.pictures.texels):
                draw_cut_outs(scene.solids, scene.pictures, view, seen)
            scene.shared[key] = seen
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
    _LENS,
    _EXPOSURE,
    summary="colour images",
    order=1,
)
class RgbCamera(CameraSensor):
    """Colours."""

    kind = SensorType.RGB

    def picture(self, scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
        """Plainly shaded colours."""
        return rgb_picture(scene, view, seen)


@sensor(
    "camera.depth",
    PLACED,
    TICK,
    _LENS,
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
    _LENS,
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
    _LENS,
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
    _LENS,
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
    _LENS,
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
    _LENS,
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
    _LENS,
    _EXPOSURE,
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

    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        view = self.view(pose)
        picture = rgb_picture(scene, view, self.see(scene, pose, view))
        events = self._pixels.update(picture, time_s, self.noise(frame))
        if len(events) == 0:
            return []
        return [EventsReading(events, self.width, self.height, self.fov_deg)]
