from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from jaywalk.cli.town import app
from jaywalk.core.errors import DataError
from jaywalk.town.check import check_opendrive, probe
from jaywalk.town.lanes import LaneStrip, lane_strips
from jaywalk.town.opendrive import parse_opendrive
from jaywalk.town.roads import read_roads
from jaywalk.town.waypoints import spawn_points


def test_street_is_usable(tmp_path, street_opendrive):
    path = tmp_path / "street.xodr"
    path.write_text(street_opendrive)
    found = check_opendrive(path)
    assert found.ok
    assert found.links_ok
    assert (found.roads, found.crosswalks, found.controllers) == (2, 1, 1)
    assert found.signals == {"lights": 1, "stop": 1, "yield": 0, "speed": 1}
    assert found.lanes == {"driving": 4, "sidewalk": 4}
    assert found.road_km == pytest.approx(0.18)
    assert found.sidewalk_km == pytest.approx(0.36)
    assert found.dead_ends == 2  # one at each end of the street
    assert "2 driving lanes end with nothing behind them" in found.warnings


def test_lane_link_to_nowhere_is_an_error(tmp_path, street_opendrive):
    path = tmp_path / "street.xodr"
    path.write_text(street_opendrive.replace('<successor id="-1"/>', '<successor id="-7"/>', 1))
    found = check_opendrive(path)
    assert not found.ok
    assert not found.links_ok
    assert "names lane -7 of road '2'" in found.errors[0]


def test_native_parser_cannot_take_us_down():
    """These end the process that parses them, or are refused; we only ever see a DataError."""
    for text in ("", "<OpenDRIVE/>", "<OpenDRIVE><road id='1' length='5'/></OpenDRIVE>"):
        with pytest.raises(DataError):
            probe(text)


def test_cli_exit_codes(tmp_path, street_opendrive):
    runner = CliRunner()
    good, bad, broken = (tmp_path / name for name in ("good.xodr", "bad.xodr", "broken.xodr"))
    good.write_text(street_opendrive)
    bad.write_text("<OpenDRIVE/>")
    broken.write_text("<OpenDRIVE")
    result = runner.invoke(app, ["check", str(good), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["spawn_points"] > 0
    assert runner.invoke(app, ["check", str(bad)]).exit_code == 1
    assert runner.invoke(app, ["check", str(broken)]).exit_code == 3
    assert runner.invoke(app, ["check", str(tmp_path / "none.xodr")]).exit_code == 3
    assert runner.invoke(app, ["show", "Nowhere", "--png", str(tmp_path / "a.png")]).exit_code == 2


def test_cli_lists_and_draws(tmp_path, street_opendrive, monkeypatch):
    (tmp_path / "Corner.xodr").write_text(street_opendrive)
    monkeypatch.setenv("JAYWALK_TOWN_PATH", str(tmp_path))
    runner = CliRunner()
    assert "Corner" in json.loads(runner.invoke(app, ["list", "--json"]).stdout)
    png = tmp_path / "corner.png"
    result = runner.invoke(app, ["show", "corner", "--png", str(png), "--size", "600"])
    assert result.exit_code == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    result = runner.invoke(app, ["show", "corner", "--png", str(tmp_path / "no" / "a.png")])
    assert result.exit_code == 3


_LONG_ROAD = """<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="4"/>
<road name="" length="{m}" id="1" junction="-1">
<planView><geometry s="0" x="0" y="0" hdg="0" length="{m}"><arc curvature="0.0001"/></geometry>
</planView><lanes><laneSection s="0"><center><lane id="0" type="none"/></center><right>
<lane id="-1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>
</right></laneSection></lanes></road></OpenDRIVE>"""


def test_starting_poses_of_a_long_road_do_not_compute_its_lanes_each(monkeypatch):
    """Computing a whole lane for each pose took minutes for a road of 1,000 km."""
    (strip,) = lane_strips(read_roads(parse_opendrive(_LONG_ROAD.format(m=50_000.0), "long")))
    reads = []
    for name in ("centre_m", "width_m"):
        whole = getattr(LaneStrip, name).fget
        monkeypatch.setattr(
            LaneStrip, name, property(lambda self, read=whole: reads.append(1) or read(self))
        )
    poses = spawn_points([strip], [])
    assert len(poses) == int((50_000.0 - 16.0) / 140.0) + 1
    assert len(reads) <= 2
    # The road is a circle of 10 km to the left; its right lane lies outside. y is mirrored.
    off = [math.hypot(pose.x, pose.y + 10_000.0) - 10_001.75 for pose in poses]
    assert np.abs(off).max() < 0.001
    turned = [math.radians(pose.yaw) + math.atan2(pose.x, pose.y + 10_000.0) for pose in poses]
    assert np.abs(np.sin(turned)).max() < 0.001
