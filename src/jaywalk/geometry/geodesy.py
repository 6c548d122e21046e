"""Latitude and longitude of a position in the world, in the two forms that CARLA clients use.

The 0.9.15 library uses Mercator's projection of a sphere and takes north as -y. The 0.9.16 library
uses the spherical transverse Mercator projection with scale 0.9996 and takes north as +y.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from jaywalk.core.arrays import FloatArray

EARTH_RADIUS_M: Final = 6378137.0
_SCALE_0916: Final = 0.9996


class GeoReference(NamedTuple):
    """Position of the world's origin on the globe."""

    latitude_deg: float
    longitude_deg: float


# Default of the client library for maps without a reference.
DEFAULT_REFERENCE: Final = GeoReference(42.0, 2.0)


class GeoLocation(NamedTuple):
    """Position on the globe, in degrees and metres."""

    latitude_deg: float
    longitude_deg: float
    altitude_m: float


def parse_geo_reference(text: str) -> GeoReference:
    """Read +lat_0 and +lon_0 from the geoReference text of an OpenDRIVE header.

    As in the client library only these two keys count. If one is missing or not a number, the
    default reference is used.
    """
    values: dict[str, float] = {}
    for element in text.split():
        key, _, value = element.partition("=")
        if key in ("+lat_0", "+lon_0"):
            try:
                values[key] = float(value)
            except ValueError:
                return DEFAULT_REFERENCE
    if len(values) < 2 or not all(math.isfinite(value) for value in values.values()):
        return DEFAULT_REFERENCE
    return GeoReference(values["+lat_0"], values["+lon_0"])


def route_reference_deg(root: Element) -> tuple[float, float]:
    """Latitude and longitude of an OpenDRIVE document's origin, as the Leaderboard reads them.

    Unlike :func:`parse_geo_reference` it reads each of the two by itself.
    """
    latitude, longitude = DEFAULT_REFERENCE
    for element in root.iterfind("header/geoReference"):
        for item in (element.text or "").split(" "):
            if "+lat_0" in item:
                latitude = float(item.split("=")[1])
            if "+lon_0" in item:
                longitude = float(item.split("=")[1])
    return latitude, longitude


def locate_0916(reference: GeoReference, x_m: float, y_m: float, z_m: float) -> GeoLocation:
    """Latitude, longitude and altitude as the 0.9.16 library computes them."""
    east = x_m / (_SCALE_0916 * EARTH_RADIUS_M)
    north = y_m / (_SCALE_0916 * EARTH_RADIUS_M) + math.radians(reference.latitude_deg)
    latitude = math.asin(math.sin(north) / math.cosh(east))
    longitude = math.atan2(math.sinh(east), math.cos(north))
    return GeoLocation(
        math.degrees(latitude), reference.longitude_deg + math.degrees(longitude), z_m
    )


def from_0916_gps(
    latitude: float, longitude: float, reference: tuple[float, float]
) -> tuple[float, float]:
    """Convert the report of a GNSS sensor of CARLA 0.9.16 to x and y: undo :func:`locate_0916`."""
    north = math.radians(latitude)
    east = math.radians(longitude - reference[1])
    scale = _SCALE_0916 * EARTH_RADIUS_M
    x_m = scale * math.atanh(math.cos(north) * math.sin(east))
    y_m = scale * (math.atan2(math.tan(north), math.cos(east)) - math.radians(reference[0]))
    return x_m, y_m


def _mercator(reference: tuple[float, float]) -> tuple[float, float, float]:
    """Scale, and east and north of the origin, in Mercator's projection; metres."""
    latitude, longitude = reference
    scale_m = math.cos(math.radians(latitude)) * EARTH_RADIUS_M
    north_m = scale_m * math.log(math.tan(math.radians(90.0 + latitude) / 2.0))
    return scale_m, scale_m * math.radians(longitude), north_m


def locate_0915(reference: GeoReference, x_m: float, y_m: float, z_m: float) -> GeoLocation:
    """Latitude, longitude and altitude as the 0.9.15 library computes them."""
    scale_m, east_m, north_m = _mercator(reference)
    return GeoLocation(
        math.degrees(2.0 * math.atan(math.exp((north_m - y_m) / scale_m))) - 90.0,
        math.degrees((east_m + x_m) / scale_m),
        z_m,
    )


def to_gps(position_m: FloatArray, reference: tuple[float, float]) -> FloatArray:
    """Convert rows (x, y, z) in CARLA's frame to rows (latitude, longitude, height).

    The projection is the Leaderboard's, which is that of 0.9.15. ``transform_to_geolocation`` of
    CARLA 0.9.16 uses another one; agents of the Leaderboard expect this one.
    """
    scale_m, east_m, north_m = _mercator(reference)
    return np.column_stack(
        [
            2.0 * np.degrees(np.arctan(np.exp((north_m - position_m[:, 1]) / scale_m))) - 90.0,
            np.degrees((east_m + position_m[:, 0]) / scale_m),
            position_m[:, 2],
        ]
    )
