"""Progress along routes and comfort against known motions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hand_records_safety import Scene, profile, straight, through
from scipy.signal import savgol_filter
from shapely.geometry import LineString, Point

from jaywalk.core.seeds import stream
from jaywalk.metrics.safety._comfort import measure_comfort, window_samples
from jaywalk.metrics.safety._progress import completion_percent, measure_progress
from jaywalk.record.tracks import load_tracks

STRAIGHT = np.column_stack([np.arange(0.0, 201.0), np.zeros(201)])


def test_completion_of_half_a_route():
    place = np.column_stack([np.arange(0.0, 90.5, 0.5), np.full(181, 0.7)])
    percent, length_m = completion_percent(place, STRAIGHT, dense=True)
    assert (percent, length_m) == (pytest.approx(45.0), pytest.approx(200.0))


@pytest.mark.parametrize(("end", "complete"), [(199.0, True), (198.5, True), (197.5, False)])
def test_complete_is_the_last_percent(end, complete):
    place = np.column_stack([np.linspace(0.0, end, 500), np.zeros(500)])
    percent, _ = completion_percent(place, STRAIGHT, dense=True)
    assert (percent == 100.0) is complete
    assert percent > 98.0


def test_standing_beside_the_end_of_a_loop_is_no_progress():
    """A route that returns to its start: there, nothing of it is done."""
    angle = np.linspace(0.0, 2.0 * np.pi, 315)
    loop = 50.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    percent, _ = completion_percent(loop[:1] + 0.5, loop, dense=True)
    assert percent < 1.0
    percent, _ = completion_percent(loop[:200], loop, dense=True)
    line = LineString(loop)
    assert percent == pytest.approx(100 * line.project(Point(loop[199])) / line.length, abs=0.1)
    percent, _ = completion_percent(loop, loop, dense=True)
    assert percent == 100.0


def test_far_from_the_route_is_no_progress():
    place = np.column_stack([np.linspace(0.0, 200.0, 400), np.full(400, 15.5)])
    assert completion_percent(place, STRAIGHT, dense=True)[0] == 0.0
    place[:, 1] = 14.0
    assert completion_percent(place, STRAIGHT, dense=True)[0] > 99.0


def test_key_points_alone_give_a_completion_too():
    route = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]])
    around = np.array([[0.0, 0.0], [50.0, -8.0], [90.0, -6.0], [104.0, 20.0], [100.0, 99.5]])
    assert completion_percent(around, route, dense=False)[0] == 100.0
    assert completion_percent(around[:3], route, dense=False)[0] == pytest.approx(45.0)


def test_no_route_no_completion():
    percent, length_m = completion_percent(STRAIGHT, np.zeros((0, 2)), dense=True)
    assert math.isnan(percent)
    assert math.isnan(length_m)


@pytest.mark.parametrize(("reason", "percent"), [("route completed", 100.0), ("blocked", 95.0)])
def test_who_was_judged_to_be_through_has_completed_the_route(tmp_path, reason, percent):
    scene = Scene(seconds=19.0, route=[tuple(p) for p in STRAIGHT])
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 10.0))
    scene.episode = {"end_reason": reason}
    record = scene.write(tmp_path / "episode")
    assert measure_progress(record, load_tracks(record)).route_completion == pytest.approx(percent)


def test_progress_of_a_drive_with_a_stop(tmp_path):
    scene = Scene(seconds=20.0, route=[tuple(p) for p in STRAIGHT])
    scene.add("vehicle", profile(0.0, 0.0, 0.0, [(0, 0), (5, 10), (10, 10), (14, 0), (20, 0)]))
    record = scene.write(tmp_path / "episode")
    found = measure_progress(record, load_tracks(record))
    assert found.driven_km == pytest.approx(0.095, rel=1e-3)
    assert found.duration_s == pytest.approx(20.0)
    assert found.mean_mps == pytest.approx(95.0 / 20.0, rel=1e-3)
    assert found.standing_share == pytest.approx(6.0 / 20.0, abs=0.02)
    assert found.stood_last_s == pytest.approx(6.0, abs=0.15)
    assert found.route_completion == pytest.approx(47.5, abs=0.1)


def comfort(motion, tmp_path, seconds=20.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", motion)
    return measure_comfort(load_tracks(scene.write(tmp_path / "episode")))


@pytest.mark.parametrize("noise", [-1e-9, 0.0, 1e-9])
def test_the_filter_has_the_length_of_the_nominal_step(tmp_path, noise):
    """Float noise in the recorded times must not turn 7 samples into 9."""
    scene = Scene(seconds=20.0)
    scene.add("vehicle", lambda t: (100.0 + 8.0 * t + 2.0 * np.sin(2.5 * t), 0.0, 0.0))
    tracks = load_tracks(scene.write(tmp_path / "episode"))
    tracks = replace(tracks, time_s=tracks.time_s * (1.0 + noise))
    assert window_samples(0.05) == 7
    speed = tracks.ego_pose[:, 5]
    along = savgol_filter(speed, 7, 2, deriv=1, delta=0.05)
    jerk = savgol_filter(along, 7, 2, deriv=1, delta=0.05)
    for step_s in (0.05, None):
        found = measure_comfort(tracks, step_s=step_s)
        assert found.max_braking_mps2 == pytest.approx(-along.min(), rel=1e-5)
        assert found.rms_jerk_mps3 == pytest.approx(np.sqrt(np.mean(jerk**2)), rel=1e-5)


def test_jittered_times_are_measured_on_the_nominal_grid(tmp_path):
    scene = Scene(seconds=20.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 8.0))
    tracks = load_tracks(scene.write(tmp_path / "episode"))
    jitter = stream(1, "jitter").normal(0.0, 1e-4, len(tracks.time_s))
    time_s = np.sort(tracks.time_s + jitter)
    pose = tracks.pose.copy()
    pose[0, :, 5] = 8.0 + 2.0 * np.sin(2.5 * time_s)
    grid_s = time_s[0] + 0.05 * np.arange(int((time_s[-1] - time_s[0]) / 0.05 + 1e-3) + 1)
    speed = np.interp(grid_s, time_s, pose[0, :, 5])
    along = savgol_filter(speed, 7, 2, deriv=1, delta=0.05)
    found = measure_comfort(
        replace(tracks, time_s=time_s, states=replace(tracks.states, pose=pose)), step_s=0.05
    )
    assert found.max_braking_mps2 == pytest.approx(-along.min(), rel=1e-9)


def test_steady_driving_is_comfortable(tmp_path):
    found = comfort(straight(0.0, 0.0, 30.0, 12.0), tmp_path)
    assert found.out_any == 0.0
    assert found.max_jerk_mps3 < 0.05


def test_braking_beyond_the_bound_takes_its_share_of_time(tmp_path):
    motion = profile(0.0, 0.0, 0.0, [(0, 20), (10, 20), (14, 0), (20, 0)])
    found = comfort(motion, tmp_path)
    assert found.max_braking_mps2 == pytest.approx(5.0, abs=0.05)
    assert found.out_braking == pytest.approx(4.0 / 20.0, abs=0.02)
    assert found.out_speeding_up == 0.0
    gentle = profile(0.0, 0.0, 0.0, [(0, 20), (10, 20), (15, 0), (20, 0)])
    assert comfort(gentle, tmp_path / "gentle").out_braking == 0.0


def test_a_circle_has_its_lateral_acceleration(tmp_path):
    radius, speed = 25.0, 10.0

    def circle(t):
        angle = speed / radius * t
        return radius * np.cos(angle), radius * np.sin(angle), np.degrees(angle) + 90.0

    found = comfort(circle, tmp_path)
    assert found.max_lateral_mps2 == pytest.approx(4.0, abs=0.05)
    assert found.out_lateral == 0.0
    assert found.max_braking_mps2 < 0.05


def test_a_bump_in_acceleration_is_a_jerk(tmp_path):
    """Acceleration a sin(w t): its jerk has amplitude a w."""
    a, w = 2.0, 3.0

    def motion(t):
        return 10.0 * t - a / w**2 * np.sin(w * t), 0.0, 0.0

    found = comfort(motion, tmp_path)
    assert found.max_jerk_mps3 == pytest.approx(a * w, rel=0.08)
    assert found.rms_jerk_mps3 == pytest.approx(a * w / np.sqrt(2.0), rel=0.08)
    assert found.out_longitudinal_jerk == pytest.approx(
        1.0 - 2.0 / np.pi * np.arcsin(4.13 / 6.0), abs=0.05
    )


def test_too_short_to_tell(tmp_path):
    found = comfort(straight(0.0, 0.0, 0.0, 5.0), tmp_path, seconds=0.1)
    assert math.isnan(found.out_any)


def test_knots_lead_where_they_say():
    assert through([(0, 0, 0), (2, 4, 0), (4, 4, 6)])(3.0)[:2] == (4.0, 3.0)
