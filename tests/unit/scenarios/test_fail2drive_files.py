"""Route files of Fail2Drive: our own fixture always, the 200 public ones where they are."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from jaywalk.core.errors import DataError
from jaywalk.runner.config import route_digest
from jaywalk.scenarios.base import read_parameters
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.route_xml import format_routes, parse_routes
from jaywalk.scenarios.suite import suite_of_files

SPLIT = Path(__file__).parents[4] / "shared" / "data" / "fail2drive" / "fail2drive_split.tar.gz"
TRIGGER = '<trigger_point x="1" y="2" z="0" yaw="0"/>'


def specs_of(*scenarios: str) -> list:
    text = f"""<routes><route id="7" town="Harbour"><waypoints><position x="0" y="0" z="0"/>
    <position x="9" y="0" z="0"/></waypoints><scenarios>{"".join(scenarios)}</scenarios></route>
    </routes>"""
    return list(parse_routes(text, "mine.xml").routes[0].scenarios)


def parameters_of(kind: str, inner: str):
    (spec,) = specs_of(f'<scenario name="S1" type="{kind}">{TRIGGER}{inner}</scenario>')
    return read_parameters(spec, SCENARIOS.get(kind).parameters_type)


def test_parameters_of_every_class():
    bad = parameters_of("BadParkingObstacleTwoWays", '<y value="2"/><frequency from="4" to="5"/>')
    assert (bad.distance, bad.y, bad.yaw, bad.frequency) == (120.0, 2.0, 0.0, (4.0, 5.0))
    site = parameters_of("PermutedConstructionObstacle", '<cones value="0000111"/>')
    assert (site.cones, site.warning_sign) == ("0000111", "static.prop.trafficwarning")
    wall = parameters_of("RoadBlocked", '<objects a="id=static.prop.brickwall x=0 y=-3 roll=90"/>')
    assert (wall.wait, wall.objects[0].y, wall.objects[0].roll) == (60.0, -3.0, 90.0)
    crowd = parameters_of("PedestrianCrowd", '<pedestrians value="30"/><side value="left"/>')
    assert (crowd.pedestrians, crowd.side, crowd.pedestrian_center) == (30, "left", 40.0)
    road = parameters_of("PedestriansOnRoad", '<pedestrians a="walker.pedestrian.0001"/>')
    assert road.pedestrians == ("walker.pedestrian.0001",)
    doubled = '<pedestrians value="2"/><pedestrians a="walker.animal.1001"/>'
    assert parameters_of("PedestriansOnRoad", doubled).pedestrians == ("walker.animal.1001",)
    right = parameters_of("ConstructionObstacleRightLane", '<frequency from="7" to="7"/>')
    assert (right.distance, right.y_offset) == (100.0, 0.0)


@pytest.mark.parametrize("kind", ["CustomObstacle", "CustomObstacleTwoWays"])
@pytest.mark.parametrize("overlay", ["construction", "accident", "parked", "parkedvehicle", "none"])
def test_what_the_public_toolbox_notes_is_read_and_kept(kind, overlay):
    things = '<objects a="id=static.prop.bin x=1"/>'
    noted = f'<baseline_overlay value="{overlay}"/><overlay_direction value="left"/>'
    made = parameters_of(kind, noted + things)
    assert (made.baseline_overlay, made.overlay_direction) == (overlay, "left")
    plain = parameters_of(kind, things)
    assert (plain.baseline_overlay, plain.overlay_direction) == ("", "")
    assert replace(made, baseline_overlay="", overlay_direction="") == plain
    route = f"""<routes><route id="7" town="Harbour"><waypoints><position x="0" y="0" z="0"/>
    <position x="9" y="0" z="0"/></waypoints><scenarios>
    <scenario name="S1" type="{kind}">{TRIGGER}{noted}{things}</scenario>
    </scenarios></route></routes>"""
    routes = parse_routes(route, "mine.xml")
    again = format_routes(routes)
    assert parse_routes(again, "mine.xml") == routes
    assert f'<baseline_overlay value="{overlay}"' in again
    assert '<overlay_direction value="left"' in again


@pytest.mark.parametrize(
    ("kind", "inner", "words"),
    [
        ("BadParkingObstacle", '<vehicle value="static.prop.bin"/>', "<vehicle>.*static.prop.bin"),
        ("BadParkingObstacle", '<colour value="red"/>', "<colour>.*no such parameter"),
        ("PermutedConstructionObstacle", '<cones value="0012"/>', "<cones>.*'0012'.*7 of 0 and 1"),
        ("CustomObstacle", '<objects a="id=static.prop.bin x=far"/>', "<objects>, a: x is 'far'"),
        ("CustomObstacle", '<objects a="static.prop.bin"/>', "<objects>, a: .*KEY=VALUE"),
        ("CustomObstacle", '<objects a="x=1"/>', "<objects>, a: id is ''"),
        (
            "CustomObstacle",
            '<baseline_overlay value="garage"/>',
            "<baseline_overlay>: value is 'garage'; expected one of construction, accident, parked",
        ),
        (
            "CustomObstacleTwoWays",
            '<overlay_direction value="up"/>',
            "<overlay_direction>: value is 'up'; expected one of right, left",
        ),
        ("CustomObstacle", "<baseline_overlay/>", "<baseline_overlay>: attribute 'value'"),
        ("RoadBlocked", '<baseline_overlay value="none"/>', "<baseline_overlay>.*no such param"),
        ("RoadBlocked", '<wait value="-3"/>', "<wait>.*'-3'.*0 to 600"),
        ("PedestrianCrowd", '<side value="up"/>', "<side>.*'up'.*right, left"),
        ("PedestrianCrowd", '<pedestrians value="2.5"/>', "<pedestrians>.*whole number"),
        ("PedestriansOnRoad", '<pedestrians a="vehicle.x"/>', "<pedestrians>: a is 'vehicle.x'"),
        ("ImageOnObject", "<image/>", "<image>: attribute 'value' is missing"),
        ("ObscuredStopSign", '<offset_z value="high"/>', "<offset_z>.*'high'"),
    ],
)
def test_bad_parameters_name_file_scenario_and_field(kind, inner, words):
    with pytest.raises(DataError, match=f"'mine.xml', route 1 .*scenario 'S1', {words}"):
        parameters_of(kind, inner)


@pytest.mark.data
@pytest.mark.skipif(not SPLIT.exists(), reason="needs ../shared/data/fail2drive")
def test_all_public_files_parse_round_trip_and_are_known():
    files = types = 0
    with tarfile.open(SPLIT) as tar:
        for member in tar.getmembers():
            if not member.name.endswith(".xml"):
                continue
            stream = tar.extractfile(member)
            assert stream is not None
            routes = parse_routes(stream.read(), member.name)
            assert parse_routes(format_routes(routes), member.name) == routes
            files += 1
            for route in routes.routes:
                for spec in route.scenarios:
                    read_parameters(spec, SCENARIOS.get(spec.type).parameters_type)
                    types += 1
    assert (files, types) == (200, 179)


def write_half(folder, stem, kind):
    scenario = f'<scenario name="S1" type="{kind}">{TRIGGER}</scenario>' if kind else ""
    path = folder / f"{stem}.xml"
    path.write_text(f"""<routes><route id="7" town="Harbour"><waypoints>
    <position x="0" y="0" z="0"/><position x="9" y="0" z="0"/></waypoints>
    <scenarios>{scenario}</scenarios></route></routes>""")
    return path


def test_a_half_that_is_run_alone_finds_its_partner_in_the_same_folder(tmp_path):
    base = write_half(tmp_path, "Base_Wall_0095", "")
    assert suite_of_files([base]).routes[0].pair_scenarios == ()
    digests = {route_digest(suite_of_files([base]).routes[0])}
    shift = write_half(tmp_path, "Generalization_Wall_1095", "RoadBlocked")
    for paths in ([base], [shift], [base, shift], [shift, base]):
        suite = suite_of_files(paths)
        assert [one.route.id for one in suite.routes] == ["7"] * len(paths)
        for one in suite.routes:
            assert one.pair == "Wall_0095"
            assert [spec.type for spec in one.pair_scenarios] == ["RoadBlocked"]
    digests.add(route_digest(suite_of_files([base]).routes[0]))
    assert len(digests) == 2  # another background: no old run may be continued with it


def test_other_routes_have_no_partner(tmp_path):
    suite = suite_of_files([write_half(tmp_path, "mine", "RoadBlocked")])
    assert suite.routes[0].pair_scenarios == ()
