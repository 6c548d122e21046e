"""Agreement with the official implementation on the golden cases."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jaywalk.metrics.realism._features import case_features
from jaywalk.metrics.realism._trajectories import generated_trajectories
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.challenge import CONFIGS, FEATURES
from jaywalk.metrics.realism.jaywalk_score.score import score_jaywalk1
from jaywalk.metrics.realism.scene import Rollouts
from jaywalk.metrics.realism.score import aggregate, happened, score_case, score_features
from jaywalk.metrics.realism.studies.studies import study_timing
from jaywalk.rollouts.cases._npz import load_arrays, read_npz_case
from jaywalk.rollouts.inputs import read_cases

CASES = Path(__file__).parents[5] / "shared" / "data" / "wosac_cases"
FILES = sorted(p for p in CASES.glob("case_*.npz") if not p.stem.endswith("_features"))

# Waymo's own code on the same files, with its scenario-generation configuration: the ten
# likelihoods in the order of FEATURES and the metametric. Logged histories count as generated;
# "sized": boxes grow by 1 cm a step and differ from rollout to rollout.
GENERATION = {
    "case_01": (
        0.179880,
        0.276867,
        0.556539,
        0.436310,
        0.166429,
        0.821426,
        0.490020,
        0.501277,
        0.641063,
        0.999969,
        0.578809,
    ),
    "case_01_sized": (
        0.179880,
        0.276867,
        0.556539,
        0.436310,
        0.163095,
        0.656249,
        0.488828,
        0.469101,
        0.573192,
        0.999969,
        0.518486,
    ),
    "case_02": (
        0.328552,
        0.521927,
        0.199175,
        0.613108,
        0.211512,
        0.635415,
        0.431079,
        0.429344,
        0.503457,
        0.999969,
        0.503581,
    ),
    "case_03": (
        0.202812,
        0.438393,
        0.830193,
        0.719034,
        0.136455,
        0.566268,
        0.946439,
        0.521266,
        0.680354,
        0.858541,
        0.598457,
    ),
    "case_03_sized": (
        0.202812,
        0.438393,
        0.830193,
        0.719034,
        0.135581,
        0.511303,
        0.944387,
        0.509484,
        0.658728,
        0.858541,
        0.578427,
    ),
    "case_04": (
        0.315236,
        0.462767,
        0.161773,
        0.387224,
        0.203625,
        0.833330,
        0.531421,
        0.290791,
        0.490309,
        0.959663,
        0.533287,
    ),
}
# Metametrics of PufferDrive's code of 30 December 2025 (2.0). For 2026 the same code with the rules
# of January 2026 put in by hand (mean of log-likelihoods, vehicles only, no division).
PUFFER = {
    "case_01": {"pufferdrive-2.0": 0.75607, "pufferdrive-2026": 0.68898},
    "case_02": {"pufferdrive-2.0": 0.66302, "pufferdrive-2026": 0.57282},
    "case_03": {"pufferdrive-2.0": 0.73230, "pufferdrive-2026": 0.68572},
}

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FILES, reason="needs ../shared/data/wosac_cases"),
]


@pytest.fixture(scope="module")
def computed():
    found = {}
    for path in FILES:
        case = read_npz_case(path)
        found[path.stem] = (case, case_features(case, CONFIGS["2025"]))
    return found


@pytest.mark.parametrize("year", ["2023", "2024", "2025"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_number_agrees(path, year, computed):
    case, features = computed[path.stem]
    golden = json.loads(path.with_suffix(".json").read_text())["config"][year]
    config = CONFIGS[year]
    scene = score_features(path.stem, features, config, len(case.rollouts))
    score = aggregate([scene], config)
    ours = {f"{name}_likelihood": value for name, value in score.likelihoods.items()}
    ours |= {f"simulated_{name}_rate": value for name, value in score.rates.items()}
    ours |= {
        "metametric": score.metametric,
        "average_displacement_error": score.ade_m,
        "min_average_displacement_error": score.min_ade_m,
    }
    assert set(ours) == set(golden) - {"buckets"}
    for name, value in ours.items():
        assert value == pytest.approx(golden[name], abs=2e-5), name
    assert set(score.buckets) == set(golden["buckets"])
    for name, value in golden["buckets"].items():
        assert score.buckets[name] == pytest.approx(value, abs=2e-5), name


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_event_agrees(path, computed):
    case, features = computed[path.stem]
    golden = json.loads(path.with_suffix(".json").read_text())["per_evaluated_object"]
    assert (
        case.scene.object_id[case.scene.evaluated_index].tolist() == golden["evaluated_object_id"]
    )
    for event, short in (
        ("collision_indication", "collision"),
        ("offroad_indication", "offroad"),
        ("traffic_light_violation", "traffic_light_violation"),
    ):
        log = happened(features.log, event, features.log_valid)[0]
        sim = happened(features.sim, event, features.log_valid).sum(axis=0)
        assert log.tolist() == golden[f"log_{short}"]
        assert sim.tolist() == golden[f"sim_{short}_rollouts"]


@pytest.mark.parametrize("name", ["case_03", "case_05"])
def test_every_feature_agrees(name, computed):
    _, features = computed[name]
    golden = load_arrays(CASES / f"{name}_features.npz")
    for prefix, side in (("log", features.log), ("sim", features.sim)):
        for feature, values in side.series.items():
            np.testing.assert_allclose(
                values, golden[f"{prefix}_{feature}"], rtol=3e-5, atol=1e-3, err_msg=feature
            )
        for event, flags in side.events.items():
            key = event.replace("_indication", "") + "_per_step"
            np.testing.assert_array_equal(flags, golden[f"{prefix}_{key}"], err_msg=event)


def grown(case):
    """The case as generated scenes of 91 steps with box sizes of their own."""
    tracks, sizes = generated_trajectories(case.scene, case.rollouts)
    scale = (0.8 + 0.02 * np.arange(32, dtype=np.float32)[:, None, None]).astype(np.float32)
    more = np.float32(0.01) * np.arange(91, dtype=np.float32)
    rollouts = Rollouts(
        x_m=tracks.x_m,
        y_m=tracks.y_m,
        z_m=tracks.z_m,
        heading_rad=tracks.heading_rad,
        length_m=(sizes.length_m * scale + more).astype(np.float32),
        width_m=(sizes.width_m * scale + more).astype(np.float32),
        height_m=(sizes.height_m * scale + more).astype(np.float32),
    )
    return replace(case, rollouts=rollouts)


@pytest.mark.parametrize("key", GENERATION)
def test_scenario_generation_agrees(key, computed):
    case = computed[key.removesuffix("_sized")][0]
    if key.endswith("_sized"):
        case = grown(case)
    found = score_case(case, CONFIGS["2025-scenario-gen"])
    assert found.n_agents == len(case.scene.simulated_index)
    ours = [*(found.likelihoods[name] for name in FEATURES), found.metametric]
    assert ours == pytest.approx(GENERATION[key], abs=2e-5)


@pytest.mark.parametrize("name", PUFFER)
@pytest.mark.parametrize("config", ["pufferdrive-2.0", "pufferdrive-2026"])
def test_pufferdrive_agrees(name, config, computed):
    found = score_case(computed[name][0], CONFIGS[config])
    assert found.metametric == pytest.approx(PUFFER[name][config], abs=2e-5)


def test_a_folder_is_read_without_its_feature_files():
    assert [case.scene.name for case in read_cases(CASES)] == [path.stem for path in FILES]


def test_the_better_score_places_the_log_above_all_rollouts_and_time_counts(computed):
    cases = [computed[path.stem][0] for path in FILES]
    replay = replaced(cases, "log_replay")
    best = score_jaywalk1(replay)
    assert best.likeness.value == pytest.approx(1.0)
    given = score_jaywalk1(cases)
    assert given.likeness.value < 1.0
    assert given.likeness.value in given.likeness.interval
    assert given.coordination["n_encounters"] > 0
    timing = study_timing(cases, CONFIGS["2025"]).numbers
    assert timing["metametric_shuffled"] == pytest.approx(timing["metametric"], abs=1e-9)
    assert timing["timing_cost_shuffled"] > 10 * timing["timing_cost"]
