"""Kernels: later use of ground, time to touch; against shapely and closed forms."""

import numpy as np
import pytest
from hand_records_safety import Scene, profile, straight
from shapely import affinity
from shapely.geometry import Point, box

from jaywalk.core.seeds import stream
from jaywalk.geometry.encroachment import finer_gap, later_use, overlap_m, times_to_touch
from jaywalk.metrics.safety._endangerment import time_to_collision
from jaywalk.record.tracks import load_tracks

CAR, PERSON = np.array([2.4, 1.0, 0.0]), np.array([0.3, 0.3, 1.0])


def shape_of(pose, shape):
    if shape[2]:
        return Point(pose[0], pose[1]).buffer(shape[0], 64)
    turned = affinity.rotate(
        box(-shape[0], -shape[1], shape[0], shape[1]),
        np.degrees(np.arctan2(pose[4], pose[3])),
        (0, 0),
    )
    return affinity.translate(turned, pose[0], pose[1])


def walk(random, n, speed):
    """A smooth random track of 8 columns around the origin."""
    angle = random.uniform(-np.pi, np.pi) + np.cumsum(random.normal(0.0, 0.05, n))
    step = speed * 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    track = np.zeros((n, 8))
    track[:, :2] = np.cumsum(step, axis=0) - step.sum(axis=0) / 2.0 + random.normal(0.0, 2.0, 2)
    track[:, 3], track[:, 4] = np.cos(angle), np.sin(angle)
    track[:, 5:7] = step / 0.05
    return track


def test_overlap_agrees_with_shapely():
    random = stream(3, "overlap")
    for _ in range(300):
        a, b = walk(random, 1, 5.0)[0], walk(random, 1, 5.0)[0]
        for one, two in ((CAR, CAR), (CAR, PERSON), (PERSON, CAR), (PERSON, PERSON)):
            depth = overlap_m(a, one, b, two)
            common = shape_of(a, one).intersection(shape_of(b, two)).area
            if abs(depth) > 0.01:
                assert (depth > 0.0) == (common > 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_later_use_agrees_with_brute_force(seed):
    random = stream(seed, "later")
    n = 60
    time_s = np.arange(n) * 0.05
    first, second = walk(random, n, 8.0), walk(random, n, 3.0)
    here_a, here_b = np.ones(n, np.bool_), np.ones(n, np.bool_)
    here_a[40:45] = here_b[10:13] = False
    gap_s, at = later_use(time_s, first, CAR, here_a, second, PERSON, here_b, 1.5)
    for i in range(n):
        soon = [
            k
            for k in range(i + 1, n)
            if here_a[i]
            and here_b[k]
            and time_s[k] - time_s[i] <= 1.5
            and overlap_m(first[i], CAR, second[k], PERSON) > 0.0
        ]
        if soon:
            assert (at[i], gap_s[i]) == (soon[0], pytest.approx(time_s[soon[0]] - time_s[i]))
        else:
            assert at[i] == -1
            assert np.isinf(gap_s[i])


def test_other_levels_are_other_ground():
    first, second = np.zeros((3, 8)), np.zeros((3, 8))
    first[:, 3] = second[:, 3] = 1.0
    time_s, here = np.arange(3) * 0.05, np.ones(3, np.bool_)
    assert np.isfinite(later_use(time_s, first, CAR, here, second, CAR, here, 1.0)[0]).sum() == 2
    second[:, 2] = 3.0
    assert not np.isfinite(later_use(time_s, first, CAR, here, second, CAR, here, 1.0)[0]).any()


def test_finer_gap_is_between_the_ticks():
    """Two cars crossing at right angles: leaving and arriving are known exactly."""
    time_s = np.arange(200) * 0.05
    first, second = np.zeros((200, 8)), np.zeros((200, 8))
    first[:, 0], first[:, 3] = -20.0 + 7.0 * time_s, 1.0
    second[:, 1], second[:, 4] = -50.0 + 9.0 * time_s, 1.0
    here = np.ones(200, np.bool_)
    gap_s, at = later_use(time_s, first, CAR, here, second, CAR, here, 5.0)
    i = int(np.argmin(gap_s))
    exact = (50.0 - 1.0 - 2.4) / 9.0 - (20.0 + 1.0 + 2.4) / 7.0
    fine = finer_gap(time_s, first, CAR, i, second, CAR, int(at[i]))
    assert fine == pytest.approx(exact, abs=0.007)
    assert gap_s[i] >= fine


def ttc(scene, tmp_path):
    return time_to_collision(load_tracks(scene.write(tmp_path / "episode")))


def test_ttc_behind_a_slower_car(tmp_path):
    scene = Scene(seconds=4.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 12.0))
    scene.add("vehicle", straight(50.0, 0.0, 0.0, 4.0))
    found = ttc(scene, tmp_path)
    times = np.arange(81) * 0.05
    assert found.ttc_s == pytest.approx((50.0 - 4.8 - 8.0 * times) / 8.0, abs=2e-3)
    assert found.min_s == pytest.approx((45.2 - 32.0) / 8.0, abs=2e-3)
    assert set(found.other) == {1}


def test_ttc_with_somebody_crossing_agrees_with_brute_force(tmp_path):
    scene = Scene(seconds=3.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 10.0))
    scene.add("walker", straight(40.0, -6.0, 90.0, 1.5))
    found = ttc(scene, tmp_path)
    after = np.arange(0.0, 10.0, 0.002)
    for tick in (0, 13, 40, 60):
        ego, person = 0.5 * tick, (40.0, -6.0 + 0.075 * tick)
        dx = np.maximum(np.abs(person[0] - ego - 10.0 * after) - 2.4, 0.0)
        dy = np.maximum(np.abs(person[1] + 1.5 * after) - 1.0, 0.0)
        hit = after[np.hypot(dx, dy) < 0.2]
        assert found.ttc_s[tick] == pytest.approx(hit[0] if len(hit) else np.inf, abs=5e-3)


def test_a_bend_past_parked_cars_is_no_conflict(tmp_path):
    """Straight on the ego would run into the parked car; its way bends away before."""
    scene = Scene(seconds=8.0)

    def bend(t):
        angle = 8.0 * t / 20.0
        return 20.0 * np.sin(angle), 20.0 * (1.0 - np.cos(angle)), np.degrees(angle)

    scene.add("vehicle", bend)
    scene.add("vehicle", straight(30.0, 0.0, 0.0, 0.0))
    assert np.isnan(ttc(scene, tmp_path).min_s)


def test_others_who_come_from_behind_or_to_a_standing_ego_do_not_count(tmp_path):
    scene = Scene(seconds=4.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 5.0))
    scene.add("vehicle", straight(-50.0, 0.0, 0.0, 15.0))
    assert np.isnan(ttc(scene, tmp_path).min_s)
    standing = Scene(seconds=4.0)
    standing.add("vehicle", profile(0.0, 0.0, 0.0, [(0, 0), (9, 0)]))
    standing.add("vehicle", straight(50.0, 0.0, 180.0, 15.0))
    assert np.isnan(ttc(standing, tmp_path / "standing").min_s)


def test_touching_now_is_zero():
    track = np.zeros((2, 8))
    track[:, 3], track[:, 5] = 1.0, 3.0
    other = track.copy()
    other[:, 0] = 1.0
    wanted = np.ones(2, np.bool_)
    assert times_to_touch(track, CAR, other, CAR, wanted, 5.0, False).tolist() == [0.0, 0.0]
