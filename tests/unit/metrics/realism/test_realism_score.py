"""Estimators, aggregation, variants, bounds and audits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from realism_scenes import follower_scene, replay, scene

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.realism._estimators import event_log_likelihood, series_log_likelihood
from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism._trajectories import generated_trajectories
from jaywalk.metrics.realism.bounds import bounds, replaced
from jaywalk.metrics.realism.challenge import (
    BUCKET_OF,
    CONFIGS,
    FEATURES,
    Histogram,
    challenge_config,
)
from jaywalk.metrics.realism.scene import Rollouts
from jaywalk.metrics.realism.score import score_case, score_cases
from jaywalk.metrics.realism.studies.audit import audit
from jaywalk.metrics.realism.studies.studies import STUDIES
from jaywalk.metrics.realism.studies.weights import weight_study

CONFIG = CONFIGS["2025"]


def test_weights_and_buckets_are_those_of_the_years():
    assert sum(CONFIGS["2023"].weights.values()) == pytest.approx(0.99)
    for year, (kinematic, interactive, mapped) in {
        "2023": (0.36, 0.36, 0.27),
        "2024": (0.2, 0.45, 0.35),
        "2025": (0.2, 0.45, 0.35),
    }.items():
        sums = dict.fromkeys(("kinematic", "interactive", "map_based"), 0.0)
        for name, weight in CONFIGS[year].weights.items():
            sums[BUCKET_OF[name]] += weight
        assert list(sums.values()) == pytest.approx([kinematic, interactive, mapped])
    assert sum(CONFIGS["pufferdrive-2.0"].weights.values()) == pytest.approx(1.0)
    assert sum(CONFIGS["pufferdrive-2026"].weights.values()) == pytest.approx(0.95)
    assert "traffic_light_violation" not in CONFIGS["pufferdrive-2026"].weights
    with pytest.raises(UsageError, match="2023, 2024, 2025"):
        challenge_config("2022")


def test_histogram_by_hand():
    rule = Histogram(low=0.0, high=4.0, bins=4)
    sim = np.array([[[0.5, 1.0, -3.0]], [[9.0, np.nan, 3.0]]], np.float32)
    log = np.array([[0.0, 1.0, 4.0]], np.float32)
    # Bins: 0.5 and -3 in the first, 1.0 in the second, 9, NaN and 3 in the last.
    total = 6.4
    found = series_log_likelihood(log, sim, rule)
    np.testing.assert_allclose(np.exp(found), [[2.1 / total, 1.1 / total, 3.1 / total]])
    dropped = series_log_likelihood(log, sim, rule, count_nan=False)
    np.testing.assert_allclose(np.exp(dropped), [[2.1 / 5.4, 1.1 / 5.4, 2.1 / 5.4]])


def test_bernoulli_by_hand():
    sim = np.zeros((32, 2), bool)
    sim[:8, 0] = True
    found = np.exp(event_log_likelihood(np.array([True, True]), sim, 0.001))
    np.testing.assert_allclose(found, [8.001 / 32.002, 0.001 / 32.002])


def test_scenario_generation_differs_from_sim_agents_in_whom_it_pools():
    generation = CONFIGS["2025-scenario-gen"]
    assert set(generation.weights) == set(FEATURES)
    assert sum(generation.weights.values()) == pytest.approx(1.0)
    assert generation.weights == CONFIG.weights
    assert generation.histograms == CONFIG.histograms
    assert generation.pooled == set(FEATURES) - {"traffic_light_violation"}
    assert not CONFIG.pooled


def test_the_former_name_still_works():
    assert challenge_config("pufferdrive") is CONFIGS["pufferdrive-2.0"]
    assert "pufferdrive" not in CONFIGS


def test_pooled_estimators_by_hand():
    rule = Histogram(low=0.0, high=2.0, bins=2)
    sim = np.array([[[0.5, 0.5], [1.5, 1.5]], [[0.5, 1.5], [1.5, 1.5]]], np.float32)
    log = np.array([[0.5, 1.5], [0.5, 1.5]], np.float32)
    # Three values in the first bin and five in the second, for both objects alike.
    found = np.exp(series_log_likelihood(log, sim, rule, pool_objects=True))
    np.testing.assert_allclose(found, [[3.1 / 8.2, 5.1 / 8.2]] * 2)
    flags = np.array([[True, False], [False, False], [False, True]])
    found = np.exp(event_log_likelihood(np.array([True, False]), flags, 0.001, pool_objects=True))
    np.testing.assert_allclose(found, [2.001 / 6.002, 4.001 / 6.002])


def shaken(tracks, *, types=None, predict=None, seed=3):
    """A scene and eight rollouts with noise of their own for every object."""
    case = replay(scene(tracks, types=types, predict=predict), 8)
    rng = np.random.default_rng(seed)
    shape = case.rollouts.x_m.shape
    spread = np.linspace(0.05, 0.6, shape[1])[None, :, None]

    def noisy(values):
        return (values + rng.normal(size=shape) * spread).astype(np.float32)

    rollouts = replace(case.rollouts, x_m=noisy(case.rollouts.x_m), y_m=noisy(case.rollouts.y_m))
    return replace(case, rollouts=rollouts)


CARS = [(lambda s, k=k: 25.0 * k + s * (0.3 + 0.2 * k), -3.0 + 2.0 * k, 0.0) for k in range(4)]


@pytest.mark.parametrize("name", ["pufferdrive-2.0", "pufferdrive-2026"])
def test_pufferdrives_rules_old_and_new_from_features(name):
    """Everything behind the features, again with numpy's own histograms."""
    case, config = shaken(CARS, types=[1, 2, 1, 1], predict=[1, 2, 3]), CONFIGS[name]
    features, new = case_features(case, config), name.endswith("2026")
    assert features.log_valid.shape == (3, 81)  # the ego is not scored, it is no track to predict
    weights = {n: w for n, w in CONFIG.weights.items() if n != "traffic_light_violation"}
    total = 0.0
    for feature, weight in weights.items():
        by_agent = []
        for agent in range(3):
            if feature.endswith("indication"):
                log, sim = (
                    side.events[feature][:, agent].any(axis=1)
                    for side in (features.log, features.sim)
                )
                by_agent.append(np.log(((sim == log[0]).sum() + 0.001) / 8.002))
                continue
            if feature == "time_to_collision" and new and not features.is_vehicle[agent]:
                continue
            rule = config.histograms[feature]
            edges = np.linspace(rule.low, rule.high, rule.bins + 1).astype(np.float32)
            log, sim = (
                np.clip(side.series[feature][:, agent], rule.low, rule.high)
                for side in (features.log, features.sim)
            )
            counts = np.histogram(sim[np.isfinite(sim)], edges)[0] + 0.1
            cut = 2 if "acceleration" in feature else 1 if "speed" in feature else 0
            kept = log[0, cut : 81 - cut]
            bins = np.clip(np.digitize(kept, edges) - 1, 0, rule.bins - 1)
            by_agent.append(np.log(counts / counts.sum())[bins].mean())
        mean = np.exp(np.mean(by_agent)) if new else np.mean(np.exp(by_agent))
        total += weight * mean
    expected = total if new else total / 0.95
    assert score_case(case, config).metametric == pytest.approx(expected, abs=1e-6)


