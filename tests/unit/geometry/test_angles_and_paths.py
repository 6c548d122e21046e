"""Angles within one turn, and polylines by arc length."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from shapely.geometry import LineString

from jaywalk.geometry.angle import nearest_turn, wrap_angle, wrap_degrees
from jaywalk.geometry.path import (
    Path,
    arc_lengths,
    make_path,
    nearest_vertex,
    nearest_vertices,
    points_at,
    without_repeats,
)


@pytest.mark.parametrize("turns", [-3, -1, 0, 1, 4])
def test_whole_turns_do_not_change_an_angle(turns):
    for angle in (-3.0, -0.1, 0.0, 2.5):
        assert wrap_angle(angle + turns * 2.0 * np.pi) == pytest.approx(angle)
        assert nearest_turn(angle + turns * 2.0 * np.pi) == pytest.approx(angle)
        assert wrap_degrees(np.rad2deg(angle) + turns * 360.0) == pytest.approx(np.rad2deg(angle))


def test_half_a_turn_is_the_lower_end():
    assert wrap_angle(np.pi) == -np.pi
    assert wrap_degrees(180.0) == -180.0
    assert np.array_equal(wrap_degrees(np.array([190.0, -190.0, 540.0])), [-170.0, 170.0, -180.0])


def test_arc_lengths_are_measured_in_the_plane():
    points = np.array([(0.0, 0.0, 5.0), (3.0, 4.0, 9.0), (3.0, 5.0, -2.0)])
    assert np.array_equal(arc_lengths(points), [0.0, 5.0, 6.0])
    assert np.array_equal(arc_lengths(points[:1]), [0.0])
    assert np.array_equal(make_path(points[:, :2]).arc_m, arc_lengths(points))


def test_points_at_interpolates_every_column_and_stops_at_the_ends():
    points = np.array([(0.0, 0.0, 1.0), (4.0, 0.0, 3.0), (4.0, 2.0, 3.0)])
    result = points_at(np.array([-1.0, 2.0, 5.0, 9.0]), arc_lengths(points), points)
    assert np.array_equal(result, [(0, 0, 1), (2, 0, 2), (4, 1, 3), (4, 2, 3)])


def _random_path(seed, columns=3):
    points = np.cumsum(np.random.default_rng(seed).uniform(0.1, 2.0, (40, columns)), axis=0)
    return Path(points, arc_lengths(points))


def test_a_point_at_a_distance_agrees_with_shapely():
    path = _random_path(1)
    line = LineString(path.points_m[:, :2])
    assert path.length_m == pytest.approx(line.length)
    for along_m in np.linspace(-1.0, path.length_m + 1.0, 50):
        expected = line.interpolate(min(max(along_m, 0.0), line.length))
        assert path.point_at(along_m)[:2] == pytest.approx((expected.x, expected.y))
    many = np.linspace(0.0, path.length_m, 7)
    assert np.array_equal(path.at(many), [path.point_at(along_m) for along_m in many])


def test_the_nearest_vertices_agree_with_a_tree():
    first, second = _random_path(2), _random_path(3)
    gaps, rows = cKDTree(second.points_m[:, :2]).query(first.points_m[:, :2])
    for point, gap_m, row in zip(first.points_m, gaps, rows, strict=True):
        assert nearest_vertex(second.points_m, point[0], point[1]) == (row, pytest.approx(gap_m))
        assert second.nearest(point[0], point[1]) == row
    row, column, gap_m = nearest_vertices(first.points_m, second.points_m)
    assert (column, gap_m) == (rows[row], pytest.approx(gaps.min()))


@pytest.mark.parametrize(("from_m", "to_m"), [(-5.0, -1.0), (3.3, 9.1), (0.0, 1e3), (80.0, 90.0)])
def test_a_covering_stretch_keeps_distances_and_reaches_over_both_ends(from_m, to_m):
    path = _random_path(4)
    part = path.covering(from_m, to_m)
    assert len(part.points_m) >= 2
    assert part.arc_m[0] <= max(from_m, 0.0) or part.arc_m[-1] == path.arc_m[-1]
    assert part.arc_m[-1] >= min(to_m, path.length_m)
    first = int(np.searchsorted(path.arc_m, part.arc_m[0]))
    assert np.array_equal(part.points_m, path.points_m[first : first + len(part.arc_m)])
    assert path.vertex_at(part.arc_m[0] + 1e-6) == first


def test_points_that_repeat_the_one_before_are_dropped():
    points = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 9.0), (0.04, 0.0, 0.0), (1.0, 0.0, 0.0)])
    assert np.array_equal(without_repeats(points, 0.05), points[[0, 3]])
    assert np.array_equal(without_repeats(points, 0.0), points[[0, 2, 3]])
