"""Our towns as they ship: fit to drive and walk in, measured through carla.Map."""

from __future__ import annotations

import gzip
import importlib.resources
import math

import carla
import networkx as nx
import numpy as np
import pytest
import shapely
from defusedxml import ElementTree

from jaywalk.town.town import load_town
from town_author.audit import Audit, audit, crosswalk_polygons, lane_graph

TOWNS = ("harbour", "orchard", "ridge")


def read_town(name: str) -> str:
    path = importlib.resources.files("jaywalk.town") / "data" / f"{name}.xodr.gz"
    return gzip.decompress(path.read_bytes()).decode()


@pytest.fixture(scope="module")
def audits() -> dict[str, Audit]:
    return {name: audit(name, read_town(name)) for name in TOWNS}


@pytest.mark.parametrize("name", TOWNS)
def test_every_lane_leads_on_and_reaches_every_other(audits: dict[str, Audit], name: str) -> None:
    found = audits[name]
    assert found.dead_ends == []
    assert found.strongly_connected == found.lanes > 400
    assert found.largest_gap_m < 0.01
    assert found.lane_end_errors == 0


@pytest.mark.parametrize("name", TOWNS)
def test_signals_are_found_by_the_lanes_they_rule(audits: dict[str, Audit], name: str) -> None:
    found = audits[name]
    assert sum(found.signals.values()) > 100
    assert found.signals_missing == []
    assert found.lights_missing == []
    assert found.green_conflicts == []


@pytest.mark.parametrize("name", TOWNS)
def test_people_can_walk_and_cross(audits: dict[str, Audit], name: str) -> None:
    found = audits[name]
    assert found.crosswalks > 60
    assert found.crosswalks_broken == []
    # Ridge's sidewalks end where the village and the yards meet the open road.
    assert len(found.sidewalks_short) <= (6 if name == "ridge" else 0)


def test_the_towns_together_are_large_enough(audits: dict[str, Audit]) -> None:
    assert sum(found.road_km for found in audits.values()) > 30.0
    assert sum(found.junctions for found in audits.values()) > 100
    assert sum(found.crosswalks for found in audits.values()) > 300
    assert audits["harbour"].signals["1000001"] > 100
    assert audits["orchard"].signals["206"] > 20
    assert audits["orchard"].signals["205"] > 20
    assert audits["ridge"].steepest_deg > 2.0
    assert max(found.steepest_deg for found in audits.values()) < 5.0


@pytest.mark.parametrize("name", TOWNS)
def test_no_waypoint_is_without_a_next_one(name: str) -> None:
    waypoints = carla.Map(name, read_town(name)).generate_waypoints(2.0)
    assert len(waypoints) > 3000
    assert all(waypoint.next(2.0) for waypoint in waypoints)


@pytest.mark.parametrize("name", TOWNS)
def test_random_routes_exist(name: str) -> None:
    text = read_town(name)
    town = carla.Map(name, text)
    graph = lane_graph(town, ElementTree.fromstring(text), town.generate_waypoints(2.0))
    lanes = sorted(graph)
    random = np.random.default_rng(5)
    for start, goal in random.integers(len(lanes), size=(50, 2)):
        assert nx.has_path(graph, lanes[start], lanes[goal])


@pytest.mark.parametrize(
    ("name", "latitude", "longitude"),
    [("harbour", 53.54, 9.98), ("orchard", 49.01, 8.4), ("ridge", 48.26, 11.43)],
)
def test_the_origin_lies_where_the_header_says(
    name: str, latitude: float, longitude: float
) -> None:
    place = carla.Map(name, read_town(name)).transform_to_geolocation(carla.Location())
    assert place.latitude == pytest.approx(latitude, abs=1e-9)
    assert place.longitude == pytest.approx(longitude, abs=1e-9)


def test_lane_types_and_speeds_of_each_town() -> None:
    kinds, speeds = {}, {}
    for name in TOWNS:
        root = ElementTree.fromstring(read_town(name))
        kinds[name] = {lane.get("type") for lane in root.iter("lane")}
        speeds[name] = {int(speed.get("max")) for speed in root.iter("speed")}
    assert kinds["harbour"] >= {"parking", "stop", "biking", "sidewalk"}
    assert kinds["orchard"] >= {"parking", "median", "sidewalk"}
    assert kinds["ridge"] >= {"shoulder", "stop", "parking", "sidewalk"}
    assert min(speeds["harbour"]) == 30
    assert max(speeds["harbour"]) == 50
    assert {80, 120} <= speeds["ridge"]


def test_one_bridge_passes_high_over_the_dual_carriageway() -> None:
    town = carla.Map("ridge", read_town("ridge"))
    by_cell: dict[tuple[int, int], list[float]] = {}
    for waypoint in town.generate_waypoints(2.0):
        place = waypoint.transform.location
        by_cell.setdefault((round(place.x / 3), round(place.y / 3)), []).append(place.z)
    rises = [max(heights) - min(heights) for heights in by_cell.values()]
    over = [rise for rise in rises if rise > 2.0]
    assert len(over) > 4
    assert min(over) > 5.0


@pytest.mark.parametrize("name", TOWNS)
def test_crosswalks_lie_apart_and_off_the_parking_bays(name: str) -> None:
    text = read_town(name)
    town = carla.Map(name, text)
    shapes = [shapely.Polygon(corners) for corners in crosswalk_polygons(town)]
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    assert np.all(first == second)
    bays = []
    for road in ElementTree.fromstring(text).iter("road"):
        sections = road.findall("lanes/laneSection")
        ends = [float(s.get("s")) for s in sections[1:]] + [float(road.get("length"))]
        for section, end in zip(sections, ends, strict=True):
            for lane in section.iter("lane"):
                if lane.get("type") in ("parking", "stop"):
                    for station in np.arange(float(section.get("s")) + 0.5, end, 2.0):
                        waypoint = town.get_waypoint_xodr(
                            int(road.get("id")), int(lane.get("id")), float(station)
                        )
                        place = waypoint.transform.location
                        bays.append(shapely.Point(place.x, place.y))
    assert len(bays) > 100
    assert shapely.STRtree(shapes).query(bays, predicate="intersects").size == 0


@pytest.mark.parametrize("name", TOWNS)
def test_landmarks_face_along_their_lanes(name: str) -> None:
    for mark in carla.Map(name, read_town(name)).get_all_landmarks():
        lanes = mark.get_lane_validities()
        assert lanes
        waypoint = mark.waypoint
        if waypoint is not None and waypoint.lane_id * lanes[0][0] > 0:
            turn = mark.transform.rotation.yaw - waypoint.transform.rotation.yaw
            assert abs(math.remainder(turn, 360.0)) < 12.0  # a taper turns the lane a little


@pytest.mark.parametrize("name", ["Harbour", "Orchard", "Ridge"])
@pytest.mark.parametrize("step_m", [0.5, 1.0, 2.0, 5.0])
def test_every_lane_can_be_walked_in_even_steps(name: str, step_m: float) -> None:
    """As planners do; the library raises when a step ends exactly where a section begins."""
    town = carla.Map(name, load_town(name).opendrive)
    for first, last in town.get_topology():
        end, point = last.transform.location, first
        for _ in range(4000):
            if point.transform.location.distance(end) <= step_m:
                break
            following = point.next(step_m)
            if not following:
                break
            point = following[0]
