"""Weather as pictures show it: the light of sun and sky, clouds, fog, water and the exposure.

Light is linear: 1 is the light of the noon sun on a surface that faces it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from jaywalk.server.sensors._solids import kernel

Rgb = tuple[float, float, float]


class Sky(NamedTuple):
    """The weather that pictures show, in CARLA's units, and the time that moves rain."""

    sun_azimuth_deg: float = 0.0
    sun_altitude_deg: float = 45.0
    cloudiness: float = 0.0
    fog_density: float = 0.0  # per cent, like all others without a unit
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    wetness: float = 0.0
    fog_distance_m: float = 0.0
    dust_storm: float = 0.0
    time_s: float = 0.0


# Places in CARLA's list of weather parameters.
_CLOUDS, _RAIN, _DEPOSITS, _AZIMUTH, _ALTITUDE, _FOG, _FOG_DISTANCE, _WETNESS, _DUST = (
    0,
    1,
    2,
    4,
    5,
    6,
    7,
    8,
    13,
)


def sky_of(weather: list[float], time_s: float) -> Sky:
    """Return the sky of CARLA's 14 weather parameters."""
    return Sky(
        sun_azimuth_deg=weather[_AZIMUTH],
        sun_altitude_deg=weather[_ALTITUDE],
        cloudiness=weather[_CLOUDS],
        fog_density=weather[_FOG],
        precipitation=weather[_RAIN],
        precipitation_deposits=weather[_DEPOSITS],
        wetness=weather[_WETNESS],
        fog_distance_m=weather[_FOG_DISTANCE],
        dust_storm=weather[_DUST],
        time_s=time_s,
    )


class SceneLight(NamedTuple):
    """Light of one tick, ready for kernels."""

    sun: Rgb  # unit vector towards the sun
    direct: Rgb  # light of the sun on a surface that faces it
    above: Rgb  # light of the sky on a level surface
    below: Rgb  # light that the ground throws back
    zenith: Rgb  # colours of the sky
    horizon: Rgb
    glow: Rgb  # of the sky around the sun
    haze: Rgb  # colour of far things
    fog_per_m: float
    fog_from_m: float
    cloud: float  # shares 0..1
    wet: float
    puddles: float
    rain: float
    dark: float  # 0 by day, 1 when lamps are the only light
    exposure: float  # of an eye that is used to this light


_NOON: Final = (1.0, 0.94, 0.84)
_MOON: Final = (0.0045, 0.0055, 0.0085)
_CITY_GLOW: Final = (0.0060, 0.0050, 0.0042)
_HAZE_HALF_M: Final = 2600.0  # half of the light of a thing is lost to haze, in clear weather
_FOG_HALF_M: Final = 28.0  # in the densest fog
_RAIN_HALF_M: Final = 260.0
LAMPS_BELOW_DEG: Final = 2.0  # street lamps shine when the sun is lower