def test_the_new_rules_of_pufferdrive_never_score_above_the_old():
    for seed in range(3):
        case = shaken(CARS, seed=seed)
        old, new = (score_case(case, CONFIGS[f"pufferdrive-{v}"]) for v in ("2.0", "2026"))
        assert new.metametric < old.metametric * 0.95 + 1e-9


def test_buckets_of_the_new_rules_are_unweighted():
    found = score_cases([shaken(CARS)], CONFIGS["pufferdrive-2026"])
    for bucket in ("kinematic", "interactive", "map_based"):
        names = [n for n in CONFIGS["pufferdrive-2026"].weights if BUCKET_OF[n] == bucket]
        mean = np.mean([found.likelihoods[n] for n in names])
        assert found.buckets[f"{bucket}_metrics"] == pytest.approx(mean)


def test_the_new_rules_leave_scenes_without_a_vehicle_out():
    config = CONFIGS["pufferdrive-2026"]
    walker = replay(scene([(0.0, 0.0, 0.0)], types=[2], name="walker"))
    both = score_cases([shaken(CARS), walker], config)
    assert both.n_scenarios == 1
    assert both.metametric == score_cases([shaken(CARS)], config).metametric
    with pytest.raises(UsageError, match="without a scored vehicle"):
        score_cases([walker], config)


