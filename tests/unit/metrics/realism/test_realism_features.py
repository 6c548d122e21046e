"""Features against brute force, shapely and numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from realism_scenes import follower_scene, red_signal, replay, scene
from shapely import LineString, Point, box
from shapely.affinity import rotate, translate

from jaywalk.metrics.realism import _kinematics as kinematics
from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism._object_distance import signed_box_distance
from jaywalk.metrics.realism._road_edge import distance_to_road_edge, edge_segments
from jaywalk.metrics.realism._trajectories import logged_trajectories
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.scene import CURRENT_STEP, Polylines

CONFIG = CONFIGS["2025"]


def log_of(of):
    return case_features(replay(of, 2), CONFIG).log


def shapely_box(x, y, yaw, hx, hy):
    return translate(rotate(box(-hx, -hy, hx, hy), yaw, (0, 0), use_radians=True), x, y)


def test_box_distance_agrees_with_shapely_and_parting_moves():
    rng = np.random.default_rng(0)
    apart = overlapping = 0
    for _ in range(300):
        x, y = rng.uniform(-6, 6, 2)
        a, b = rng.uniform(-4, 4, 2)
        ahx, ahy, bhx, bhy = rng.uniform(0.2, 3, 4)
        ours = signed_box_distance(
            x, y, np.cos(a), np.sin(a), np.cos(b), np.sin(b), ahx, ahy, bhx, bhy
        )
        first, second = shapely_box(0, 0, a, ahx, ahy), shapely_box(x, y, b, bhx, bhy)
        if first.intersects(second):
            overlapping += 1
            assert ours <= 0
            # The shortest way out is along one of the four face normals.
            ways = [yaw + k * np.pi / 2 for yaw in (a, b) for k in range(4)]
            outs = [
                first.disjoint(
                    translate(second, np.cos(w) * (1e-6 - ours), np.sin(w) * (1e-6 - ours))
                )
                for w in ways
            ]
            assert any(outs)
            stuck = [
                first.intersects(
                    translate(second, np.cos(w) * -ours * 0.99, np.sin(w) * -ours * 0.99)
                )
                for w in ways
            ]
            assert all(stuck)
        else:
            apart += 1
            assert ours == pytest.approx(first.distance(second), abs=1e-9)
    assert min(apart, overlapping) > 50


def test_nearest_object_by_hand():
    # Boxes of 4 x 2 m have rounded corners of 0.7 m; in line they keep their full length.
    log = log_of(scene([(0.0, 0.0, 0.0), (7.0, 0.0, 0.0), (0.0, 40.0, 0.0)]))
    distance = log.series["distance_to_nearest_object"][0]
    np.testing.assert_allclose(distance[0], 3.0, atol=1e-6)
    np.testing.assert_allclose(distance[2], 40.0 - 2.0, atol=1e-5)


def test_rounded_corners_do_not_collide_where_sharp_ones_would():
    log = log_of(scene([(0.0, 0.0, 0.0), (3.9, 1.9, 0.0)]))
    assert not log.events["collision_indication"].any()
    log = log_of(scene([(0.0, 0.0, 0.0), (3.9, 0.0, 0.0)]))
    assert log.events["collision_indication"].all()


def test_an_object_that_is_not_valid_is_no_obstacle():
    of = scene([(0.0, 0.0, 0.0), (7.0, 0.0, 0.0)])
    valid = of.valid.copy()
    valid[1, 40:] = False
    log = log_of(replace(of, valid=valid))
    distance = log.series["distance_to_nearest_object"][0]
    assert distance[0, 28] == pytest.approx(3.0)
    assert distance[0, 29] == np.float32(1e10)
    assert (distance[1, 29:] == np.float32(1e10)).all()


def test_time_to_collision_by_hand():
    ttc = log_of(follower_scene()).series["time_to_collision"][0]
    # Gap: 60 - 0.5 s - 4 m at 5 m/s closing; at most 5 s, and unknown at the last step.
    steps = np.arange(11, 91)
    expected = np.minimum((56.0 - 0.5 * steps) / 5.0, 5.0)
    np.testing.assert_allclose(ttc[0, :-1], expected[:-1], rtol=1e-4)
    assert ttc[0, -1] == 5.0
    assert (ttc[1] == 5.0).all()


def test_no_leader_across_the_wrap_of_angles():
    fast, slow = (lambda s: -s * 1.0), (lambda s: -60.0 - s * 0.5)
    same = log_of(scene([(fast, 0.0, 3.1), (slow, 0.0, 3.1)])).series["time_to_collision"][0, 0]
    astride = log_of(scene([(fast, 0.0, 3.1), (slow, 0.0, -3.1)])).series["time_to_collision"][0, 0]
    assert same.min() < 5.0
    assert (astride == 5.0).all()


def test_kinematics_of_a_circle():
    steps = np.arange(91)
    yaw = 0.05 * steps
    speeds = kinematics.linear_speed(
        (20 * np.cos(yaw)).astype("f4"), (20 * np.sin(yaw)).astype("f4"), np.zeros(91, "f4")
    )
    heading = ((yaw + np.pi) % (2 * np.pi) - np.pi).astype("f4")
    np.testing.assert_allclose(speeds[1:-1], 20 * np.sin(0.05) / 0.1, rtol=1e-4)
    np.testing.assert_allclose(kinematics.angular_speed(heading)[1:-1], 0.5, atol=1e-4)
    np.testing.assert_allclose(kinematics.angular_acceleration(heading)[2:-2], 0.0, atol=1e-2)
    assert np.isnan(kinematics.linear_acceleration(speeds)[[0, 1, -2, -1]]).all()


def signed_by_brute_force(lines, x, y):
    """Distance to the nearest line; the sign from the side of a point near to the foot."""
    distances = [line.distance(Point(x, y)) for line in lines]
    line = lines[int(np.argmin(distances))]
    along = line.project(Point(x, y))
    a, b = line.interpolate(max(along - 0.01, 0.0)), line.interpolate(along + 0.01)
    side = (x - a.x) * (b.y - a.y) - (y - a.y) * (b.x - a.x)
    return np.sign(side) * min(distances)


def test_road_edge_agrees_with_brute_force():
    rng = np.random.default_rng(1)
    t = np.linspace(0, 1, 120)
    lines = [
        np.column_stack([200 * t - 100, 15 * np.sin(6 * t + k) + 40 * k, np.zeros(120)])
        for k in range(5)
    ]
    edges = edge_segments(Polylines.of(lines))
    places = np.column_stack([rng.uniform(-90, 90, 40), rng.uniform(-20, 180, 40)])
    of = scene([(x, y, 0.0) for x, y in places], sizes=[(1e-4, 1e-4)] * 40)
    rows = np.arange(40)
    ours = distance_to_road_edge(logged_trajectories(of), edges, rows, 90)[0, :, 0]
    shapes = [LineString(line[:, :2]) for line in lines]
    expected = [signed_by_brute_force(shapes, x, y) for x, y in places]
    np.testing.assert_allclose(ours, expected, atol=2e-3)


def test_on_a_straight_road_the_nearest_corner_counts():
    log = log_of(scene([(0.0, 0.0, 0.0), (50.0, 5.5, 0.0)]))
    edge = log.series["distance_to_road_edge"][0]
    np.testing.assert_allclose(edge[0], -5.0, atol=1e-5)
    np.testing.assert_allclose(edge[1], 0.5, atol=1e-5)
    assert not log.events["offroad_indication"][0, 0].any()
    assert log.events["offroad_indication"][0, 1].all()


def test_a_bridge_is_not_the_road_below():
    deck = [[(-200.0, -1.5, 8.0), (200.0, -1.5, 8.0)]]
    below = [[(-200.0, -6.0, 0.0), (200.0, -6.0, 0.0)]]
    log = log_of(scene([(0.0, 0.0, 0.0)], edges=deck + below))
    np.testing.assert_allclose(log.series["distance_to_road_edge"], -5.0, atol=1e-5)


def test_a_map_without_edges_has_no_agent_off_the_road():
    log = log_of(scene([(0.0, 0.0, 0.0)], edges=[]))
    assert not log.events["offroad_indication"].any()


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        (red_signal(), 1),
        (red_signal(state=1), 1),
        (red_signal(state=7), 0),
        (red_signal(state=6), 0),
        (red_signal(x=95.0), 0),
        (red_signal(x=20.0), 0),  # Exactly on the stop point at a step: never strictly across.
    ],
)
def test_running_a_red_light(signals, expected):
    # 1 m a step: passes 20.5 m between steps 20 and 21.
    of = scene([(lambda s: s * 1.0, 0.2, 0.0)], signals=signals)
    flags = log_of(of).events["traffic_light_violation"][0, 0]
    assert flags.sum() == expected
    if expected:
        assert flags[21 - CURRENT_STEP - 1]


def test_displacement_is_diluted_by_the_history():
    case = replay(scene([(lambda s: s * 1.0, 0.0, 0.0)]), 4)
    moved = replace(case.rollouts, y_m=case.rollouts.y_m + np.float32(3.0))
    features = case_features(replace(case, rollouts=moved), CONFIG)
    np.testing.assert_allclose(features.displacement_m, 3.0 * 80 / 91, rtol=1e-5)
    puffer = case_features(replace(case, rollouts=moved), CONFIGS["pufferdrive-2.0"])
    np.testing.assert_allclose(puffer.displacement_m, 3.0 * 80 / 81, rtol=1e-5)
