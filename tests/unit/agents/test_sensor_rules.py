"""Which sensors a Leaderboard agent may have."""

from __future__ import annotations

import pytest

from jaywalk.agents.adapters.sensor_rig import SensorError, check_sensors
from jaywalk.geometry.geodesy import GeoReference, from_0916_gps, locate_0916

CAMERA = {"type": "sensor.camera.rgb", "id": "front", "x": 1.0, "y": 0.0, "z": 2.0}
MAP = {"type": "sensor.opendrive_map", "id": "map", "reading_frequency": 1}


def _cameras(count: int) -> list[dict[str, object]]:
    return [{**CAMERA, "id": f"c{k}"} for k in range(count)]


def test_what_is_allowed() -> None:
    check_sensors(_cameras(8), "SENSORS")
    check_sensors([*_cameras(4), MAP], "MAP_QUALIFIER")


@pytest.mark.parametrize(
    ("sensors", "track", "words"),
    [
        (_cameras(9), "SENSORS", "Too many sensor.camera.rgb used! Maximum number allowed is 8"),
        (_cameras(5), "MAP_QUALIFIER", "allowed is 4, but 5 were requested"),
        ([MAP], "SENSORS", "Illegal sensor 'sensor.opendrive_map' used for Track"),
        ([{**CAMERA, "type": "sensor.camera.dvs"}], "MAP", "Illegal sensor 'sensor.camera.dvs'"),
        ([CAMERA, CAMERA], "MAP", "Duplicated sensor tag"),
        ([{**CAMERA, "x": 3.0}], "MAP", "Max allowed radius is 3.0m"),
    ],
)
def test_what_is_refused(sensors: list[dict[str, object]], track: str, words: str) -> None:
    with pytest.raises(SensorError, match=words.replace("!", ".").replace("[", ".")):
        check_sensors(sensors, track)


@pytest.mark.parametrize("place", [(0.0, 0.0), (812.5, -640.25), (-1200.0, 950.0)])
def test_the_newer_projection_is_undone(place: tuple[float, float]) -> None:
    there = locate_0916(GeoReference(53.54, 9.98), *place, 0.0)
    back = from_0916_gps(there.latitude_deg, there.longitude_deg, (53.54, 9.98))
    assert back == pytest.approx(place, abs=1e-6)
