"""Event pixels and optical flow.

An event pixel fires whenever its brightness has changed by a threshold. Optical flow is computed
from depth: it compares each visible point with its place in the camera's previous picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._readings import DVS_EVENT
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._visibility import NEAR_M, SKY, CameraView, Visible, pixel_ray
from jaywalk.server.sensors.catalogue import Attributes


def static_flow(
    scene: SensorScene, view: CameraView, seen: Visible, last: CameraView, elapsed_s: float
) -> NDArray[np.float32]:
    """Flow to the right and down since the ``last`` view, as shares of width and height.

    Points of actors are moved back by their actor's velocity; turning and gait are left out.
    """
    table = scene.actors[: scene.rows]
    velocity = np.stack([table["vx"], table["vy"], table["vz"]], axis=1).astype(np.float64)
    owner = scene.solids.owner[: max(scene.solids.used, 1)]
    out = np.zeros((view.height, view.width, 2), np.float32)
    _flow(owner, velocity, view, seen, last, elapsed_s, out)
    return out


@kernel
def _flow(
    owner: NDArray[np.int32],
    velocity: NDArray[np.float64],
    view: CameraView,
    seen: Visible,
    last: CameraView,
    elapsed_s: float,
    out: NDArray[np.float32],
) -> None:
    axes = last.axes
    for v in range(view.height):
        for u in range(view.width):
            dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
            surface = seen.surface[v, u]
            if surface == SKY:
                x, y, z = dx, dy, dz  # infinitely far: only rotation counts
            else:
                t = 1.0 / seen.inverse_depth[v, u]
                x = view.origin[0] + t * dx - last.origin[0]
                y = view.origin[1] + t * dy - last.origin[1]
                z = view.origin[2] + t * dz - last.origin[2]
                row = owner[surface >> 3] if surface >= 0 else -1
                if row >= 0:
                    x -= elapsed_s * velocity[row, 0]
                    y -= elapsed_s * velocity[row, 1]
                    z -= elapsed_s * velocity[row, 2]
            depth = axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z
            if depth < NEAR_M * 0.02:
                continue  # was behind the camera
            right = axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z
            up = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
            old_u = 0.5 * last.width + last.focal_px * right / depth
            old_v = 0.5 * last.height - last.focal_px * up / depth
            out[v, u, 0] = (u + 0.5 - old_u) / view.width
            out[v, u, 1] = (v + 0.5 - old_v) / view.height


_LEAST_THRESHOLD: Final = 0.01
_NO_EVENT_YET: Final = -(2**62)


@dataclass(slots=True, kw_only=True)
class EventPixels:
    """State of the pixels of one event camera."""

    rise: float  # thresholds on the (logarithmic) brightness
    fall: float
    rise_stddev: float
    fall_stddev: float
    rest_ns: int  # a pixel stays silent this long after an event
    use_log: bool
    log_eps: float
    _time_ns: int = 0
    _level: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    _reference: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    _fired_ns: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @classmethod
    def from_attributes(cls, values: Attributes) -> EventPixels:
        """Read thresholds and times from a sensor's attributes."""
        return cls(
            rise=values.number("positive_threshold", _LEAST_THRESHOLD),
            fall=values.number("negative_threshold", _LEAST_THRESHOLD),
            rise_stddev=values.number("sigma_positive_threshold", 0.0),
            fall_stddev=values.number("sigma_negative_threshold", 0.0),
            rest_ns=values.integer("refractory_period_ns", 0, 2**31 - 1),
            use_log=values.flag("use_log"),
            log_eps=values.number("log_eps", 1e-9, 1.0),
        )

    def update(
        self, picture: NDArray[np.uint8], time_s: float, noise: np.random.Generator
    ) -> NDArray[np.void]:
        """Return the events between the last BGRA picture and this one, in order of time."""
        now_ns = round(time_s * 1e9)
        grey = picture[..., :3] @ np.array([0.114, 0.587, 0.2989])
        level = np.log(self.log_eps + grey / 255.0) if self.use_log else grey
        if self._level.shape != level.shape:
            self._level, self._reference = level, level.copy()
            self._fired_ns = np.full(level.shape, _NO_EVENT_YET, np.int64)
            self._time_ns = now_ns
            return np.zeros(0, DVS_EVENT)
        rise = self._thresholds(self.rise, self.rise_stddev, level.shape, noise)
        fall = self._thresholds(self.fall, self.fall_stddev, level.shape, noise)
        span = (self._time_ns, now_ns)
        state = (self._level, level, self._reference, self._fired_ns)
        count = _fire(*state, rise, fall, span, self.rest_ns, _SCRATCH, False)
        rows = np.empty((count, 4), np.int64)
        _fire(*state, rise, fall, span, self.rest_ns, rows, True)
        self._level, self._time_ns = level, now_ns
        events = np.empty(count, DVS_EVENT)
        for column, name in enumerate(("x", "y", "t_ns", "polarity")):
            events[name] = rows[:, column]
        return events[np.argsort(events["t_ns"], kind="stable")]

    @staticmethod
    def _thresholds(
        mean: float, stddev: float, shape: tuple[int, ...], noise: np.random.Generator
    ) -> NDArray[np.float64]:
        if stddev == 0.0:
            return np.full(shape, mean)
        return np.maximum(noise.normal(mean, stddev, shape), _LEAST_THRESHOLD)


_SCRATCH: Final = np.zeros((0, 4), np.int64)


@kernel
def _fire(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    reference: NDArray[np.float64],
    fired_ns: NDArray[np.int64],
    rise: NDArray[np.float64],
    fall: NDArray[np.float64],
    span_ns: tuple[int, int],
    rest_ns: int,
    out: NDArray[np.int64],
    write: bool,
) -> int:
    """Count the events, or write them as (x, y, t, polarity) and move the pixels' state on."""
    rows, columns = before.shape
    count = 0
    for y in range(rows):
        for x in range(columns):
            old, new = before[y, x], after[y, x]
            if abs(new - old) <= 1e-6:
                continue
            up = new > old
            step = rise[y, x] if up else -fall[y, x]
            level, fired = reference[y, x], fired_ns[y, x]
            # First threshold beyond the old brightness: earlier ones were passed before.
            skipped = math.floor((old - level) / step)
            if skipped > 0:
                level += skipped * step
            level += step
            while (level <= new) if up else (level >= new):
                if (level > old) if up else (level < old):
                    share = (level - old) / (new - old)
                    t = span_ns[0] + int(share * (span_ns[1] - span_ns[0]))
                    if t - fired >= rest_ns:
                        if write:
                            out[count, 0], out[count, 1] = x, y
                            out[count, 2], out[count, 3] = t, 1 if up else 0
                        count += 1
                        fired = t
                    if write:
                        reference[y, x] = level
                level += step
            if write:
                fired_ns[y, x] = fired
    return count
