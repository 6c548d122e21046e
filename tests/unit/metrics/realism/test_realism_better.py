"""What the post demands of a better score, as properties."""

from dataclasses import replace

import numpy as np
import pytest
from realism_scenes import assert_no_jump, crossing_scene, follower_scene, replay

from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism._smooth_density import smooth_log_density
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.jaywalk_score._closing import NAME
from jaywalk.metrics.realism.jaywalk_score._coordination import coordination_cost, encounters
from jaywalk.metrics.realism.jaywalk_score._likeness import crps, energy_score, likeness_costs
from jaywalk.metrics.realism.jaywalk_score._safety import event_safety
from jaywalk.metrics.realism.jaywalk_score.score import (
    _likeness,
    better_features,
    scene_costs,
    score_jaywalk1,
)
from jaywalk.metrics.realism.scene import N_HISTORY
from jaywalk.metrics.realism.studies.studies import with_collisions, without_events

CONFIG = CONFIGS["2025"]
CASES = [replay(crossing_scene("a"), 8), replay(crossing_scene("b", -3.0), 8)]


def moved(case, **changes):
    return replace(case, rollouts=replace(case.rollouts, **changes))


def delayed(case, steps):
    """Everybody waits a while and then does what the log does."""
    rows = case.scene.simulated_index
    late = np.maximum(np.arange(N_HISTORY, 91) - steps, 10)

    def taken(values):
        one = values[rows][:, late]
        return np.ascontiguousarray(np.broadcast_to(one, (len(case.rollouts), *one.shape)))

    scene = case.scene
    return moved(
        case, x_m=taken(scene.x_m), y_m=taken(scene.y_m), heading_rad=taken(scene.heading_rad)
    )


def test_energy_score_by_hand():
    sim = np.array([[[0.0, 0.0]], [[3.0, 4.0]]])
    found = energy_score(np.array([[0.0, 0.0]]), sim)
    assert found == pytest.approx([(0 + 5) / 2 - 0.5 * (2 * 5) / 4])


def test_crps_agrees_with_the_integral_of_the_squared_step_function():
    rng = np.random.default_rng(0)
    sim, log = rng.normal(size=(12, 1)), np.array([0.3])
    grid = np.linspace(-8, 8, 160_001)
    step = (sim[:, 0][:, None] <= grid).mean(axis=0) - (grid >= 0.3)
    assert crps(log, sim)[0] == pytest.approx(np.trapezoid(step**2, grid), abs=1e-3)


def test_the_log_itself_is_one_and_random_driving_zero():
    assert score_jaywalk1(CASES).likeness.value == pytest.approx(1.0)
    lower = score_jaywalk1(replaced(CASES, "random"))
    assert lower.likeness.value == pytest.approx(0.0, abs=1e-9)
    assert {"kinematic_density", "timing", "trajectory", "coordination"} <= set(lower.parts)


def test_a_wrong_time_costs_and_a_later_one_more():
    values = [
        score_jaywalk1([delayed(c, steps) for c in CASES]).likeness.value for steps in (0, 5, 15)
    ]
    assert values[0] > values[1] + 0.02
    assert values[1] > values[2] + 0.02


def sideways(case, shift_m):
    """Every object moved aside, each by its own multiple."""
    factors = np.linspace(-1.0, 1.5, case.rollouts.y_m.shape[1], dtype=np.float32)
    y = case.rollouts.y_m + np.float32(shift_m) * factors[None, :, None]
    return moved(case, y_m=y)


@pytest.mark.parametrize("make", [crossing_scene, follower_scene])
def test_a_small_change_never_jumps_the_score(make):
    """Where a cost changes most, ever smaller changes of the rollouts change it ever less."""
    case = replay(make(), 4)

    def costs(shift):
        here = sideways(case, shift)
        found = scene_costs(here, better_features(here), encounters(here))
        return np.array([v for v in found.values() if np.isfinite(v)])

    assert_no_jump(costs, np.linspace(0.0, 3.0, 31))


