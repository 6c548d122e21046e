"""The twelve weathers of the suite ``habit``; each applies to a whole route."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from jaywalk.scenarios.formats.route_xml import Route, WeatherPoint

_CLEAR: Final = {
    "cloudiness": 10.0,
    "precipitation": 0.0,
    "precipitation_deposits": 0.0,
    "wetness": 0.0,
    "wind_intensity": 8.0,
    "sun_azimuth_angle": 210.0,
    "sun_altitude_angle": 50.0,
    "fog_density": 0.0,
    "fog_distance": 100.0,
}
_OVERCAST: Final = {**_CLEAR, "cloudiness": 85.0, "wind_intensity": 20.0}
_WET: Final = {**_CLEAR, "cloudiness": 50.0, "precipitation_deposits": 55.0, "wetness": 60.0}
_RAIN: Final = {
    **_OVERCAST,
    "precipitation": 60.0,
    "precipitation_deposits": 70.0,
    "wetness": 85.0,
    "wind_intensity": 45.0,
    "fog_density": 8.0,
    "fog_distance": 60.0,
    "sun_altitude_angle": 30.0,
}
_FOG: Final = {**_OVERCAST, "fog_density": 45.0, "fog_distance": 15.0, "sun_altitude_angle": 25.0}
_NIGHT: Final = {"sun_altitude_angle": -25.0, "sun_azimuth_angle": 10.0}
_DUSK: Final = {"sun_altitude_angle": 6.0, "sun_azimuth_angle": 285.0}

WEATHERS: Final[dict[str, dict[str, float]]] = {
    "clear-noon": {**_CLEAR, "sun_altitude_angle": 70.0},
    "clear-afternoon": _CLEAR,
    "clear-dusk": {**_CLEAR, **_DUSK},
    "clear-night": {**_CLEAR, **_NIGHT},
    "overcast": _OVERCAST,
    "windy-dawn": {
        **_OVERCAST,
        "wind_intensity": 70.0,
        "sun_altitude_angle": 8.0,
        "sun_azimuth_angle": 80.0,
    },
    "wet-noon": _WET,
    "wet-night": {**_WET, **_NIGHT},
    "rain": _RAIN,
    "rain-night": {**_RAIN, **_NIGHT},
    "fog": _FOG,
    "fog-dusk": {**_FOG, **_DUSK},
}
NAMES: Final = tuple(WEATHERS)


def with_weather(route: Route, name: str) -> Route:
    """Return the route with one of the weathers from start to end."""
    values = tuple((key, f"{value:g}") for key, value in WEATHERS[name].items())
    points = tuple(
        WeatherPoint(attributes=(("route_percentage", share), *values)) for share in ("0", "100")
    )
    return replace(route, weathers=points)


def weather_name(values: dict[str, float]) -> str:
    """Return the name of the weather with these values; "" if it is not in the list."""
    for name, known in WEATHERS.items():
        if all(abs(values.get(key, -1.0) - value) < 1e-3 for key, value in known.items()):
            return name
    return ""


_CLEAR_DAY: Final = {
    "cloudiness": 10.0,
    "precipitation": 0.0,
    "precipitation_deposits": 0.0,
    "wetness": 0.0,
    "wind_intensity": 5.0,
    "sun_azimuth_angle": 220.0,
    "sun_altitude_angle": 45.0,
    "fog_density": 2.0,
    "fog_distance": 0.75,
    "fog_falloff": 0.1,
    "scattering_intensity": 1.0,
    "mie_scattering_scale": 0.03,
    "rayleigh_scattering_scale": 0.0331,
}
CLEAR_DAY_WEATHERS: Final[dict[str, dict[str, float]]] = {
    "noon": _CLEAR_DAY,
    "cloudy": {
        **_CLEAR_DAY,
        "cloudiness": 80.0,
        "wind_intensity": 15.0,
        "sun_altitude_angle": 60.0,
    },
    "wet": {**_CLEAR_DAY, "cloudiness": 60.0, "precipitation_deposits": 50.0, "wetness": 60.0},
    "rain": {
        **_CLEAR_DAY,
        "cloudiness": 95.0,
        "precipitation": 50.0,
        "precipitation_deposits": 60.0,
        "wetness": 80.0,
        "wind_intensity": 40.0,
        "fog_density": 7.0,
    },
    "evening": {**_CLEAR_DAY, "sun_altitude_angle": 8.0, "sun_azimuth_angle": 285.0},
    "fog": {**_CLEAR_DAY, "cloudiness": 70.0, "fog_density": 40.0, "fog_distance": 20.0},
}
