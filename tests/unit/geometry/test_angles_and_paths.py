"""Angles within one turn, and polylines by arc length."""

import numpy as np
import pytest

from jaywalk.geometry.angle import nearest_turn, wrap_angle, wrap_degrees
from jaywalk.geometry.path import arc_lengths, make_path, points_at


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
    found = points_at(np.array([-1.0, 2.0, 5.0, 9.0]), arc_lengths(points), points)
    assert np.array_equal(found, [(0, 0, 1), (2, 0, 2), (4, 1, 3), (4, 2, 3)])
