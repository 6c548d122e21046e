"""Who is endangered: triggers and cases that just do not."""

import numpy as np
import pytest
from hand_records_safety import STEP_S, Scene, profile, straight, through
from shapely import affinity
from shapely.geometry import Point, box
from shapely.ops import unary_union

from jaywalk.metrics.safety._encounters import find_encounters, go_on
from jaywalk.metrics.safety._endangerment import (
    CROSSED_BEHIND,
    CUT_IN,
    FORCED_TO_BRAKE,
    find_dangers,
)
from jaywalk.record.tracks import load_tracks

EGO_MPS = 10.0


def dangers(scene, tmp_path, hit=()):
    record = scene.write(tmp_path / "episode")
    return find_dangers(load_tracks(record), hit)


def crossing_person(leaves_before_s, speed=1.5, seconds=8.0):
    """The ego drives along x; its front is at x = 50 at 5 s. A person crosses x = 50.2 before.

    The person's trailing edge leaves the ego's corridor (half width 1.0) ``leaves_before_s``
    before the ego's front reaches the person's leading-to-trailing strip at x = 50.0.
    """
    scene = Scene(seconds=seconds)
    scene.add("vehicle", straight(50.0 - 2.4 - 5.0 * EGO_MPS, 0.0, 0.0, EGO_MPS))
    out_s = 5.0 - leaves_before_s  # y = 1.2: the circle of 0.2 leaves the corridor
    scene.add("walker", straight(50.2, 1.2 - speed * out_s, 90.0, speed))
    return scene


@pytest.mark.parametrize(("gap_s", "counts"), [(0.5, 1), (0.95, 1), (1.05, 0), (2.0, 0)])
def test_crossing_behind_a_person(tmp_path, gap_s, counts):
    found = dangers(crossing_person(gap_s), tmp_path)
    assert found.min_pet_s == pytest.approx(gap_s, abs=0.03)
    assert len(found.counted) == counts
    if counts:
        (one,) = found.counted
        assert (one.how, one.other) == (CROSSED_BEHIND, 1)
        assert one.time_s == pytest.approx(5.0, abs=0.1)
        assert "person 1" in one.message


def test_pet_is_that_of_swept_areas(tmp_path):
    """Against shapely: areas swept at 1 ms, first leaving and second entering their overlap."""
    scene = crossing_person(0.6, speed=1.3)
    found = dangers(scene, tmp_path)
    times = np.arange(3.0, 6.5, 0.01)
    ego = [scene.bodies[0][1](t) for t in times]
    person = [scene.bodies[1][1](t) for t in times]
    cars = [box(x - 2.4, y - 1.0, x + 2.4, y + 1.0) for x, y, _ in ego]
    rounds = [Point(x, y).buffer(0.2, 64) for x, y, _ in person]
    shared = unary_union(cars).intersection(unary_union(rounds)).buffer(-1e-6)
    leaves = max(t for t, shape in zip(times, rounds, strict=True) if shape.intersects(shared))
    enters = min(t for t, shape in zip(times, cars, strict=True) if shape.intersects(shared))
    assert found.min_pet_s == pytest.approx(enters - leaves, abs=0.04)


def test_pet_of_oblique_cars_is_the_least_over_all_ground(tmp_path):
    """Against brute force over both times, 5 ms apart."""
    scene = Scene(seconds=8.0)
    scene.add("vehicle", straight(-40.0, 0.0, 0.0, 10.0))
    scene.add("vehicle", straight(-12.0, -19.0, 55.0, 9.0))
    (met,) = find_encounters(load_tracks(scene.write(tmp_path / "episode")))
    times = np.arange(1.0, 6.0, 0.01)

    def shapes(body):
        return [
            affinity.translate(affinity.rotate(box(-2.4, -1.0, 2.4, 1.0), yaw, (0, 0)), x, y)
            for x, y, yaw in map(scene.bodies[body][1], times)
        ]

    ego, other = shapes(0), shapes(1)
    gaps = [
        times[i] - times[k]
        for i in range(0, len(times))
        for k in range(0, i, 2)
        if abs(ego[i].centroid.x - other[k].centroid.x) < 6.0 and ego[i].intersects(other[k])
    ]
    assert not met.ego_first
    assert met.pet_s == pytest.approx(min(gaps), abs=0.03)


def test_creeping_behind_a_person_is_no_danger(tmp_path):
    scene = Scene(seconds=12.0)
    scene.add("vehicle", straight(50.0 - 2.4 - 5.0 * 0.8, 0.0, 0.0, 0.8))
    scene.add("walker", straight(50.2, 1.2 - 1.5 * 4.5, 90.0, 1.5))
    assert dangers(scene, tmp_path).counted == ()


