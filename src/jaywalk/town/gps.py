"""GPS of route points as the Leaderboard computes it: spherical Mercator about the map's reference.

The 0.9.16 library's own ``transform_to_geolocation`` uses another projection; agents of the
Leaderboard expect this one.
"""

from __future__ import annotations

import math
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

EARTH_RADIUS_M: Final = 6378137.0
_SCALE_0916: Final = 0.9996
DEFAULT_REFERENCE_DEG: Final = (42.0, 2.0)


def reference_deg(root: Element) -> tuple[float, float]:
    """Latitude and longitude of the origin from an OpenDRIVE document; (42, 2) when unsaid."""
    latitude, longitude = DEFAULT_REFERENCE_DEG
    for element in root.iterfind("header/geoReference"):
        for item in (element.text or "").split(" "):
            if "+lat_0" in item:
                latitude = float(item.split("=")[1])
            if "+lon_0" in item:
                longitude = float(item.split("=")[1])
    return latitude, longitude


def to_gps(position_m: NDArray[np.float64], reference: tuple[float, float]) -> NDArray[np.float64]:
    """Rows (latitude, longitude, height) of rows (x, y, z) in CARLA's frame."""
    latitude, longitude = reference
    scale = math.cos(math.radians(latitude)) * EARTH_RADIUS_M
    east_m = scale * math.radians(longitude) + position_m[:, 0]
    north_m = scale * math.log(math.tan(math.radians(90.0 + latitude) / 2.0)) - position_m[:, 1]
    return np.column_stack([
        2.0 * np.degrees(np.arctan(np.exp(north_m / scale))) - 90.0,
        np.degrees(east_m / scale),
        position_m[:, 2],
    ])  # fmt: skip


def from_0916_gps(
    latitude: float, longitude: float, reference: tuple[float, float]
) -> tuple[float, float]:
    """X and y in CARLA's frame of what a GNSS sensor of 0.9.16 reports.

    That version projects with the spherical transverse Mercator projection and takes north as +y.
    """
    north = math.radians(latitude)
    east = math.radians(longitude - reference[1])
    scale = _SCALE_0916 * EARTH_RADIUS_M
    x_m = scale * math.atanh(math.cos(north) * math.sin(east))
    y_m = scale * (math.atan2(math.tan(north), math.cos(east)) - math.radians(reference[0]))
    return x_m, y_m
