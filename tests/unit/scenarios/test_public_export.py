"""Routes for public evaluators: their types, their weather, triggers they can work with."""

from __future__ import annotations

import json
import math

import carla
import pytest
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.runner.selection import subset_of
from jaywalk.scenarios.formats.public_form import as_public, own_types, public_routes
from jaywalk.scenarios.formats.route_xml import parse_routes, read_routes
from jaywalk.scenarios.suite import load_suite
from jaywalk.scenarios.toolbox._finding import planner_of

TEXT = """<routes><route id="1" town="Nowhere"><weathers>
<weather route_percentage="40" cloudiness="5.0"/><weather route_percentage="10" cloudiness="1.0"/>
</weathers><waypoints><position x="0" y="0" z="0"/><position x="90" y="0" z="0"/></waypoints>
{}</route></routes>"""


def _export(*words: object):
    return CliRunner().invoke(app, ["suite", "export", *map(str, words)])


def _place(route, name):
    """Where the scenario of a name belongs by our rule: along the route from its trigger."""
    dense = planner_of(route.town).plan([point.position_m for point in route.keypoints])
    spec = next(one for one in route.scenarios if one.name == name)
    trigger = spec.trigger
    start = min(
        range(len(dense.along_m)),
        key=lambda k: math.dist(dense.position_m[k, :2], (trigger.x_m, trigger.y_m)),
    )
    goal = dense.along_m[start] + float(spec.parameters["distance"].get("value"))
    row = min(range(len(dense.along_m)), key=lambda k: abs(dense.along_m[k] - goal))
    return dense.position_m[row, :2]


def test_the_weather_reaches_both_ends():
    (route,) = parse_routes(TEXT.format(""), "x.xml").routes
    weathers = as_public(route).weathers
    assert weathers is not None
    assert [one.route_percentage for one in weathers] == [0.0, 10.0, 40.0, 100.0]
    assert [one.values["cloudiness"] for one in weathers] == [1.0, 1.0, 5.0, 5.0]
    assert as_public(as_public(route)) == as_public(route)
    bare = TEXT.format("").replace(TEXT[TEXT.index("<weathers>") : TEXT.index("<waypoints>")], "")
    (route,) = parse_routes(bare, "x.xml").routes
    assert as_public(route).weathers is None  # they have a weather for that


def test_types_of_ours_alone_are_named():
    smoke = [own_types(item.route) for item in load_suite("smoke").routes]
    assert ("jaywalk/stop-junction-v1",) in smoke
    assert not any(own_types(item.route) for item in load_suite("fail2drive").routes)


def test_the_public_rules_end_where_the_scenarios_belong():
    items = subset_of(load_suite("fail2drive"), "0,2,15,1031,1085").routes
    made = public_routes(items)
    assert {move.type for one in made for move in one.moved} == {
        "ParkedObstacle",
        "ConstructionObstacleTwoWays",
        "RoadBlocked",
        "PedestriansOnRoad",
    }
    for item, one in zip(items, made, strict=True):
        spec = next(s for s in one.route.scenarios if s.name == item.route.scenarios[0].name)
        trigger = spec.trigger
        town_map = planner_of(one.route.town).graph.map
        start = town_map.get_waypoint(carla.Location(trigger.x_m, trigger.y_m, trigger.z_m))
        # Directly behind a junction the public background does not know the lane yet.
        assert not any(way.is_junction for way in (start, *start.previous(6.0)))
        assert start.get_right_lane() is not None
        metres = float(spec.parameters["distance"].get("value"))
        if spec.type == "ParkedObstacle":
            place, gone = start, 0
            while gone < metres and not place.next(1)[0].is_junction:
                place, gone = place.next(1)[0], gone + 1
        else:
            place = start.next(metres)[0]
        at = place.transform.location
        assert math.dist((at.x, at.y), _place(item.route, spec.name)) < 1.6
        assert one.route.keypoints == item.route.keypoints
    assert made[1].moved == ()
    assert made[1].route.scenarios == items[1].route.scenarios


def test_suite_export_writes_one_file_a_route(tmp_path):
    out = _export("fail2drive", "--subset", "75,1075", "-o", tmp_path, "--json")
    assert out.exit_code == 0, out.output
    said = json.loads(out.output)
    names = ["Base_Animals_0075.xml", "Generalization_Animals_1075.xml"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert (said["towns"], said["own_types"], said["unchecked"]) == (["Ridge"], [], [])
    (route,) = read_routes(tmp_path / names[1]).routes
    assert (route.id, route.scenarios[0].type) == ("1075", "DynamicObjectCrossing")
    again = _export("fail2drive", "--subset", "75", "-o", tmp_path)
    assert isinstance(again.exception, UsageError)
    assert (
        "2 routes in Ridge"
        in _export("fail2drive", "--subset", "75,1075", "-o", tmp_path, "--force").output
    )


def test_a_town_that_is_not_here_is_told(tmp_path):
    file = tmp_path / "far.xml"
    file.write_text(TEXT.format(""), encoding="utf-8")
    said = json.loads(_export(file, "-o", tmp_path / "out", "--json").output)
    assert said["unchecked"] == ["far-1"]
    assert "<scenarios/>" in (tmp_path / "out" / "far-1.xml").read_text(encoding="utf-8")


def test_old_files_are_refused():
    old = (
        '<routes><route id="1" town="A"><waypoint x="0" y="0" z="0"/>'
        '<waypoint x="9" y="0" z="0"/></route></routes>'
    )
    (route,) = parse_routes(old, "x.xml").routes
    with pytest.raises(DataError, match=r"Leaderboard 1\.0"):
        as_public(route)
