import carla
import numpy as np
import pytest

from jaywalk.geometry.geodesy import (
    DEFAULT_REFERENCE,
    GeoReference,
    locate_0915,
    locate_0916,
    parse_geo_reference,
)

XODR = (
    '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="4"><geoReference>{geo}'
    '</geoReference></header><road name="r" length="10" id="1" junction="-1"><planView>'
    '<geometry s="0" x="0" y="0" hdg="0" length="10"><line/></geometry></planView><lanes>'
    '<laneSection s="0"><center><lane id="0" type="none" level="false"/></center><right>'
    '<lane id="-1" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/>'
    "</lane></right></laneSection></lanes></road></OpenDRIVE>"
)


@pytest.mark.parametrize(
    "geo",
    [
        "+proj=tmerc +lat_0=0 +lon_0=0",
        "+proj=tmerc +lat_0=49 +lon_0=8 +k=1 +x_0=100 +y_0=50 +ellps=WGS84 +units=m",
        "+proj=tmerc +lat_0=-33.9 +lon_0=151.2",
        "+proj=merc +lat_0=6.4e+1 +lon_0=-21.9",
        "+proj=utm +zone=32 +datum=WGS84",
    ],
)
def test_newer_form_agrees_with_the_client_library(geo):
    town = carla.Map("town", XODR.format(geo=geo))
    reference = parse_geo_reference(geo)
    generator = np.random.default_rng(5)
    for x, y, z in generator.uniform(-5000.0, 5000.0, (40, 3)):
        place = carla.Location(x=x, y=y, z=z)
        expected = town.transform_to_geolocation(place)
        got = locate_0916(reference, place.x, place.y, place.z)
        assert got.latitude_deg == pytest.approx(expected.latitude, abs=1e-11)
        assert got.longitude_deg == pytest.approx(expected.longitude, abs=1e-11)
        assert got.altitude_m == pytest.approx(expected.altitude, abs=1e-9)


def test_known_values_of_both_forms():
    reference = GeoReference(0.0, 0.0)
    newer = locate_0916(reference, 100.0, 50.0, 2.0)
    older = locate_0915(reference, 100.0, 50.0, 2.0)
    assert newer == pytest.approx((0.0004493, 0.0008987, 2.0), abs=5e-8)
    assert older == pytest.approx((-0.0004492, 0.0008983, 2.0), abs=5e-8)


def test_older_form_is_local_metres_at_any_latitude():
    reference = GeoReference(49.0, 8.0)
    place = locate_0915(reference, 100.0, -100.0, 0.0)
    metres_per_degree = np.deg2rad(6378137.0)
    assert (place.latitude_deg - 49.0) * metres_per_degree == pytest.approx(100.0, abs=0.01)
    east = (place.longitude_deg - 8.0) * metres_per_degree * np.cos(np.deg2rad(49.0))
    assert east == pytest.approx(100.0, abs=0.01)


def test_unreadable_references_fall_back():
    for text in ("", "EPSG:4326", "+lat_0=1", "+lat_0=x +lon_0=2", "+lat_0=nan +lon_0=2"):
        assert parse_geo_reference(text) == DEFAULT_REFERENCE
