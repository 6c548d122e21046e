"""Event pixels: each fires whenever its brightness has changed by a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.attributes import Attributes
from jaywalk.server.sensors.images import DVS_EVENT
from jaywalk.server.sensors.kernel import kernel

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
        """Events between the last BGRA picture and this one, in order of time."""
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
        found = np.empty((count, 4), np.int64)
        _fire(*state, rise, fall, span, self.rest_ns, found, True)
        self._level, self._time_ns = level, now_ns
        events = np.empty(count, DVS_EVENT)
        for column, name in enumerate(("x", "y", "t_ns", "polarity")):
            events[name] = found[:, column]
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
