"""Route files: what is read is written again, and what is wrong is named."""

from __future__ import annotations

import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from jaywalk.core.errors import DataError
from jaywalk.scenarios.formats.route_xml import (
    RouteDialect,
    format_routes,
    parse_routes,
    read_routes,
    write_routes,
)
from jaywalk.scenarios.formats.xml_node import Node, format_tree

SHARED = Path(__file__).parents[4] / "shared/data"

TEXT = """<routes>
  <route id="7" town="Harbour" road_id="x">
    <waypoints>
      <position x="1.50" y="2" z="0.0" yaw="90"/>
      <position x="3" y="4" z="0"/>
    </waypoints>
    <weathers>
      <weather route_percentage="0" cloudiness="10.0"/>
      <weather route_percentage="100" cloudiness="20"/>
    </weathers>
    <extra a="1">
      <inner>text &amp; more</inner>
    </extra>
    <scenarios>
      <scenario name="A" type="CustomObstacle">
        <objects a="id=static.prop.barrel x=1" c="id=static.prop.x &quot;q&quot;"/>
        <trigger_point x="1" y="2" z="3" yaw="4"/>
        <frequency from="20" to="100"/>
        <nested>
          <deep value="1"/>
        </nested>
      </scenario>
    </scenarios>
  </route>
</routes>
"""

OLD = """<routes>
  <route id="0" town="Town01">
    <weather cloudiness="0" precipitation="0"/>
    <waypoint pitch="0.0" roll="0.0" x="1" y="2" yaw="3" z="0.0"/>
    <waypoint pitch="0.0" roll="0.0" x="4" y="5" yaw="6" z="0.0"/>
  </route>
</routes>
"""


@pytest.mark.parametrize("text", [TEXT, OLD])
def test_text_survives_byte_by_byte(text, tmp_path):
    file = parse_routes(text, "x")
    assert format_routes(file) == text
    write_routes(tmp_path / "r.xml", file)
    assert read_routes(tmp_path / "r.xml") == file


def test_values_are_typed():
    route = parse_routes(TEXT, "x").routes[0]
    assert (route.id, route.town, route.dialect) == ("7", "Harbour", RouteDialect.LEADERBOARD_2)
    assert [k.position_m for k in route.keypoints] == [(1.5, 2.0, 0.0), (3.0, 4.0, 0.0)]
    assert [k.yaw_deg for k in route.keypoints] == [90.0, None]
    assert [w.route_percentage for w in route.weathers] == [0.0, 100.0]
    assert route.weathers[1].values == {"cloudiness": 20.0}
    scenario = route.scenarios[0]
    assert (scenario.name, scenario.type, scenario.trigger.yaw_deg) == ("A", "CustomObstacle", 4.0)
    assert list(scenario.parameters) == ["objects", "frequency", "nested"]
    assert scenario.parameters["frequency"].get("to") == "100"
    assert parse_routes(OLD, "x").routes[0].dialect is RouteDialect.LEADERBOARD_1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('x="1.50"', 'x="east"', ["'f.xml'", "id 7", "keypoint 1", "'east'"]),
        ('x="1.50"', 'x="nan"', ["keypoint 1", "finite"]),
        ('route_percentage="100"', 'route_percentage="0"', ["id 7", "same route_percentage"]),
        ('cloudiness="20"', 'cloudiness="grey"', ["weather 2", "cloudiness", "'grey'"]),
        ('<position x="3" y="4" z="0"/>', "", ["1 keypoints"]),
        ('yaw="4"/>', "/>", ["scenario 'A'", "<trigger_point>", "'yaw'"]),
        ('type="CustomObstacle"', "", ["scenario 'A'", "'type'"]),
        ('town="Harbour"', "", ["route 1", "'town'"]),
        ("<routes>", "<routen>", ["not well-formed"]),
        ("<routes>", '<!DOCTYPE r [<!ENTITY e "x">]><routes>', ["refuse"]),
        ("<routes>", '<?xml version="1.0" encoding="nonsense"?><routes>', ["unknown encoding"]),
        ("<routes>", "<routes>" + "<a>" * 9000 + "</a>" * 9000, ["nested too deep"]),
        ('cloudiness="20"', 'cloudines="20"', ["weather 2", "'cloudines' is not a weather"]),
    ],
)
def test_errors_name_the_place(old, new, words):
    with pytest.raises(DataError) as caught:
        parse_routes(TEXT.replace(old, new, 1), "f.xml")
    for word in words:
        assert word in str(caught.value)


def test_the_same_weather_twice_is_fine():
    line = next(line for line in TEXT.splitlines() if '<weather route_percentage="100"' in line)
    doubled = TEXT.replace(line, f"{line}\n{line}", 1)
    percentages = [w.route_percentage for w in parse_routes(doubled, "x").routes[0].weathers]
    assert percentages == [0.0, 100.0, 100.0]


def test_what_xml_cannot_hold_is_not_written():
    for node in (Node("a", (("b", "\x00"),)), Node("a b"), Node("a", (("b", "1"), ("b", "2")))):
        with pytest.raises(DataError):
            format_tree(node)


def test_a_folder_is_no_route_file(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        read_routes(tmp_path)


def test_subsets_keep_the_order_of_the_file():
    route = TEXT.split("<routes>\n")[1].split("</routes>")[0]
    text = "<routes>" + "".join(route.replace('id="7"', f'id="{k}"') for k in (3, 1, 9, 4))
    file = parse_routes(text + "</routes>", "x")
    assert [r.id for r in file.subset("4,3-1").routes] == ["3", "1", "4"]
    with pytest.raises(DataError, match="backwards"):
        file.subset("9-3")
    with pytest.raises(DataError, match="'5'"):
        file.subset("5")


def test_doubled_route_ids_are_refused():
    route = TEXT.split("<routes>\n")[1].split("</routes>")[0]
    with pytest.raises(DataError, match="'7' is used more than once"):
        parse_routes(f"<routes>{route}{route}</routes>", "x")


def _same(data: bytes, name: str) -> int:
    file = parse_routes(data, name)
    text = format_routes(file)
    assert parse_routes(text, name) == file
    assert ET.canonicalize(text, strip_text=True) == ET.canonicalize(data.decode(), strip_text=True)
    return len(file.routes)


@pytest.mark.data
def test_fail2drive_round_trip():
    archive = SHARED / "fail2drive/fail2drive_split.tar.gz"
    if not archive.exists():
        pytest.skip("needs ../shared/data/fail2drive")
    count = 0
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if member.name.endswith(".xml"):
                data = tar.extractfile(member).read()
                count += _same(data, member.name)
                assert format_routes(parse_routes(data, "x")).encode().strip() == data.strip()
    assert count == 200


@pytest.mark.data
def test_habit_round_trip():
    path = SHARED / "habit/town10_routes.xml"
    if not path.exists():
        pytest.skip("needs ../shared/data/habit")
    assert _same(path.read_bytes(), path.name) == 111
