"""Agreement with the official implementation on the golden cases."""

import json
from pathlib import Path

import numpy as np
import pytest

from jaywalk.metrics.realism.better.jaywalk1 import score_jaywalk1
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.challenge import CONFIGS
from jaywalk.metrics.realism.features import case_features
from jaywalk.metrics.realism.likelihoods import happened
from jaywalk.metrics.realism.readers.inputs import read_cases
from jaywalk.metrics.realism.readers.npz_case import load_arrays, read_npz_case
from jaywalk.metrics.realism.score import aggregate, score_features
from jaywalk.metrics.realism.studies.timing import study_timing

CASES = Path(__file__).parents[5] / "shared" / "data" / "wosac_cases"
FILES = sorted(p for p in CASES.glob("case_*.npz") if not p.stem.endswith("_features"))

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