def test_the_time_to_collision_of_the_challenge_does_jump():
    """The reason for a soft one: a leader who enters the lane by a millimetre."""
    case = replay(follower_scene(), 2)
    shifts = np.linspace(0.0, 3.0, 601)
    official = [
        case_features(sideways(case, s), CONFIG).sim.series["time_to_collision"][0, 0, 70]
        for s in shifts
    ]
    soft = [better_features(sideways(case, s)).sim.series[NAME][0, 0, 70] for s in shifts]
    assert np.abs(np.diff(official)).max() > 0.1
    assert np.abs(np.diff(soft)).max() < 0.02
    assert soft[0] == pytest.approx(5.0 / (56.0 - 0.5 * 81), rel=0.01)


def test_the_smooth_density_is_continuous_where_the_histogram_jumps():
    log = np.full((1, 20), 4.0, np.float32)
    values = [
        smooth_log_density(log, np.full((8, 1, 20), 4.0 + s, np.float32), 1.0)[0, 10]
        for s in np.linspace(-2, 2, 401)
    ]
    assert np.abs(np.diff(values)).max() < 0.03
    assert int(np.argmax(values)) == 200
    assert values[200] == pytest.approx(0.0, abs=1e-6)


def test_ten_collisions_cost_more_than_one():
    features = case_features(CASES[0], CONFIG)
    one, ten = (
        event_safety([with_collisions(features, rollouts=1, steps=n)], "collision_indication")
        for n in (1, 10)
    )
    assert ten.time_share == pytest.approx(10 * one.time_share)
    spread = event_safety([with_collisions(features, rollouts=8, steps=1)], "collision_indication")
    assert spread.events_per_hour == pytest.approx(8 * one.events_per_hour)
    assert one.first_event_s == pytest.approx(0.1)
    assert one.rate in one.interval


def test_superhuman_is_not_worse_than_log_replay():
    """Without its errors a driver is as much alike, and safer."""
    features = with_collisions(case_features(CASES[0], CONFIG), rollouts=8, steps=5)
    flawless = without_events(features)
    assert likeness_costs(CASES[0], flawless) == likeness_costs(CASES[0], features)
    erring = event_safety([features], "collision_indication")
    safe = event_safety([flawless], "collision_indication")
    assert safe.rate == 0.0 < erring.rate
    assert np.isnan(safe.worst_m)


def test_who_goes_first_is_seen():
    found = encounters(CASES[0])
    assert len(found.pairs) == 1
    assert found.with_pedestrian.all()
    assert found.gap_log_s[0] > 0
    assert coordination_cost(found) == pytest.approx(0.0, abs=1e-9)
    # The car does not slow down and is there first.
    steps = np.arange(1, 81, dtype=np.float32)
    x = CASES[0].rollouts.x_m.copy()
    x[:, 0] = CASES[0].scene.x_m[0, 10] + 1.5 * steps
    rushed = encounters(moved(CASES[0], x_m=x))
    assert (rushed.gap_sim_s < 0).all()
    assert (rushed.delay_sim_s < found.delay_log_s).all()
    assert coordination_cost(rushed) > 1.0


def test_followers_are_no_encounter():
    assert len(encounters(replay(follower_scene(), 2)).pairs) == 0


def test_coverage_rewards_an_ensemble_that_holds_the_truth():
    y = CASES[0].rollouts.y_m.copy()
    y[1:] += np.linspace(3, 9, 7, dtype=np.float32)[:, None, None]
    found = score_jaywalk1([moved(CASES[0], y_m=y)])
    assert found.coverage["coverage"] == 1.0
    assert found.coverage["precision"] == pytest.approx(1 / 8)
    assert found.coverage["diversity_m"] > 1.0


def test_the_interval_is_of_the_likeness_itself_where_only_some_scenes_have_a_part():
    """A part that one scene has moves value and interval alike."""
    nan = float("nan")
    parts = {
        "timing": ([0.3, 0.4, 0.5], [1.0, 1.0, 1.0]),
        "coordination": ([nan, -1.2, nan], [nan, 1.0, nan]),
    }
    found = _likeness(parts, 3)
    assert found.value == pytest.approx((0.4 - 1.2) / 2.0)
    assert found.interval.low <= found.value <= found.interval.high