def test_a_person_stepping_out_behind_is_not_endangered(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, EGO_MPS))
    # The rear passes x = 0 at 5.24 s; the person starts from the kerb at 4.9 s.
    scene.add("walker", straight(0.0, -1.8, 90.0, 1.5, start_s=4.9))
    found = dangers(scene, tmp_path)
    assert found.counted == ()
    assert np.isnan(found.min_pet_s)


@pytest.mark.parametrize(("late_s", "counts"), [(0.5, 1), (1.5, 0)])
def test_cutting_off_a_person_who_is_crossing(tmp_path, late_s, counts):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, EGO_MPS))
    # The rear leaves x = 0.2 at 5.26 s; the person reaches y = -1.2 late_s after that.
    scene.add("walker", straight(0.0, -1.2 - 1.5 * (5.26 + late_s), 90.0, 1.5))
    found = dangers(scene, tmp_path)
    assert len(found.counted) == counts
    if counts:
        assert found.counted[0].how == CUT_IN
        assert found.counted[0].value == pytest.approx(late_s, abs=0.03)


def test_following_is_no_danger(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 10.0))
    scene.add("vehicle", straight(9.0, 0.0, 0.0, 10.0))  # 0.4 s ahead
    scene.add("vehicle", straight(-9.0, 0.0, 0.0, 10.0))  # 0.4 s behind
    found = dangers(scene, tmp_path)
    assert found.encounters == ()


def test_a_leader_that_turns_off_is_no_danger(tmp_path):
    scene = Scene(seconds=8.0)
    scene.add("vehicle", straight(-20.0, 0.0, 0.0, 8.0))
    scene.add("vehicle", through([(0, -10, 0), (2, 6, 0), (3, 12, 5), (4, 13, 13), (8, 13, 45)]))
    assert dangers(scene, tmp_path).counted == ()


def lane_change(gap_m, other_mps=10.0, who=0):
    """Body ``who`` moves over from y = 3.5 to y = 0 between 3 s and 5 s, ahead of the other."""
    scene = Scene(seconds=10.0)
    mover = through([(0, 0, 3.5), (3, 30, 3.5), (5, 50, 0), (10, 100, 0)])
    keeper = straight(-4.8 - gap_m, 0.0, 0.0, other_mps)
    first, second = (mover, keeper) if who == 0 else (straight(4.8 + gap_m, 0, 0, 10.0), None)
    scene.add("vehicle", first)
    if second is None:  # the other moves over behind an ego that keeps its lane
        second = through([(0, 0, 3.5), (3, 30, 3.5), (5, 50, 0), (10, 100, 0)])
    scene.add("vehicle", second)
    return scene


@pytest.mark.parametrize(("gap_m", "counts"), [(5.0, 1), (9.0, 1), (11.5, 0), (20.0, 0)])
def test_cutting_in_by_a_lane_change(tmp_path, gap_m, counts):
    found = dangers(lane_change(gap_m), tmp_path)
    assert len(found.counted) == counts
    if counts:
        assert found.counted[0].how == CUT_IN
        assert found.counted[0].value == pytest.approx(gap_m / 10.0, abs=0.1)


def test_somebody_who_moves_over_behind_the_ego_is_not_cut_off(tmp_path):
    assert dangers(lane_change(5.0, who=1), tmp_path).counted == ()


@pytest.mark.parametrize(("after_s", "counts"), [(0.7, 1), (1.4, 0)])
def test_crossing_before_a_car_on_a_side_road(tmp_path, after_s, counts):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, EGO_MPS))
    # The ego's rear leaves x = 1 at 5.34 s; the other's front then reaches y = -1.
    scene.add("vehicle", straight(0.0, -1.0 - 2.4 - 8.0 * (5.34 + after_s), 90.0, 8.0))
    found = dangers(scene, tmp_path)
    assert len(found.counted) == counts


def test_a_car_that_waited_and_sets_off_behind_is_not_cut_off(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, EGO_MPS))
    scene.add("vehicle", profile(0.0, -4.2, 90.0, [(0, 0), (5.0, 0), (7.0, 6.0), (10, 6)]))
    found = dangers(scene, tmp_path)
    assert found.counted == ()


def test_a_car_that_joins_behind_is_not_cut_off(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, EGO_MPS))
    joiner = through(
        [(0, -2, -34.0), (5, -2, -9), (6.3, -1.2, -2.8), (7, 1.5, -0.5), (8, 8, 0), (10, 25, 0)]
    )
    scene.add("vehicle", joiner)
    found = dangers(scene, tmp_path)
    assert found.counted == ()


