"""Red lights and stop signs: run, just not run, somebody else's."""

import math

import pytest
from hand_records_safety import Scene, profile, straight

from jaywalk.metrics.safety._signals import find_red_lights, find_stop_violations
from jaywalk.record.tracks import load_tracks

RED, YELLOW, GREEN = 0, 1, 2


def drive(motion, states=((0.0, RED),), at=(50.0, 0.0, 0.0), seconds=10.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", motion)
    scene.light = scene.add_light(*at, states)
    return scene


def red_lights(scene, tmp_path):
    record = scene.write(tmp_path / "episode")
    return find_red_lights(record, load_tracks(record))


def test_running_a_red_light(tmp_path):
    (found,) = red_lights(drive(straight(0.0, 0.0, 0.0, 10.0)), tmp_path)
    assert found.time_s == pytest.approx(4.76, abs=0.05)  # the front, 2.4 m ahead
    assert (found.actor, found.x_m, found.y_m) == (1000, 50.0, 0.0)
    assert found.message == "Ran red light 1000 at 10.0 m/s"


@pytest.mark.parametrize(
    ("states", "counts"),
    [
        ([(0.0, GREEN), (4.85, RED)], 0),  # turned red just after
        ([(0.0, GREEN), (4.7, RED)], 1),  # just before
        ([(0.0, RED), (4.75, GREEN)], 0),
        ([(0.0, YELLOW)], 0),
        ([(0.0, 3)], 0),  # off
    ],
)
def test_the_state_at_the_line_decides(tmp_path, states, counts):
    assert len(red_lights(drive(straight(0.0, 0.0, 0.0, 10.0), states), tmp_path)) == counts


@pytest.mark.parametrize(("stop_x", "counts"), [(47.0, 0), (49.5, 0), (50.5, 1)])
def test_stopping_a_little_late_is_forgiven(tmp_path, stop_x, counts):
    """The front stands 2.4 m ahead of ``stop_x``; the line is at 50."""
    brake_s = 2.0 * (stop_x - 20.0) / 10.0
    motion = profile(0.0, 0.0, 0.0, [(0, 10), (2, 10), (2 + brake_s, 0), (14, 0), (16, 8), (20, 8)])
    states = [(0.0, RED), (13.5, GREEN)]
    assert len(red_lights(drive(motion, states, seconds=20.0), tmp_path)) == counts


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        ((50.0, 1.7, 0.0), 1),
        ((50.0, 1.8, 0.0), 0),  # beside: half a lane is 1.75
        ((50.0, 0.0, 180.0), 0),  # for those who come the other way
        ((50.0, 0.0, 50.0), 1),
        ((50.0, 0.0, 70.0), 0),  # for the side road
    ],
)
def test_only_lines_of_its_own_lane_count(tmp_path, at, counts):
    assert len(red_lights(drive(straight(0.0, 0.0, 0.0, 10.0), at=at), tmp_path)) == counts


def test_two_lines_of_one_light_count_once(tmp_path):
    scene = drive(straight(0.0, 0.0, 0.0, 10.0))
    row = scene.rows[0][1]
    row["stop_waypoints"] = row["stop_waypoints"] + [dict(row["stop_waypoints"][0], y_m=1.0)]
    assert len(red_lights(scene, tmp_path)) == 1


def signs(motion, tmp_path, at=(50.0, 0.0, 0.0), seconds=12.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", motion)
    scene.add_stop_sign(*at)
    record = scene.write(tmp_path / "episode")
    return find_stop_violations(record, load_tracks(record))


def test_passing_a_stop_sign(tmp_path):
    (found,) = signs(straight(0.0, 0.0, 0.0, 10.0), tmp_path)
    assert found.time_s == pytest.approx(4.76, abs=0.05)
    assert (found.x_m, found.y_m) == (pytest.approx(50.0), pytest.approx(0.0, abs=1e-6))
    assert "Did not stop at stop sign" in found.message


@pytest.mark.parametrize("yaw_deg", [0.0, 37.0, 90.0, 180.0, 250.0])
def test_signs_work_in_every_direction(tmp_path, yaw_deg):
    away = 50.0 * math.cos(math.radians(yaw_deg)), 50.0 * math.sin(math.radians(yaw_deg))
    at = (*away, yaw_deg)
    assert len(signs(straight(0.0, 0.0, yaw_deg, 10.0), tmp_path / "pass", at)) == 1
    back = straight(2.0 * away[0], 2.0 * away[1], yaw_deg + 180.0, 10.0)
    assert signs(back, tmp_path / "back", at) == []


def halting(front_stops_at, slowest):
    """Slows down to ``slowest`` with the front at a place, then drives on."""
    centre = front_stops_at - 2.4
    brake_s = 2.0 * (centre - 20.0) / (10.0 + slowest)
    t = 2.0 + brake_s
    return profile(
        0.0, 0.0, 0.0, [(0, 10), (2, 10), (t, slowest), (t + 0.5, slowest), (t + 3, 8), (99, 8)]
    )


@pytest.mark.parametrize(
    ("place", "slowest", "counts"),
    [
        (49.0, 0.0, 0),
        (49.0, 0.3, 1),  # a rolling stop
        (45.0, 0.0, 0),
        (42.0, 0.0, 1),  # too early
        (51.5, 0.0, 0),  # a little late
        (54.0, 0.0, 1),
    ],
)
def test_standing_near_the_line_is_a_stop(tmp_path, place, slowest, counts):
    assert len(signs(halting(place, slowest), tmp_path, seconds=20.0)) == counts
