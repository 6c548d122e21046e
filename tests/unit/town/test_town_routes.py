"""Dense routes on our towns, thinning and GPS."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.core.errors import UsageError
from jaywalk.geometry.geodesy import route_reference_deg, to_gps
from jaywalk.town.lane_graph import RoadOption
from jaywalk.town.routes import DenseRoute, RoutePlanner, thin_route
from jaywalk.town.town import load_town


@pytest.fixture(scope="module")
def planner():
    return RoutePlanner(load_town("Harbour").carla_map)


def _keypoints(planner, count, seed):
    # In a junction several lanes share a place, so a keypoint there may mean another lane.
    points = [p for p in planner.graph.map.generate_waypoints(15.0) if not p.is_junction]
    chosen = np.random.default_rng(seed).choice(len(points), count, replace=False)
    places = [points[int(k)].transform.location for k in chosen]
    return [(p.x, p.y, p.z) for p in places]


@pytest.mark.parametrize("seed", range(6))
def test_a_route_is_connected_and_ends_where_asked(planner, seed):
    keypoints = _keypoints(planner, 2, seed)
    route = planner.plan(keypoints)
    steps = np.hypot(*np.diff(route.position_m[:, :2], axis=0).T)
    follows = ~np.isin(route.option, [5, 6])
    assert steps[follows[1:] & follows[:-1]].max() < 2.1
    assert np.linalg.norm(route.position_m[0] - keypoints[0]) < 1.5
    assert np.linalg.norm(route.position_m[-1] - keypoints[-1]) < 2.5
    turns = np.isin(route.option, [1, 2, 3])
    assert turns.any()
    assert route.in_junction[turns].mean() > 0.8


def test_turns_have_the_right_sign(planner):
    seen = set()
    for seed in range(25):
        route = planner.plan(_keypoints(planner, 2, 100 + seed))
        edges = np.flatnonzero(np.diff(route.option)) + 1
        for part in np.split(np.arange(len(route)), edges):
            option = RoadOption(int(route.option[part[0]]))
            if option not in (RoadOption.LEFT, RoadOption.RIGHT, RoadOption.STRAIGHT):
                continue
            if len(part) < 8 or part[0] == 0:
                continue
            turn = route.rotation_deg[part[-1], 1] - route.rotation_deg[part[0] - 1, 1]
            turn = (turn + 180.0) % 360.0 - 180.0
            seen.add(option)
            if option is RoadOption.LEFT:
                assert turn < -30.0
            elif option is RoadOption.RIGHT:
                assert turn > 30.0
            else:
                assert abs(turn) < 36.0
    assert seen == {RoadOption.LEFT, RoadOption.RIGHT, RoadOption.STRAIGHT}


def test_one_keypoint_is_no_route(planner):
    with pytest.raises(UsageError, match="2 keypoints"):
        planner.plan([(0.0, 0.0, 0.0)])


def test_thinning_keeps_ends_changes_and_distance():
    options = [4] * 30 + [1] * 5 + [4] * 3 + [5, 5] + [4] * 4
    count = len(options)
    route = DenseRoute(
        position_m=np.column_stack([np.arange(count), np.zeros((count, 2))]).astype(float),
        rotation_deg=np.zeros((count, 3)),
        option=np.array(options, np.int8),
        lane=np.zeros((count, 3), np.int64),
        in_junction=np.zeros(count, np.bool_),
    )
    # After a lane change the next point is not kept; distances count from the last kept point.
    assert thin_route(route, 10.0).tolist() == [0, 12, 24, 30, 35, 38, 39, 43]


def test_gps_is_mercator_about_the_reference():
    assert route_reference_deg(load_town("Harbour").root) is not None
    rows = to_gps(np.array([[0.0, 0.0, 5.0], [0.0, -1000.0, 0.0], [1000.0, 0.0, 0.0]]), (42.0, 2.0))
    assert rows[0] == pytest.approx([42.0, 2.0, 5.0])
    # One kilometre north and east on a sphere of 6378137 m.
    assert rows[1, 0] - 42.0 == pytest.approx(np.rad2deg(1000.0 / 6378137.0), rel=1e-3)
    assert rows[2, 1] - 2.0 == pytest.approx(
        np.rad2deg(1000.0 / (6378137.0 * np.cos(np.deg2rad(42.0)))), rel=1e-6
    )