def test_returning_before_an_oncoming_car(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", through([(0, -50, -3.5), (4, -10, -3.5), (5.5, 5, 0), (10, 50, 0)]))
    scene.add("vehicle", straight(72.0, -3.5, 180.0, 12.0))
    found = dangers(scene, tmp_path)
    assert [one.how for one in found.counted] == [CUT_IN]


def braking_other(decel, ego=None, behind_m=0.0):
    """A car on y = 0 brakes from 15 m/s at 4 s for an ego that crosses its way at 90 degrees."""
    scene = Scene(seconds=10.0)
    scene.add("vehicle", ego or profile(0.0, -22.0, 90.0, [(0, 4.0), (10, 4.0)]))
    stop_s = 4.0 + 15.0 / decel
    start_x = -4.0 - behind_m - 60.0 - 15.0**2 / (2.0 * decel)
    scene.add("vehicle", profile(start_x, 0.0, 0.0, [(0, 15), (4, 15), (stop_s, 0), (10, 0)]))
    return scene


@pytest.mark.parametrize(("decel", "counts"), [(7.0, 1), (6.3, 1), (5.7, 0)])
def test_braking_imposed_by_crossing(tmp_path, decel, counts):
    found = dangers(braking_other(decel), tmp_path)
    assert len(found.counted) == counts
    if counts:
        assert found.counted[0].how == FORCED_TO_BRAKE
        assert found.counted[0].value == pytest.approx(decel, abs=0.2)


def test_braking_behind_a_braking_ego_is_following(tmp_path):
    scene = Scene(seconds=10.0)
    scene.add("vehicle", profile(0.0, 0.0, 0.0, [(0, 15), (5, 15), (7, 0), (10, 0)]))
    scene.add("vehicle", profile(-17.0, 0.0, 0.0, [(0, 15), (5.4, 15), (7.4, 0), (10, 0)]))
    assert dangers(scene, tmp_path).counted == ()


def test_braking_for_somebody_else_is_not_imposed_by_the_ego(tmp_path):
    scene = braking_other(7.0)
    scene.add("vehicle", straight(-1.0, 3.0, 90.0, 0.0))  # stands closer, across the way
    scene.half[2] = (4.0, 1.0, 0.7)
    assert dangers(scene, tmp_path).counted == ()


def test_a_car_that_set_off_into_the_ego_s_way_is_not_forced_to_brake(tmp_path):
    """The ego goes straight; the other pulls out of a side road, sees it and stops hard."""
    scene = Scene(seconds=10.0)
    scene.add("vehicle", straight(-60.0, 0.0, 0.0, 10.0))
    pulls_out = [(0, 0), (2.8, 0), (4.9, 6.0), (5.5, 1.5), (5.7, 0), (99, 0)]
    scene.add("vehicle", profile(0.0, -13.0, 90.0, pulls_out))
    assert dangers(scene, tmp_path).counted == ()
    # The same stop of a car that came along is the ego's doing.
    came = [(0, 6.0), (4.9, 6.0), (5.5, 1.5), (5.7, 0), (99, 0)]
    scene.bodies[1] = ("vehicle", profile(0.0, -36.1, 90.0, came))
    (one,) = dangers(scene, tmp_path / "came").counted
    assert one.how == FORCED_TO_BRAKE


def test_nobody_is_both_hit_and_endangered(tmp_path):
    assert dangers(crossing_person(0.5), tmp_path, hit={1}).counted == ()


def test_going_on_keeps_bend_and_braking():
    start = np.array([1.0, 2.0, 0.0, 1.0, 0.0, 6.0, 8.0, 0.5])
    times = np.linspace(0.0, 4.0, 4001)
    place = go_on(start, 0.5, 2.0, times)
    # Euler integration with the same braking, bend per metre kept.
    x, y, angle, speed = 1.0, 2.0, np.arctan2(8.0, 6.0), 10.0
    for step in np.diff(times):
        middle = max(speed - step, 0.0)
        angle_middle = angle + 0.05 * middle * step / 2.0
        x += middle * np.cos(angle_middle) * step
        y += middle * np.sin(angle_middle) * step
        angle += 0.05 * middle * step
        speed = max(speed - 2.0 * step, 0.0)
    assert place[-1] == pytest.approx([x, y], abs=0.02)


def test_step_is_what_the_tests_assume():
    assert STEP_S == 0.05
