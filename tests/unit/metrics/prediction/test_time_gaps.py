"""TTC, PET and the minimum time gap: answers known by hand."""

import numpy as np
import pytest

from jaywalk.core.errors import UsageError
from jaywalk.geometry.path import make_path, project
from jaywalk.metrics.prediction.time_gap import (
    cdf,
    crossings,
    is_near,
    is_relevant,
    post_encroachment_time,
    stay,
    summarise,
    time_to_collision,
)

PATH = make_path([[0.0, 0.0], [200.0, 0.0]])


def cross(times, lateral, speed, along=50.0, front=0.0):
    """A person on a straight line across the path of a vehicle with this speed profile."""
    positions = np.stack([np.full(times.shape, along), lateral], axis=1)
    driven = front + np.concatenate(
        [[0.0], np.cumsum(0.5 * np.diff(times) * (speed[1:] + speed[:-1]))]
    )
    return crossings(times, project(PATH, positions), driven, speed)


def test_ttc():
    assert time_to_collision([10.0, 5.0, 3.0], [2.0, 0.0, 1.0]).tolist() == [5.0, np.inf, 3.0]
    assert is_relevant([9.9, 10.0, -1.0, 5.0], [0, 0, 0, 16.0], 2.0).tolist() == [
        True,
        False,
        False,
        False,
    ]


def test_pet():
    assert post_encroachment_time((0.0, 2.0), (3.5, 5.0)) == 1.5
    assert post_encroachment_time((3.5, 5.0), (0.0, 2.0)) == 1.5
    assert post_encroachment_time((0.0, 2.0), (1.5, 5.0)) == -0.5
    assert post_encroachment_time((0.0, 2.0), stay([0.0, 1.0], [False, False])) == np.inf
    assert stay([0.0, 1.0, 2.0], [False, True, True]) == (1.0, 2.0)
    with pytest.raises(UsageError):
        post_encroachment_time((2.0, 1.0), (0.0, 1.0))


def test_constant_speed():
    """TTC falls by 1 s each second, so the gap is that of entering less the time inside."""
    times = np.arange(0.0, 6.0, 0.1)
    (found,) = cross(times, -3.0 + 1.25 * times, np.full(times.shape, 8.0))
    assert found.enter_s == pytest.approx(1.2)
    assert found.leave_s == pytest.approx(3.6)
    assert found.gap_refined_s == pytest.approx(found.ttc_enter_s - (found.leave_s - found.enter_s))
    assert found.ttc_leave_s == pytest.approx((50.0 - 8.0 * 3.6) / 8.0)
    assert 0.0 <= found.gap_s - found.gap_refined_s < 0.1
    assert found.gap_at > 0.95


def test_the_braking_driver_of_figure_5a():
    """In at 2.6 s, out at 4.5 s; unbraked the 3.5 s of TTC at the onset are 0.5 s at the end."""
    times = np.arange(0.0, 8.0, 0.05)
    lateral = -1.5 + 3.0 / 1.9 * (times - 2.6)
    distance_at_onset = 10.0 * 3.5
    along = 10.0 * 1.5 + distance_at_onset
    (unbraked,) = cross(times, lateral, np.full(times.shape, 10.0), along=along)
    assert unbraked.ttc_leave_s == pytest.approx(0.5)
    # The deceleration that makes it 2.9 s at entering leaves it well above the unbraked value.
    rates = np.linspace(0.5, 6.0, 200)
    speeds = [np.maximum(10.0 - a * np.maximum(times - 1.5, 0.0), 0.5) for a in rates]
    braked = [cross(times, lateral, speed, along=along)[0] for speed in speeds]
    near = min(braked, key=lambda one: abs(one.ttc_enter_s - 2.9))
    assert near.ttc_enter_s == pytest.approx(2.9, abs=0.05)
    assert near.gap_refined_s > 1.0
    assert near.enter_s == pytest.approx(2.6)
    assert near.leave_s == pytest.approx(4.5)


def test_what_is_no_crossing():
    times = np.arange(0.0, 6.0, 0.1)
    speed = np.full(times.shape, 2.0)
    assert cross(times, np.abs(-3.0 + times), speed) == []  # turns back
    assert cross(times, -1.0 + times, speed) == []  # entering was not seen
    assert cross(times, -3.0 + 0.5 * times, speed) == []  # leaving was not seen
    assert cross(times, -3.0 + times, speed, along=2.0) == []  # behind the bumper
    assert cross(times, -3.0 + times, speed, along=-5.0) == []  # before the path begins


def test_a_standing_vehicle_sets_no_gap():
    times = np.arange(0.0, 6.0, 0.1)
    (found,) = cross(times, -3.0 + times, np.zeros(times.shape))
    assert found.gap_s == np.inf
    assert summarise([found.gap_s]).n == 0
    assert summarise([]).as_dict()["median_s"] is None
    assert not is_near(found)


def test_summary_and_cdf():
    summary = summarise([1.0, 2.0, 3.0, 4.0, np.inf])
    assert (summary.n, summary.q1_s, summary.median_s, summary.q3_s) == (4, 1.75, 2.5, 3.25)
    assert summary.share_below_2s == 0.25
    values, share = cdf([3.0, 1.0])
    assert values.tolist() == [1.0, 3.0]
    assert share.tolist() == [0.5, 1.0]


def test_a_path_that_crosses_itself_is_followed():
    """A figure of eight: where its arms meet, the arm walked on so far counts."""
    angle = np.linspace(0.0, 2.0 * np.pi, 400)
    points = np.stack([10 * np.sin(angle), 10 * np.sin(angle) * np.cos(angle)], axis=1)
    eight = make_path(points)
    seen = project(eight, points)
    assert np.all(np.diff(seen.along_m) >= -1e-6)
    assert seen.along_m[-1] == pytest.approx(eight.length_m)


def test_a_path_needs_two_places():
    with pytest.raises(UsageError, match="never moves"):
        make_path(np.zeros((5, 2)))
    with pytest.raises(UsageError, match="NaN"):
        make_path([[0.0, np.nan], [1.0, 1.0]])
    with pytest.raises(UsageError, match="shape"):
        make_path(np.zeros((5, 3)))
