"""The weather of a route: between two given points it changes linearly with the way driven."""

from __future__ import annotations

from typing import Any, Final

import carla
import numpy as np

from jaywalk.scenarios.route_xml import WeatherPoint

_STEP: Final = 0.01  # share of the route between two changes
# What the Leaderboard sets when a route file says nothing.
_FAIR: Final = {"sun_altitude_angle": 70.0, "cloudiness": 50.0}


class RouteWeather:
    """Sets the weather while the ego drives."""

    def __init__(self, points: tuple[WeatherPoint, ...] | None) -> None:
        ordered = sorted(points or (), key=lambda point: point.route_percentage)
        self._share = np.array([point.route_percentage / 100.0 for point in ordered])
        self._values = [point.values for point in ordered] or [_FAIR]
        self._share = self._share if len(self._share) else np.zeros(1)
        self._last = -1.0

    def advance(self, world: Any, share: float) -> Any | None:
        """Change the weather when it is time to; returns what was set."""
        first = self._last < 0.0
        constant = all(values == self._values[0] for values in self._values)
        if not first and (constant or share < self._last + _STEP):
            return None
        self._last = share
        weather = self._at(share)
        world.set_weather(weather)
        return weather

    def _at(self, share: float) -> Any:
        names = {name for values in self._values for name in values}
        weather = carla.WeatherParameters()
        for name in sorted(names):
            given = [values.get(name, getattr(weather, name)) for values in self._values]
            setattr(weather, name, float(np.interp(share, self._share, given)))
        return weather