def _share(value: float, low: float, high: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _smooth(value: float, low: float, high: float) -> float:
    t = _share(value, low, high)
    return t * t * (3.0 - 2.0 * t)


def _mix(a: Rgb, b: Rgb, share: float) -> Rgb:
    return (
        a[0] + (b[0] - a[0]) * share,
        a[1] + (b[1] - a[1]) * share,
        a[2] + (b[2] - a[2]) * share,
    )


def _times(a: Rgb, scale: float) -> Rgb:
    return a[0] * scale, a[1] * scale, a[2] * scale


def _plus(a: Rgb, b: Rgb) -> Rgb:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def light_of(sky: Sky) -> SceneLight:
    """Light that the sun's place, clouds, rain and fog give."""
    altitude_deg = sky.sun_altitude_deg
    altitude, azimuth = math.radians(altitude_deg), math.radians(sky.sun_azimuth_deg)
    sun = (
        math.cos(altitude) * math.cos(azimuth),
        math.cos(altitude) * math.sin(azimuth),
        math.sin(altitude),
    )
    cloud, rain = _share(sky.cloudiness, 0.0, 100.0), _share(sky.precipitation, 0.0, 100.0)
    day = _smooth(altitude_deg, -9.0, 14.0)
    low = 1.0 - _smooth(altitude_deg, 1.0, 22.0)  # a low sun is red
    overcast = cloud * cloud * (3.0 - 2.0 * cloud)
    shown = _smooth(altitude_deg, -1.5, 6.0) * (1.0 - 0.97 * overcast)
    direct = _times(_mix(_NOON, (1.0, 0.55, 0.26), low), shown * (1.0 - 0.35 * low))
    clear_above = _mix((0.22, 0.26, 0.34), (0.20, 0.19, 0.24), low)
    above = _times(_mix(clear_above, (0.36, 0.38, 0.40), overcast), day * (1.0 - 0.35 * rain))
    night = _plus(_MOON, _CITY_GLOW)
    above = _plus(above, night)
    lit = _plus(_times(direct, max(sun[2], 0.0)), above)
    below = (0.20 * lit[0], 0.19 * lit[1], 0.17 * lit[2])
    # Blue above, pale at the horizon, orange around a low sun, grey with clouds.
    zenith = _mix((0.10, 0.22, 0.52), (0.10, 0.15, 0.32), low)
    horizon = _mix((0.50, 0.62, 0.74), (0.66, 0.46, 0.32), low)
    grey = (0.46, 0.48, 0.50) if rain < 0.1 else (0.36, 0.38, 0.40)
    zenith = _plus(_times(_mix(zenith, _times(grey, 0.85), overcast), day), _times(night, 0.22))
    horizon = _plus(_times(_mix(horizon, grey, overcast), day), _times(night, 0.4))
    glow = _times(_mix((0.5, 0.45, 0.36), (1.3, 0.62, 0.22), low), shown)
    fog = _share(sky.fog_density, 0.0, 100.0)
    fog_per_m = math.log(2.0) * (fog / _FOG_HALF_M + rain / _RAIN_HALF_M + 1.0 / _HAZE_HALF_M)
    dust = _share(sky.dust_storm, 0.0, 100.0)
    fog_per_m += math.log(2.0) * dust / 40.0
    haze = _mix(horizon, _times(_plus(above, _times(direct, 0.3)), 0.9), min(fog + rain, 1.0))
    haze = _mix(haze, (haze[0] * 1.1, haze[1] * 0.8, haze[2] * 0.5), dust)
    wet = max(_share(sky.wetness, 0.0, 80.0), _share(sky.precipitation_deposits, 0.0, 60.0))
    # The eye gets used to most of the difference, so that dusk looks darker than noon, and night
    # darker still.
    mean = (0.6 * sum(lit) + 0.4 * sum(above)) / 3.0
    used = max(mean, 0.011) / 0.62
    exposure = 1.05 / used**0.62
    return SceneLight(
        sun=sun,
        direct=direct,
        above=above,
        below=below,
        zenith=zenith,
        horizon=horizon,
        glow=glow,
        haze=haze,
        fog_per_m=fog_per_m,
        fog_from_m=max(sky.fog_distance_m, 0.0) if fog > 0.0 else 0.0,
        cloud=cloud,
        wet=max(wet, rain),
        puddles=_share(sky.precipitation_deposits, 5.0, 100.0),
        rain=rain,
        dark=1.0 - _smooth(altitude_deg, -8.0, LAMPS_BELOW_DEG),
        exposure=exposure,
    )


@kernel
def sky_color(light: SceneLight, dx: float, dy: float, dz: float) -> tuple[float, float, float]:
    """Colour of the sky without clouds along a unit vector; below the horizon as at it."""
    rise = max(dz, 0.0)
    pale = 1.0 - rise
    pale *= pale
    pale *= pale
    c = max(dx * light.sun[0] + dy * light.sun[1] + dz * light.sun[2], 0.0)
    near = c * c
    near *= near
    near = near * near
    wide = 0.16 * near
    near = near * near
    near = near * near
    near = near * near
    glow = wide + 0.3 * near
    return (
        light.zenith[0] + pale * (light.horizon[0] - light.zenith[0]) + glow * light.glow[0],
        light.zenith[1] + pale * (light.horizon[1] - light.zenith[1]) + glow * light.glow[1],
        light.zenith[2] + pale * (light.horizon[2] - light.zenith[2]) + glow * light.glow[2],
    )
