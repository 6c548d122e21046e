import pytest

from jaywalk.core.errors import DataError
from jaywalk.record._route_file import match_route, read_routes

ROUTES = """<routes>
  <route id="1" town="Town12">
    <waypoints><position x="0" y="0" z="0"/><position x="50.5" y="0" z="1"/></waypoints>
    <scenarios><scenario name="A_1" type="Accident">
      <trigger_point x="5" y="0" z="0" yaw="0"/><distance value="70"/></scenario></scenarios>
  </route>
  <route id="1001" town="Town12">
    <waypoints><position x="0" y="0" z="0"/><position x="50" y="0" z="0"/></waypoints>
  </route>
  <route id="7" town="Town13">
    <waypoints><position x="0" y="0" z="0"/><position x="50" y="0" z="0"/></waypoints>
  </route>
</routes>"""


@pytest.fixture
def routes(tmp_path):
    (tmp_path / "r.xml").write_text(ROUTES)
    return read_routes(tmp_path / "r.xml")


def test_a_route_is_found_by_town_and_start_each_once(routes):
    used = set()
    found = []
    for _ in range(3):
        index = match_route(routes, "Carla/Maps/Town12/Town12", 3.0, 4.0, used)
        used.add(index)
        found.append(routes[index].route_id)
    assert found == ["1", "1001", "1"]
    assert routes[match_route(routes, "Town13", 0.0, 0.0, set())].route_id == "7"
    assert match_route(routes, "Town12", 8.0, 8.0, set()) is None
    assert match_route(routes, "Town01", 0.0, 0.0, set()) is None


def test_scenarios_keep_their_parameters(routes):
    (scenario,) = routes[0].scenarios
    assert scenario["type"] == "Accident"
    assert {"tag": "distance", "value": "70"} in scenario["parameters"]
    assert routes[0].rows()[1] == {"index": 1, "x_m": 50.5, "y_m": 0.0, "z_m": 1.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<routes>", "not readable XML"),
        ("<routes/>", "holds no <route>"),
        ('<routes><route id="3"><waypoints/></route></routes>', "route 3 has 0 waypoints"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><routes>&a;</routes>', "not readable XML"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, says):
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(DataError, match=says):
        read_routes(tmp_path / "r.xml")
