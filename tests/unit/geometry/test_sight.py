"""Lines of sight against shapely."""

import numpy as np
from shapely import LineString, affinity, box

from jaywalk.geometry.zones import sight_blocked


def test_lines_of_sight_are_blocked_as_shapely_says():
    rng = np.random.default_rng(5)
    eye, points = rng.uniform(-20, 20, 2), rng.uniform(-20, 20, (60, 2))
    centre, half = rng.uniform(-20, 20, (12, 2)), rng.uniform(0.2, 4.0, (12, 2))
    yaw = rng.uniform(-4, 4, 12)
    found = sight_blocked(eye, points, centre, yaw, half)
    for j in range(12):
        body = affinity.rotate(box(*-half[j], *half[j]), yaw[j], origin=(0, 0), use_radians=True)
        body = affinity.translate(body, *centre[j])
        assert found[:, j].tolist() == [LineString([eye, p]).intersects(body) for p in points]
    assert 0 < found.sum() < found.size


def test_along_an_axis_and_without_boxes():
    eye, points = np.zeros(2), np.array([[10.0, 0.0], [4.0, 0.0], [0.0, 10.0]])
    one = (np.array([[6.0, 0.0]]), np.zeros(1), np.array([[1.0, 1.0]]))
    assert sight_blocked(eye, points, *one)[:, 0].tolist() == [True, False, False]
    assert sight_blocked(eye, points, np.zeros((0, 2)), np.zeros(0), np.zeros((0, 2))).shape == (
        3,
        0,
    )