def test_scenario_generation_scores_everybody_and_every_step():
    config = CONFIGS["2025-scenario-gen"]
    case = shaken(CARS, types=[1, 2, 1, 1], predict=[1])
    features = case_features(case, config)
    assert features.log_valid.shape == (4, 91)
    assert features.sim.series["linear_speed"].shape == (8, 4, 91)
    found = score_case(case, config)
    assert math.isnan(found.ade_m)
    # Who is who does not matter: exchange two cars of one size in every rollout.
    order = [0, 1, 3, 2]
    full = generated_trajectories(case.scene, case.rollouts)[0]
    whole = Rollouts(x_m=full.x_m, y_m=full.y_m, z_m=full.z_m, heading_rad=full.heading_rad)
    assert score_case(replace(case, rollouts=whole), config).likelihoods == found.likelihoods
    swapped = score_case(replace(case, rollouts=whole.ordered(order)), config)
    for name in ("linear_speed", "distance_to_nearest_object", "collision_indication"):
        assert swapped.likelihoods[name] == pytest.approx(found.likelihoods[name])
    case = replace(case, scene=replace(case.scene, predict_index=np.arange(4)))
    other = score_case(replace(case, rollouts=case.rollouts.ordered(order)), CONFIG)
    here = score_case(case, CONFIG)
    change = other.likelihoods["linear_speed"] - here.likelihoods["linear_speed"]
    assert abs(change) > 0.01


def test_generated_boxes_have_their_own_sizes():
    config = CONFIGS["2025-scenario-gen"]
    case = replay(scene([(0.0, -1.5, 0.0), (0.0, 1.5, 0.0)]), 2)
    full = generated_trajectories(case.scene, case.rollouts)[0]
    shape = full.x_m.shape
    wide = np.full(shape, 2.0, np.float32)
    wide[1, :, 50:] = 3.2  # The second rollout's boxes touch from step 50 on.
    sizes = {
        "length_m": np.full(shape, 4.0, np.float32),
        "width_m": wide,
        "height_m": np.full(shape, 1.5, np.float32),
    }
    rollouts = Rollouts(
        x_m=full.x_m, y_m=full.y_m, z_m=full.z_m, heading_rad=full.heading_rad, **sizes
    )
    case = replace(case, rollouts=rollouts)
    flags = case_features(case, config).sim.events["collision_indication"]
    assert not flags[0].any()
    assert not flags[1, :, :50].any()
    assert flags[1, :, 50:].all()
    with pytest.raises(UsageError, match="2025-scenario-gen"):
        score_case(case, CONFIG)
    with pytest.raises(DataError, match="or none"):
        replace(case, rollouts=replace(rollouts, width_m=None))


@pytest.mark.parametrize("name", CONFIGS)
def test_every_study_and_audit_runs_under_every_configuration(name):
    cases = [shaken(CARS, seed=1), shaken(CARS, seed=2)]
    for study in STUDIES.values():
        assert study(cases, CONFIGS[name]).finding
    found = audit(cases, CONFIGS[name])
    assert found.log_replay >= found.superhuman
    score = score_cases(cases, CONFIGS[name])
    assert weight_study(score, bounds(cases, score, CONFIGS[name]).scores, CONFIGS[name]).rows


def test_one_wrong_agent_of_four_costs_far_more_than_in_pufferdrive():
    tracks = [(lambda s, k=k: s * 0.5, -4.5 + 3.0 * k, 0.0) for k in range(4)]
    case = replay(scene(tracks))
    rollouts = replace(case.rollouts, y_m=case.rollouts.y_m.copy())
    rollouts.y_m[:, 0] = -30.0  # Off the road, in every rollout.
    case = replace(case, rollouts=rollouts)
    ours = score_case(case, CONFIG).likelihoods["offroad_indication"]
    theirs = score_case(case, CONFIGS["pufferdrive-2.0"]).likelihoods["offroad_indication"]
    assert ours == pytest.approx((0.001 / 32.002) ** 0.25, rel=1e-3)
    assert theirs == pytest.approx(0.75, abs=1e-3)


def test_years_share_likelihoods_and_differ_in_weights():
    case = replay(follower_scene())
    a, b = (score_case(case, CONFIGS[year]) for year in ("2024", "2025"))
    assert a.likelihoods == b.likelihoods
    change = 0.05 * (
        b.likelihoods["traffic_light_violation"] - b.likelihoods["distance_to_road_edge"]
    )
    assert b.metametric - a.metametric == pytest.approx(change)


