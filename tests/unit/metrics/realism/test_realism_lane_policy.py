"""Lane followers: they keep their lane, distance and lights, and depend on their seed alone."""

from dataclasses import replace

import numpy as np
import pytest
from realism_scenes import crossing_scene, follower_scene, red_signal, scene

from jaywalk.core.errors import UsageError
from jaywalk.metrics.realism.red_light import lane_successors
from jaywalk.metrics.realism.scene import Polylines, SceneLanes
from jaywalk.rollouts._policies import POLICIES, lane_follow, roll_out_scene


def test_lanes_follow_where_they_meet_and_lead_the_same_way():
    lines = Polylines.of(
        [
            [(0, 0, 0), (10, 0, 0)],
            [(10, 0.5, 0), (20, 0.5, 0)],  # goes on
            [(10, 0, 0), (10, 9, 0)],  # turns too sharply
            [(10, 0, 6), (20, 0, 6)],  # on a bridge
            [(10, 0, 0), (0, 0, 0)],  # back
            [(11, 0, 0), (20, 6, 0)],  # forks off
        ]
    )
    assert lane_successors(lines)[0] == [1, 5]
    assert lane_successors(Polylines.of([])) == []


def test_a_follower_neither_hits_its_leader_nor_leaves_its_lane():
    found = lane_follow(follower_scene(), 16)
    gap = found.x_m[:, 1] - found.x_m[:, 0]
    assert gap.min() > 4.0
    assert np.abs(found.y_m).max() < 0.01
    speeds = np.diff(found.x_m, axis=2) / 0.1
    assert (speeds > -1e-3).all()
    assert (np.diff(speeds, axis=2) / 0.1).min() > -6.6


def test_a_red_light_stops_and_a_green_one_does_not():
    away = scene([(lambda s: -40.0 + s * 0.8, 0.0, 0.0)], signals=red_signal(20.5))
    assert (lane_follow(away, 8).x_m + 2.0 < 21.0).all()
    green = scene([(lambda s: -40.0 + s * 0.8, 0.0, 0.0)], signals=red_signal(20.5, state=6))
    assert (lane_follow(green, 8).x_m[..., -1] > 25.0).all()


def test_a_light_out_of_sight_stays_as_it_was_seen_last():
    """Yellow, then a gap in the log, then red: nobody speeds up in the gap."""
    away = scene([(lambda s: -40.0 + s * 0.8, 0.0, 0.0)], signals=red_signal(20.5))
    seen = np.r_[0:37, 60:91]
    state = np.where(seen < 25, 6, np.where(seen < 60, 5, 4))
    gap = replace(red_signal(20.5, steps=seen), state=state)
    found = lane_follow(replace(away, signals=gap), 16)
    assert (found.x_m + 2.0 < 21.5).all()
    assert found.x_m.max() > 12.0


def test_a_stop_point_beside_its_lane_stops_too():
    away = scene([(lambda s: -40.0 + s * 0.8, 0.0, 0.0)], signals=red_signal(20.5))
    beside = away.signals.stop_point_m + np.array([0.0, 4.5, 0.0], np.float32)
    found = lane_follow(replace(away, signals=replace(away.signals, stop_point_m=beside)), 8)
    assert (found.x_m + 2.0 < 21.0).all()


def test_flashing_red_is_a_stop_sign():
    away = scene([(lambda s: -10.0 + s * 0.8, 0.0, 0.0)], signals=red_signal(14.5, state=7))
    found = lane_follow(away, 8)
    speeds = np.diff(found.x_m[:, 0], axis=1) / 0.1
    slowest = speeds.argmin(axis=1)
    stood_at = found.x_m[np.arange(8), 0, slowest] + 2.0
    assert (speeds.min(axis=1) < 0.35).all()
    assert ((stood_at > 11.0) & (stood_at < 15.5)).all()
    assert (found.x_m[:, 0, -1] > 15.0).all()


def test_a_vehicle_too_close_to_stop_drives_on():
    close = scene([(lambda s: s * 1.0, 0.0, 0.0)], signals=red_signal(14.5))
    assert (lane_follow(close, 8).x_m[..., -1] > 40.0).all()


def test_cyclists_do_not_become_cars():
    rider = scene([(lambda s: s * 0.4, 0.0, 0.0)], types=[3], sizes=[(1.8, 0.6)])
    found = lane_follow(rider, 16)
    assert (np.diff(found.x_m, axis=2) / 0.1).max() < 7.8


def test_a_vehicle_beside_its_lane_comes_to_the_middle():
    found = lane_follow(scene([(lambda s: s * 1.0, 1.2, 0.0)]), 2)
    assert np.abs(found.y_m[..., -1]).max() < 0.1
    assert (np.abs(np.diff(found.y_m, axis=2)) < 0.1).all()


def test_forks_are_taken_at_random():
    whole = scene([(lambda s: -150.0 + s * 1.0, 0.0, 0.0)])
    ends = [
        [(-200.0, 0.0, 0.0), (-100.0, 0.0, 0.0)],
        [(-100.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
        [(-100.0, 0.0, 0.0), (0.0, 40.0, 0.0)],
    ]
    lanes = SceneLanes(lines=Polylines.of(ends), lane_id=np.arange(3), lane_type=np.full(3, 2))
    found = lane_follow(replace(whole, lanes=lanes), 24)
    left = (found.y_m[:, 0, -1] > 5.0).mean()
    assert 0.2 < left < 0.8


def test_people_walk_on_and_who_stands_stays():
    people = scene(
        [(lambda s: s * 0.13, 4.0, 0.0), (5.0, 5.0, 1.0)], types=[2, 2], sizes=[(0.5, 0.5)] * 2
    )
    found = lane_follow(people, 8)
    walked = np.hypot(found.x_m[:, 0, -1] - 1.3, found.y_m[:, 0, -1] - 4.0)
    assert ((walked > 6.0) & (walked < 15.0)).all()
    assert (found.x_m[:, 1] == 5.0).all()


def test_a_rollout_depends_on_seed_and_number_alone():
    one = crossing_scene()
    few, many = lane_follow(one, 3, seed=5), lane_follow(one, 7, seed=5)
    assert np.array_equal(few.x_m, many.x_m[:3])
    assert np.array_equal(few.heading_rad, many.heading_rad[:3])
    assert not np.array_equal(few.x_m, lane_follow(one, 3, seed=6).x_m)
    assert not np.array_equal(few.x_m[0], few.x_m[1])


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_fills_every_step(policy):
    one = crossing_scene()
    found = roll_out_scene(one, policy, 4, 0)
    assert found.x_m.shape == (4, len(one.simulated_index), 80)
    assert np.isfinite(found.heading_rad).all()


def test_an_unknown_policy_is_named():
    with pytest.raises(UsageError, match=r"'fast'.*lanes"):
        roll_out_scene(scene([(0.0, 0.0, 0.0)]), "fast", 1, 0)


def test_a_scene_without_lanes_goes_on_freely():
    none = SceneLanes(lines=Polylines.of([]), lane_id=np.zeros(0, int), lane_type=np.zeros(0, int))
    found = lane_follow(replace(follower_scene(), lanes=none), 2)
    assert found.x_m[0, 0, -1] == pytest.approx(90.0, abs=8.0)
