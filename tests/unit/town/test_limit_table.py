"""The table of speed limits that public drivers read."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from jaywalk.cli.town import app
from jaywalk.town.check import STEPS_KMH, limit_table


def test_points_are_lane_points_and_limits_are_rounded_up(street):
    table = limit_table(street)
    places, limits = table["locations"], table["speed_limits"]
    ways = street.carla_map.generate_waypoints(1.0)
    assert places.shape == (len(ways), 3)
    assert limits.shape == (len(ways),)
    for way, place, limit in list(zip(ways, places, limits, strict=True))[::17]:
        at, yaw = way.transform.location, way.transform.rotation.yaw
        assert np.allclose(place, (at.x, at.y, at.z))
        said = street.speed_limit_kmh(at.x, at.y, at.z, yaw)
        assert limit in STEPS_KMH
        assert np.isnan(said) or limit >= said


def test_the_file_is_a_dict_named_by_the_town(tmp_path, street_opendrive):
    (tmp_path / "Corner.xodr").write_text(street_opendrive, encoding="utf-8")
    done = CliRunner().invoke(
        app, ["limits", str(tmp_path / "Corner.xodr"), "-o", str(tmp_path / "t")]
    )
    assert done.exit_code == 0, done.output
    loaded = np.load(tmp_path / "t" / "Corner_speed_limits.npy", allow_pickle=True).item()
    assert sorted(loaded) == ["locations", "speed_limits"]
    assert len(loaded["locations"]) == len(loaded["speed_limits"]) > 100
    assert CliRunner().invoke(app, ["limits", "Nowhere", "-o", str(tmp_path)]).exit_code != 0