def test_without_a_vehicle_the_time_to_collision_is_undefined():
    case = replay(scene([(0.0, 0.0, 0.0)], types=[2]))
    found = score_case(case, CONFIG)
    assert math.isnan(found.likelihoods["time_to_collision"])
    assert math.isnan(found.metametric)


def test_log_replay_is_better_than_knowing_nothing():
    cases = [replay(follower_scene(name=f"f{k}"), 8) for k in range(3)]
    score = score_cases(cases, CONFIG)
    found = bounds(cases, score, CONFIG)
    assert found.scores["log_replay"].metametric == pytest.approx(score.metametric)
    assert found.scores["random"].metametric < score.metametric
    assert found.normalised["random"].value == pytest.approx(1.0)
    again = bounds(cases, score, CONFIG)
    assert again.scores["random"].metametric == found.scores["random"].metametric


def test_the_audit_finds_what_the_labels_decide():
    clean = replay(follower_scene(name="clean"))
    noisy = replay(scene([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 20.0, 0.0)], name="noisy"))
    found = audit([clean, noisy], CONFIG)
    assert found.clean == ("clean",)
    assert found.events["collision"].agents == 2
    assert found.events["offroad"].agents == 1
    assert found.events["collision"].share == pytest.approx(2 / 5)
    assert found.score == pytest.approx(found.log_replay)
    # Collisions of two and the off-road step of one of three agents, in one of two scenes.
    wrong = 0.001 / 32.002
    lost = (2 - wrong ** (2 / 3) - wrong ** (1 / 3)) * 0.25 / 2
    assert found.log_replay - found.superhuman == pytest.approx(lost, abs=1e-4)


def test_the_weight_study_adds_up():
    cases = replaced([replay(follower_scene())], "random")
    score = score_cases(cases, CONFIG)
    found = weight_study(score, bounds(cases, score, CONFIG).scores, CONFIG)
    assert set(found.rows) == set(FEATURES)
    assert sum(row.share for row in found.rows.values()) == pytest.approx(1.0)
    assert sum(row.gap_share for row in found.rows.values()) == pytest.approx(1.0)
    row = found.rows["collision_indication"]
    assert row.without == pytest.approx((score.metametric - 0.25 * row.likelihood) / 0.75)


def test_studies_show_the_flaws():
    cases = [replay(follower_scene()), replay(scene([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)], name="n"))]
    found = {name: study(cases, CONFIG) for name, study in STUDIES.items()}
    collisions = found["collisions"].numbers
    spread, packed = found["collisions"].curves
    assert collisions["none"] - collisions["one_per_rollout"] > 0.1
    assert set(packed.y[2:]) == {packed.y[1]}
    assert spread.y == tuple(sorted(spread.y, reverse=True))
    assert found["superhuman"].numbers["superhuman"] < found["superhuman"].numbers["log_replay"]
    timing = found["timing"].numbers
    assert timing["metametric_shuffled"] == pytest.approx(timing["metametric"], abs=1e-9)
    assert timing["timing_cost_shuffled"] > timing["timing_cost"] + 0.1
    bins = found["bins"].numbers
    assert bins["largest_jump_histogram"] > 5 * bins["largest_step_smooth"]


def test_clear_errors():
    of = follower_scene()
    with pytest.raises(DataError, match="not valid at step 10"):
        replace(of, valid=np.zeros_like(of.valid))
    with pytest.raises(DataError, match="tracks 0 to 1"):
        replace(of, predict_index=np.array([2]))
    case = replay(of, 2)
    with pytest.raises(DataError, match="not finite"):
        replace(case, rollouts=replace(case.rollouts, x_m=case.rollouts.x_m * np.float32(np.nan)))
    with pytest.raises(DataError, match="expected"):
        replace(case, rollouts=replace(case.rollouts, x_m=case.rollouts.x_m[:, :1]))
    with pytest.raises(UsageError, match="at least one"):
        score_cases([], CONFIG)


def test_features_of_the_log_equal_those_of_its_replay():
    features = case_features(replay(follower_scene(), 2), CONFIG)
    for name, values in features.log.series.items():
        np.testing.assert_array_equal(values[0], features.sim.series[name][1])
