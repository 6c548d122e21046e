"""Latitude and longitude of a position in the world, in the two forms that CARLA clients use.

The 0.9.15 library uses Mercator's projection of a sphere and takes north as -y. The 0.9.16 library
uses the spherical transverse Mercator projection with scale 0.9996 and takes north as +y.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

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

    As in the client library only these two keys count; if one is missing or no number, the default
    reference is used.
    """
    found: dict[str, float] = {}
    for element in text.split():
        key, _, value = element.partition("=")
        if key in ("+lat_0", "+lon_0"):
            try:
                found[key] = float(value)
            except ValueError:
                return DEFAULT_REFERENCE
    if len(found) < 2 or not all(math.isfinite(value) for value in found.values()):
        return DEFAULT_REFERENCE
    return GeoReference(found["+lat_0"], found["+lon_0"])


def locate_0916(reference: GeoReference, x_m: float, y_m: float, z_m: float) -> GeoLocation:
    """Latitude, longitude and altitude as the 0.9.16 library computes them."""
    east = x_m / (_SCALE_0916 * EARTH_RADIUS_M)
    north = y_m / (_SCALE_0916 * EARTH_RADIUS_M) + math.radians(reference.latitude_deg)
    latitude = math.asin(math.sin(north) / math.cosh(east))
    longitude = math.atan2(math.sinh(east), math.cos(north))
    return GeoLocation(
        math.degrees(latitude), reference.longitude_deg + math.degrees(longitude), z_m
    )


def locate_0915(reference: GeoReference, x_m: float, y_m: float, z_m: float) -> GeoLocation:
    """Latitude, longitude and altitude as the 0.9.15 library computes them."""
    scale_m = math.cos(math.radians(reference.latitude_deg)) * EARTH_RADIUS_M
    east_m = scale_m * math.radians(reference.longitude_deg) + x_m
    half_angle = math.radians(90.0 + reference.latitude_deg) / 2.0
    north_m = scale_m * math.log(math.tan(half_angle)) - y_m
    return GeoLocation(
        math.degrees(2.0 * math.atan(math.exp(north_m / scale_m))) - 90.0,
        math.degrees(east_m / scale_m),
        z_m,
    )
