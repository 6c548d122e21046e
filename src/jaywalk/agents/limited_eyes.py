"""Eyes that do not see everything: no farther than the weather allows, not through other things.

A thing is hidden when something at least as tall stands before its middle and all its corners.
Buildings and hills hide nothing here: only actors are known.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import Eyes, Own, Seen

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_CLEAR_M: Final = 80.0
_NIGHT_M: Final = 45.0  # by headlights
_FOG_SHARE: Final = 0.8  # of the range that the densest fog takes away
_RAIN_SHARE: Final = 0.25
_LEAST_M: Final = 12.0
_WEATHER_TICKS: Final = 100
_TALLER_M: Final = 0.2  # a head shows over something this much lower


class LimitedEyes(Eyes):
    """As :class:`Eyes`, with a range and without what is hidden."""

    def __init__(self, world: Any, ego: Any) -> None:
        super().__init__(world, ego)
        self._ticks = 0
        self._range_m = _CLEAR_M

    def look(self, snapshot: Any) -> Seen:
        """What can be seen of a snapshot."""
        if self._ticks % _WEATHER_TICKS == 0:
            self._range_m = sight_m(self._world.get_weather())
        self._ticks += 1
        return visible(self.own(snapshot), super().look(snapshot), self._range_m)


def sight_m(weather: Any) -> float:
    """How far one sees in a weather (CARLA's parameters)."""
    reach = _CLEAR_M if weather.sun_altitude_angle > 0.0 else _NIGHT_M
    reach *= 1.0 - _FOG_SHARE * min(max(weather.fog_density, 0.0), 100.0) / 100.0
    reach *= 1.0 - _RAIN_SHARE * min(max(weather.precipitation, 0.0), 100.0) / 100.0
    return float(max(reach, _LEAST_M))


def visible(own: Own, seen: Seen, range_m: float) -> Seen:
    """The things within a range that nothing hides."""
    away = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
    near = seen.where(away - seen.half_m[:, 0] < range_m)
    if len(near) < 2:
        return near
    eye = np.array([own.x_m, own.y_m])
    hidden = _blocked(eye, _corners(near), near)  # (n, 5, n): corner of i behind j
    taller = near.height_m[None, :] > near.height_m[:, None] - _TALLER_M
    np.fill_diagonal(taller, False)
    # Different corners may be hidden by different things.
    covered = np.any(hidden & taller[:, None, :], axis=2)
    return near.where(~np.all(covered, axis=1))


def _corners(seen: Seen) -> FloatArray:
    """The middle and the four corners of each box: ``(n, 5, 2)``."""
    signs = np.array([(0.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
    along = signs[None, :, 0] * seen.half_m[:, 0:1]
    aside = signs[None, :, 1] * seen.half_m[:, 1:2]
    cos, sin = seen.cos[:, None], seen.sin[:, None]
    return np.stack(
        [
            seen.xy_m[:, 0:1] + along * cos - aside * sin,
            seen.xy_m[:, 1:2] + along * sin + aside * cos,
        ],
        axis=-1,
    )


def _blocked(eye_m: FloatArray, points_m: FloatArray, seen: Seen) -> BoolArray:
    """Whether the line of sight to each point passes through each box: slabs in its frame."""
    start = _in_frame(eye_m[None, None, None, :], seen)
    end = _in_frame(points_m[:, :, None, :], seen)
    low, high = np.zeros(end.shape[:3]), np.ones(end.shape[:3])
    for axis in (0, 1):
        half = seen.half_m[:, axis]
        step = end[..., axis] - start[..., axis]
        step = np.where(np.abs(step) < 1e-9, 1e-9, step)
        first, second = (-half - start[..., axis]) / step, (half - start[..., axis]) / step
        low = np.maximum(low, np.minimum(first, second))
        high = np.minimum(high, np.maximum(first, second))
    return np.asarray(low < high)


def _in_frame(points_m: FloatArray, seen: Seen) -> FloatArray:
    dx, dy = points_m[..., 0] - seen.xy_m[:, 0], points_m[..., 1] - seen.xy_m[:, 1]
    return np.stack([dx * seen.cos + dy * seen.sin, dy * seen.cos - dx * seen.sin], axis=-1)
